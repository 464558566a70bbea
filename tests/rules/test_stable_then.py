"""The last stable offsets of transaction indexes, on real bytes: what the log gives, and what is lawful beside it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.rules.broken_dumps import Batch, Yard
from tests.rules.test_marker_sets import ends, plain, writes

ENTRY = struct.Struct(">hqqqq")
Entry = tuple[int, int, int, int]
"""Producer, first offset, offset of its marker, and the last stable offset of then."""

LOG = [
    writes(0, sequence=0), writes(2, producer=8, sequence=0), ends(4, commit=False), ends(5, commit=False, producer=8),
    plain(6), writes(7, sequence=2), writes(9, producer=8, sequence=2),
    ends(11, commit=False), ends(12, commit=False, producer=8),
]  # fmt: skip
FIRST, SECOND, THIRD, FOURTH = (7, 0, 4, 2), (8, 2, 5, 6), (7, 7, 11, 9), (8, 9, 12, 13)
TOLD = [FIRST, SECOND, THIRD, FOURTH]


def found(root: Path, log: Sequence[Batch], entries: Sequence[Entry], *, cleaner: int | None = None) -> list[str]:
    """What is said of an index with these entries."""
    yard = Yard(root)
    folder = yard.broker(1, log, cleaner=cleaner)
    yard.broker(2, log)
    index = b"".join(ENTRY.pack(0, *entry) for entry in entries)
    (folder / f"{log[0].base:020d}.txnindex").write_bytes(index)
    return [f.message for f in yard.report().violations if f.rule == "IDX003"]


EMPTY = [*LOG, ends(13, commit=False, producer=9), plain(14)]
"""Producer 9 is fenced, and wrote nothing here: 2.4.1 makes an entry that begins at its marker."""
ALONE = [writes(0, sequence=0), ends(2, commit=False), plain(3), writes(5, sequence=2), ends(7, commit=False)]

LAWFUL: dict[str, tuple[list[Batch], list[Entry]]] = {
    "as the leader wrote it": (LOG, TOLD),
    "the next transaction came in one step": (LOG, [FIRST, (8, 2, 5, 7), THIRD, FOURTH]),
    "the producer's own next one came in one step, as on 1.1.1": (ALONE, [(7, 0, 2, 5), (7, 5, 7, 8)]),
    "an abort of nothing, with an entry": (EMPTY, [*TOLD, (9, 13, 13, 14)]),
    "an abort of nothing, without": (EMPTY, TOLD),
    "the log's beginning was deleted": (LOG[2:], TOLD),
    "rebuilt without it": (LOG[2:], [(7, 0, 4, 5), *TOLD[1:]]),
}
WRONG: dict[str, tuple[list[Batch], list[Entry], str]] = {
    "below the log's transactions": (LOG, [(7, 0, 4, 1), *TOLD[1:]], "last stable offset 1. By the log it was 2."),
    "beyond what was open": (LOG, [(7, 0, 4, 5), *TOLD[1:]], "last stable offset 5. By the log it was 2."),
    "the producer's own next one": (LOG, [FIRST, (8, 2, 5, 9), THIRD, FOURTH], "stable offset 9. By the log it was 6."),
    "an abort of records, as if of nothing": (LOG, [*TOLD[:3], (8, 12, 12, 13)], "does not begin at offset 12"),
    "below its marker": (LOG, [FIRST, (8, 2, 5, 4), THIRD, FOURTH], "last stable offset 4. By the log it was 6."),
    "of a log without its beginning": (LOG[2:], [*TOLD[:3], (8, 9, 12, 8)], "stable offset 8. By the log it was 13."),
}


@pytest.mark.parametrize("name", LAWFUL)
def test_what_brokers_write_is_lawful(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, *LAWFUL[name]) == []


@pytest.mark.parametrize("name", WRONG)
def test_a_last_stable_offset_that_no_state_of_the_log_gives(tmp_path: Path, name: str) -> None:
    log, entries, words = WRONG[name]
    (message,) = found(tmp_path, log, entries)
    assert words in message
    assert "in 1 place." in message


def test_what_a_cleaner_took_tells_nothing_of_what_was_open(tmp_path: Path) -> None:
    log = [LOG[0], *LOG[2:]]
    assert found(tmp_path, log, [FIRST, *TOLD[2:]], cleaner=9) == []


def test_a_cut_may_have_taken_the_transaction_that_came_in_one_step(tmp_path: Path) -> None:
    newer = [Batch(each.base, each.end, 1, each.content[:12] + b"\0\0\0\1" + each.content[16:]) for each in LOG[4:]]
    assert found(tmp_path, [*LOG[:4], *newer], [FIRST, (8, 2, 5, 8), THIRD, FOURTH]) == []
    assert found(tmp_path / "other", [*LOG[:4], *newer], [FIRST, SECOND, (7, 7, 11, 10), FOURTH]) != []
