"""A log is read once for its facts, and once more for all that is asked of it together."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import audited, copied
from tests.parsers.segment_logs import batch
from tests.rules.broken_dumps import Batch, Yard

HEADS = 320
"""Bytes at the beginning of a file that tell what kind of file it is and its first batch: looked at by themselves."""


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many bytes the process has read of each file."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> None:
        read: Callable[..., int | bytes] = getattr(os, name)

        def noted(descriptor: int, *rest: object) -> int | bytes:
            got = read(descriptor, *rest)
            counted[str(Path(f"/proc/self/fd/{descriptor}").readlink())] += got if isinstance(got, int) else len(got)
            return got

        monkeypatch.setattr(os, name, noted)

    for name in ("preadv", "pread", "read"):
        counting(name)
    return counted


def written(offsets: Sequence[int]) -> list[Batch]:
    """Batches of about a kilobyte, each of whose records replaces the one before it."""
    return [Batch(at, at + 1, 0, batch(at, records=1, value=b"%d" % at * 300)) for at in offsets]


def segments(dump: Path) -> list[Path]:
    return [path for path in dump.rglob("*.log") if path.stem.isdigit() and path.stat().st_size]


def read_at_most(times: int, path: Path, taken: Counter[str]) -> bool:
    """Whether all of a file was read, and no more often than so."""
    size = path.stat().st_size
    return size <= taken[str(path)] <= times * size + HEADS


@pytest.mark.parametrize("level", ["full", "deep"])
def test_compacted_replicas_are_compared_by_reading_each_byte_twice(
    tmp_path: Path, level: str, taken: Counter[str]
) -> None:
    """The logs are longer than what is held at once."""
    yard = Yard(tmp_path)
    yard.broker(1, written(range(3000)), cleaner=0)
    yard.broker(2, written(range(1, 3000, 2)), cleaner=2900)
    report = audited(tmp_path, level=level)
    assert report.findings == ()
    logs = segments(tmp_path)
    assert min(path.stat().st_size for path in logs) > 1 << 20
    assert [path for path in logs if not read_at_most(2, path, taken)] == []


@pytest.mark.parametrize("level", ["full", "deep"])
def test_a_recorded_race_is_found_by_reading_each_byte_twice(
    tmp_path: Path, level: str, taken: Counter[str]
) -> None:
    dump = copied("compaction_race", tmp_path / "dump")
    report = audited(dump, level=level)
    assert "LOG005" in {finding.rule for finding in report.findings}
    logs = [path for path in segments(dump) if path.parent.name == "kv-0"]
    assert [path for path in logs if not read_at_most(2, path, taken)] == []


def test_level_deep_reads_a_log_once_where_nothing_differs(tmp_path: Path, taken: Counter[str]) -> None:
    yard = Yard(tmp_path)
    for broker in (1, 2):
        yard.broker(broker, written(range(3000)))
    assert audited(tmp_path, level="deep").findings == ()
    assert [path for path in segments(tmp_path) if not read_at_most(1, path, taken)] == []
