"""Offsets and timestamps looked up as a broker does: textbook examples, real segments, and indexes that lie."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from command import run as command

from parsers.writers.segments import Record, batch_bytes
from tests.auditor.dumps_at_hand import ROOT, SAMPLES, copied
from tests.rules.broken_dumps import Batch, Yard

ENTRY = struct.Struct(">ii")


def batch_of(base: int, end: int, size: int | None = None) -> Batch:
    """A batch of so many bytes."""

    def content(padding: int) -> bytes:
        records = [Record(offset_delta=delta, value=b"secret") for delta in range(end - base - 1)]
        records.append(Record(offset_delta=end - base - 1, value=b"secret" + b"x" * padding))
        return batch_bytes(base_offset=base, leader_epoch=3, records=records, last_offset_delta=end - base - 1)

    written = next(c for c in map(content, range(2000)) if size is None or len(c) == size)
    return Batch(base, end, 3, written)


def dump_of(root: Path, log: list[Batch], *entries: tuple[int, int]) -> Path:
    folder = Yard(root).broker(1, log)
    (folder / f"{log[0].base:020d}.index").write_bytes(b"".join(ENTRY.pack(*entry) for entry in entries))
    return root


def find(dump: Path, *words: str) -> tuple[int, str]:
    ended = command("find", str(dump), "--topic", "t", "--partition", "0", *words)
    assert ended.err == ""
    return ended.code, ended.out


def test_an_offset_relative_to_its_segment(tmp_path: Path) -> None:
    dump = dump_of(tmp_path, [batch_of(32450, 32455), batch_of(32455, 32460)])
    code, out = find(dump, "--offset", "32455", "--explain")
    assert code == 0
    assert "segment 32450: the last one that begins at or below 32455; relative offset 5" in out
    assert "no entry at or below 32455; scan from byte 0" in out
    assert "batch of offsets 32455–32459" in out


def test_an_entry_of_an_offset_and_a_byte(tmp_path: Path) -> None:
    dump = dump_of(tmp_path, [batch_of(368769, 368775, 1407), batch_of(368775, 368780)], (6, 1407))
    code, out = find(dump, "--offset", "368775", "--explain")
    assert code == 0
    assert "floor entry (6, 1407), number 0: offset 368775; scan from byte 1407" in out
    assert "  bytes    [1407, " in out


def test_a_floor_entry_and_a_scan_from_there(tmp_path: Path) -> None:
    log = [batch_of(1018, 1064, 1467), batch_of(1064, 1066), batch_of(1066, 1070)]
    code, out = find(dump_of(tmp_path, log, (46, 1467)), "--offset", "1066", "--explain")
    assert code == 0
    expected = [
        "relative offset 48", "floor entry (46, 1467)", "scan from byte 1467",
        "batch of offsets 1064–1065 at byte 1467", "passed over", "it is this one",
    ]  # fmt: skip
    places = [out.index(words) for words in expected]
    assert places == sorted(places)
    assert "  epoch    3" in out
    assert "secret" not in out


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ((46, 1467 + 9), "no batch begins at byte 1476"),
        ((46, 1 << 20), "no batch begins at byte 1048576"),
        ((40, 1467), "a scan from byte 1467"),
    ],
)
def test_an_index_that_lies_is_not_believed(tmp_path: Path, entry: tuple[int, int], says: str) -> None:
    log = [batch_of(1018, 1064, 1467), batch_of(1064, 1066), batch_of(1066, 1070)]
    wanted = 1060 if entry[0] == 40 else 1066
    code, out = find(dump_of(tmp_path, log, entry), "--offset", str(wanted))
    assert code == 1
    assert f"its index misleads the broker: {says}" in out
    assert ("batch    offsets 1018–1063" if wanted == 1060 else "batch    offsets 1066–1069") in out


@pytest.mark.parametrize(
    ("offset", "says", "ends"),
    [
        (1070, "nothing is there yet", 0),
        (1071, "which holds offsets 1018–1069", 1),
        (9, "which holds offsets 1018–1069", 1),
    ],
)
def test_what_the_log_does_not_hold(tmp_path: Path, offset: int, says: str, ends: int) -> None:
    code, out = find(dump_of(tmp_path, [batch_of(1018, 1070)]), "--offset", str(offset))
    assert code == ends
    assert says in out
    assert "file" not in out


@pytest.mark.parametrize(
    ("gone", "wanted", "says"),
    [
        (0, "--offset 50", "offset 50 may be in a segment that is not here"),
        (0, "--offset 450", "batch    offsets 444–454"),
        (0, "--timestamp 0", "could not be read"),
        (400, "--offset 450", "offset 450 may be in a segment that is not here"),
        (800, "--offset 900", "offset 900 may be in a segment that is not here"),
        (800, "--timestamp 2030-01-01", "could not be read"),
    ],
)
def test_what_may_be_in_a_segment_that_was_not_copied_is_not_said_to_be_nowhere(
    gone: int, wanted: str, says: str, tmp_path: Path
) -> None:
    dump = copied("clean_4x", tmp_path / "dump")
    for file in dump.glob(f"broker-1/data/my-topic.v2-0/{gone:020d}.*"):
        if file.suffix != ".snapshot":
            file.unlink()
    place = ("--topic", "my-topic.v2", "--partition", "0", "--broker", "1")
    ended = command("find", str(dump), *place, *wanted.split())
    assert says in ended.out
    assert ended.code == (0 if "batch" in says else 3)


def test_an_offset_that_was_cleaned_is_answered_with_the_next_batch(tmp_path: Path) -> None:
    code, out = find(dump_of(tmp_path, [batch_of(0, 5), batch_of(8, 10)]), "--offset", "6")
    assert code == 0
    assert "offset 6 is not held: the next batch begins at 8" in out


def test_a_real_log_by_offset_and_by_time() -> None:
    dump = SAMPLES / "clean_2_8" / "dump"
    asked = ("find", str(dump), "--topic", "my-topic.v2", "--partition", "0", "--broker", "2")
    by_offset = command(*asked, "--offset", "266", "--explain")
    assert (by_offset.code, by_offset.err) == (0, "")
    assert "[5250, 6125)" in by_offset.out
    assert "scan from byte 4375" in by_offset.out
    by_time = command(*asked, "--timestamp", "1795239518497")
    assert "  offset   266" in by_time.out
    assert command(*asked, "--timestamp", "2026-11-21T05:38:38.497").out == by_time.out
    assert "no record is so late" in command(*asked, "--timestamp", "2030-01-01").out


@pytest.mark.slow
def test_every_offset_of_a_real_log_is_found_where_it_stands(tmp_path: Path) -> None:
    dump = copied("clean_2_8", tmp_path / "dump")
    for index in dump.rglob("*.index"):
        index.unlink()
    scanned = [_at(dump, offset) for offset in range(0, 1000, 37)]
    assert scanned == [_at(SAMPLES / "clean_2_8" / "dump", offset) for offset in range(0, 1000, 37)]


def _at(dump: Path, offset: int) -> str:
    asked = ("--topic", "my-topic.v2", "--partition", "0", "--broker", "3", "--offset", str(offset))
    return command("find", str(dump), *asked).out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "expected one of --offset and --timestamp"),
        (("--offset", "1", "--timestamp", "1"), "expected one of --offset and --timestamp"),
        (("--timestamp", "soon"), "--timestamp: expected a time such as"),
        (("--offset", "1", "--broker", "9"), "--broker 9: holds no replica here"),
        (("--offset", str(1 << 70)), "no offset is that high"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    dump = dump_of(tmp_path, [batch_of(0, 5)])
    ended = command("find", str(dump), "--topic", "t", "--partition", "0", *words)
    assert ended.code == 2
    assert says in ended.err


def test_the_documented_examples_are_these() -> None:
    documented = (ROOT / "docs" / "textbook.md").read_text(encoding="utf-8")
    for said in ("32450", "(6, 1407)", "(46, 1467)"):
        assert said in documented
