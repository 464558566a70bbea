"""However a cluster's logs are packed, whole or rotated, plain or compressed, the report says the same."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from dumps_at_hand import told

from auditor.engines.witnesses import thinned_traces as traces
from rules.history import trace_ends
from tests.lab.effort import fast_if, spread
from tests.lab.expected_from_truth import cases

Files = list[tuple[str, bytes]]
LOGS: Final = ("kafka-request.log", "server.log", "state-change.log", "controller.log")
ADDRESSES: Final = frozenset({
    "id", "findings", "steps", "cause", "exhibits", "fingerprint", "dump", "span", "path", "source", "start", "end",
    "filesSeen", "bytesSeen", "bytesRead", "filesUnread", "evidence", "incident",
})  # fmt: skip
"""What names a file, a byte or a digest of them."""
FEWER: Final = ".bounds"
"""How many causes and effects bound a clock: a role is an epoch's first by the line before it in its file alone."""


def parts(log: bytes, number: int) -> list[bytes]:
    """The entries in so many parts of about equal size, none empty: no entry of several lines is rotated amid."""
    entries = re.split(rb"(?m)^(?=\[2)", log)[log.startswith(b"[2") :]
    size = len(entries) // number + 1
    return [b"".join(entries[start : start + size]) for start in range(0, len(entries), size)]


def by_number(name: str, log: bytes, number: int) -> Files:
    """As log4j rotates by size: the newest has no number, the oldest the highest one."""
    cut = parts(log, number)
    last = len(cut) - 1
    return [(f"{name}.{last - place}" if place < last else name, part) for place, part in enumerate(cut)]


def packed(files: Files) -> Files:
    """All but the one that is being written."""
    return [(f"{name}.gz", gzip.compress(part)) if name[-1].isdigit() else (name, part) for name, part in files]


def by_date(name: str, log: bytes, number: int) -> Files:
    """As log4j rotates by the hour."""
    cut = parts(log, number)
    return [
        (f"{name}.2026-11-21-{place:02}" if place < len(cut) - 1 else name, part) for place, part in enumerate(cut)
    ]


PACKINGS: Final[dict[str, Callable[[str, bytes], Files]]] = {
    "compressed": lambda name, log: [(f"{name}.1.gz", gzip.compress(log))],
    "in two": lambda name, log: by_number(name, log, 2),
    "in five": lambda name, log: by_number(name, log, 5),
    "in three, compressed": lambda name, log: packed(by_number(name, log, 3)),
    "by date": lambda name, log: by_date(name, log, 4),
    "by date, compressed": lambda name, log: packed(by_date(name, log, 3)),
}


def repacked(dump: Path, packing: str) -> Path:
    for log in [path for path in dump.rglob("*.log") if path.name in LOGS and path.parent.name == "logs"]:
        content = log.read_bytes()
        log.unlink()
        for name, part in PACKINGS[packing](log.name, content):
            log.with_name(name).write_bytes(part)
    return dump


def said(value: object) -> Any:  # noqa: ANN401 - a JSON document
    """A document without what names files, bytes or digests."""
    if isinstance(value, dict):
        return {key: said(inner) for key, inner in value.items() if key not in ADDRESSES}
    return [said(inner) for inner in value] if isinstance(value, list) else value


def unlike(one: object, other: object, where: str = "") -> Iterator[str]:
    """Where two documents differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from unlike(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from unlike(left, right, f"{where}[{place}]")
    elif one != other and not (where.endswith(FEWER) and int(str(other)) < int(str(one))):
        yield f"{where}: {str(one)[:150]} / {str(other)[:150]}"


TRACED: Final = [case for case in cases() if [*(case / "dump").glob("*/logs/kafka-request.log")]]
"""Recordings with request logs."""
FEW: Final = ("in five", "by date, compressed")
"""Two packings show what all do where no requests were logged: each recording is in one of them."""
WHOLLY: Final = tuple(case for case in TRACED if case.name in ("unclean_4x", "lost_pages_hw", "clean_mixed"))
"""Recordings in every packing: one with an unclean election, one of a cluster without epochs, one of two releases."""
UNTRACED: Final = [case for case in cases() if case not in TRACED]
PACKED: Final = [
    *product(WHOLLY, PACKINGS),
    *spread([case for case in TRACED if case not in WHOLLY], PACKINGS, 3),
    *spread(UNTRACED, FEW, 2),
]
THINNED: Final = spread(TRACED, PACKINGS, 6)
"""Each recording in one packing, each packing of as many recordings: what is cut before it is thinned is cut alike."""


def is_unclean(pair: tuple[Path, str]) -> bool:
    return pair[0].name == "unclean_4x"


def is_chosen(pair: tuple[Path, str]) -> bool:
    return is_unclean(pair) and pair[1] == "in three, compressed"


@pytest.mark.parametrize("pair", fast_if(is_chosen, PACKED), ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def test_the_report_is_the_same(pair: tuple[Path, str], tmp_path: Path) -> None:
    unchanged(*pair, tmp_path)


@pytest.mark.parametrize("pair", fast_if(is_unclean, THINNED), ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def test_the_report_on_traces_that_are_thinned_is_the_same(
    pair: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in (traces, trace_ends):
        monkeypatch.setattr(reader, "WHOLE", 20)
    unchanged(*pair, tmp_path)


@cache
def as_recorded(case: Path, thinned_beyond: int) -> Any:  # noqa: ANN401 - a JSON document
    """What the dump says where nothing is repacked; all packings of a recording are held against this one."""
    assert thinned_beyond == traces.WHOLE
    return said(told(case / "dump"))


def unchanged(case: Path, packing: str, tmp_path: Path) -> None:
    dump = shutil.copytree(case / "dump", tmp_path / "dump")
    whole = as_recorded(case, traces.WHOLE)
    assert [*unlike(whole, said(told(repacked(dump, packing))))] == []
