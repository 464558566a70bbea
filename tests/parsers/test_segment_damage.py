"""Segments that are torn, zeroed, rotten or hostile: what is read of them, what is refused, and where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.segment import resync, scan
from parsers.segment.entry_header import V2_DTYPE
from parsers.segment.held_bytes import HeldSegment
from parsers.tables import Refusal
from parsers.writers.segments import batch_bytes, legacy_bytes
from tests.parsers.segment_logs import ORIGIN, TIME, batch, everything, log_of, spans


def _read(tmp_path: Path, content: bytes) -> tuple[list[tuple[int | None, bool]], list[Refusal]]:
    """Base offsets with their checksum's verdict, and refusals; every byte must be in exactly one of them."""
    path = tmp_path / "0.log"
    path.write_bytes(content)
    table, refusals = everything(path)
    ranges = spans(table, refusals)
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
    assert ranges[-1][1] == len(content)
    return list(zip(table["base_offset"].to_pylist(), table["crc_valid"].to_pylist(), strict=True)), refusals


def _only(refusals: list[Refusal]) -> tuple[str, int, int]:
    (refusal,) = refusals
    return refusal.kind, refusal.span_start, refusal.span_end


def _flipped(content: bytes, byte: int, bit: int) -> bytes:
    return content[:byte] + bytes([content[byte] ^ 1 << bit]) + content[byte + 1 :]


def _with_length(entry: bytes, length: int) -> bytes:
    return entry[:8] + length.to_bytes(4, "big", signed=True) + entry[12:]


@pytest.mark.parametrize("left", [1, 8, 12, 17, 18, 26, 60, 61, 80])
def test_a_torn_last_batch(tmp_path: Path, left: int) -> None:
    whole = b"".join(log_of(2))
    rows, refusals = _read(tmp_path, whole + batch(6, value=b"x" * 40)[:left])
    assert rows == [(0, True), (3, True)]
    assert _only(refusals) == ("torn_tail", len(whole), len(whole) + left)
    assert "offset 6" in refusals[0].expected
    assert refusals[0].found == f"only {left} bytes"


@pytest.mark.parametrize("zeros", [18, 26, 4096, 3_000_000])
def test_a_tail_of_zeros(tmp_path: Path, zeros: int) -> None:
    whole = b"".join(log_of(2))
    rows, refusals = _read(tmp_path, whole + bytes(zeros))
    assert [valid for _, valid in rows] == [True, True]
    assert _only(refusals) == ("zero_tail", len(whole), len(whole) + zeros)


@pytest.mark.parametrize("zeros", [1, 8, 17])
def test_zeros_too_few_for_a_header_are_a_torn_one(tmp_path: Path, zeros: int) -> None:
    rows, refusals = _read(tmp_path, batch(0) + bytes(zeros))
    assert (len(rows), refusals[0].kind) == (1, "torn_tail")


def test_a_preallocated_file_that_never_was_written(tmp_path: Path) -> None:
    rows, refusals = _read(tmp_path, bytes(100_000))
    assert rows == []
    assert _only(refusals) == ("zero_tail", 0, 100_000)


def test_garbage_to_the_end(tmp_path: Path) -> None:
    whole = b"".join(log_of(2))
    rows, refusals = _read(tmp_path, whole + b"\xff" * 500)
    assert len(rows) == 2
    assert _only(refusals) == ("damage", len(whole), len(whole) + 500)
    assert "no batch behind it" in refusals[0].found


def test_a_file_that_is_no_segment(tmp_path: Path) -> None:
    rows, refusals = _read(tmp_path, b"The quick brown fox jumps over the lazy dog. " * 50)
    assert rows == []
    assert [refusal.kind for refusal in refusals] == ["damage"]


@pytest.mark.parametrize("field", V2_DTYPE.names or ())
def test_a_flipped_header_bit_costs_its_own_batch_at_most(tmp_path: Path, field: str) -> None:
    log = log_of(6)
    start = len(log[0]) + len(log[1])
    dtype, at = (V2_DTYPE.fields or {})[field][:2]
    for bit in range(dtype.itemsize * 8):
        rows, refusals = _read(tmp_path, _flipped(b"".join(log), start + at + bit // 8, bit % 8))
        assert not misread(field, rows, refusals), f"bit {bit} of {field}"


OTHERS = [0, 3, 9, 12, 15]


def misread(field: str, rows: list[tuple[int | None, bool]], refusals: list[Refusal]) -> bool:
    """Whether one bit of the third batch of six cost more than that batch."""
    if [base for base, valid in rows if valid and base in OTHERS] != OTHERS:
        return True
    valid = [valid for _, valid in rows]
    if field in ("base_offset", "leader_epoch"):
        return len(rows) != 6 or refusals != []
    if field in ("length", "magic"):
        return len(refusals) != 1 and valid.count(False) != 1
    return valid != [True, True, False, True, True, True] or refusals != []


@pytest.mark.parametrize("length", [0, -1, -(2**31), 13, 48, 2**31 - 1, 2**31 - 13, 100_000_000])
def test_an_impossible_length_is_one_hole(tmp_path: Path, length: int) -> None:
    log = log_of(5)
    start = len(log[0])
    log[1] = _with_length(log[1], length)
    rows, refusals = _read(tmp_path, b"".join(log))
    assert rows == [(0, True), (6, True), (9, True), (12, True)]
    assert _only(refusals) == ("damage", start, start + len(log[1]))
    assert refusals[0].expected == "a record batch at offset 3"
    assert refusals[0].found.endswith("offsets 3 to 5 cannot be read")


def test_a_length_that_swallows_sound_batches_is_not_believed(tmp_path: Path) -> None:
    log = log_of(6)
    start, size = len(log[0]), len(log[1])
    log[1] = _with_length(log[1], 2 * size + 5)
    rows, refusals = _read(tmp_path, b"".join(log))
    assert rows == [(0, True), (6, True), (9, True), (12, True), (15, True)]
    assert _only(refusals) == ("damage", start, start + size)


def test_a_sound_batch_whose_payload_holds_batches_is_believed(tmp_path: Path) -> None:
    outer = batch(0, records=1, value=b"".join(log_of(4)))
    rows, refusals = _read(tmp_path, outer + b"\xff" * 100 + batch(1))
    assert rows == [(0, True), (1, True)]
    assert _only(refusals) == ("damage", len(outer), len(outer) + 100)


def test_lost_pages_in_the_middle(tmp_path: Path) -> None:
    log = log_of(300, value=b"v" * 33)
    content = bytearray(b"".join(log))
    content[8192:12288] = bytes(4096)
    rows, refusals = _read(tmp_path, bytes(content))
    size = len(log[0])
    first, last = 8192 // size, 12287 // size
    assert [offset for offset, valid in rows if valid] == [3 * i for i in range(300) if not first <= i <= last]
    kind, _, end = _only(refusals)
    assert (kind, end) == ("damage", (last + 1) * size)


def test_damage_at_the_start_has_no_offset_to_expect(tmp_path: Path) -> None:
    rows, refusals = _read(tmp_path, b"\xff" * 33 + batch(50))
    assert rows == [(50, True)]
    assert _only(refusals) == ("damage", 0, 33)
    assert refusals[0].expected == "a record batch"
    assert refusals[0].found.endswith("next batch at offset 50")


def test_several_holes_are_several_refusals(tmp_path: Path) -> None:
    log = log_of(7)
    log[1] = b"\x99" * 70
    log[4] = b"\x99" * 70
    rows, refusals = _read(tmp_path, b"".join(log))
    assert [offset for offset, _ in rows] == [0, 6, 9, 15, 18]
    assert [refusal.span_end - refusal.span_start for refusal in refusals] == [70, 70]


def test_reading_goes_on_at_a_legacy_entry(tmp_path: Path) -> None:
    log = [legacy_bytes(magic=1, offset=index, value=b"v", timestamp=TIME) for index in range(5)]
    start, size = 2 * len(log[0]), len(log[0])
    log[2] = _with_length(log[2], -5)
    rows, refusals = _read(tmp_path, b"".join(log))
    assert [offset for offset, _ in rows] == [0, 1, 3, 4]
    assert _only(refusals) == ("damage", start, start + size)


def test_a_hole_is_followed_by_a_compressed_legacy_set_whose_first_offset_is_unknown(tmp_path: Path) -> None:
    from tests.lab.written_bytes import legacy_set_bytes

    wrapper = legacy_set_bytes(magic=1, base_offset=4, values=[b"a", b"b"], codec="snappy", timestamp=TIME)
    rows, refusals = _read(tmp_path, b"\xff" * 40 + wrapper)
    assert rows == [(None, True)]
    assert refusals[0].found.endswith("next batch ends at offset 5")


def test_hostile_headers_cannot_buy_more_checksums_than_the_credit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resync, "CREDIT_BASE", 1 << 20)
    summed = 0

    def counted(_segment: HeldSegment, start: int, end: int) -> bool:
        nonlocal summed
        summed += end - start
        return False

    monkeypatch.setattr(resync, "crc_holds", counted)
    size = 256 * 1024
    header = batch_bytes(base_offset=0, record_count=1)
    hostile = b"\xff" + b"".join(_with_length(header, size - 12 - 62 * (at + 1)) for at in range(size // 124))
    path = tmp_path / "0.log"
    path.write_bytes(hostile.ljust(size, b"\xff"))
    (chunk,) = scan(path, ORIGIN)
    assert [refusal.kind for refusal in chunk.refusals] == ["damage"]
    assert size < summed <= (1 << 20) + resync.CREDIT_RATE * size


def test_a_flood_of_holes_comes_in_bounded_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.segment.chain.CHUNK_REFUSALS", 8)
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(b"\xff" + entry for entry in log_of(40)))
    chunks = list(scan(path, ORIGIN))
    assert max(len(chunk.refusals) for chunk in chunks) <= 8
    assert sum(len(chunk.refusals) for chunk in chunks) == 40
    assert sum(chunk.headers.num_rows for chunk in chunks) == 40


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells what memory is a process's own")
@pytest.mark.slow
@pytest.mark.parametrize("behind", [b"", b"\1" * 100], ids=["zeros", "damage and zeros"])
def test_a_long_hole_is_read_in_little_memory(tmp_path: Path, behind: bytes) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(batch(0) + behind)
    os.truncate(path, 32 << 20)
    assert next(scan(path, ORIGIN)).refusals  # compiled code is loaded once in a process, whatever the hole
    os.truncate(path, 256 << 20)
    before = _own_memory()
    chunks = scan(path, ORIGIN)
    assert next(chunks).refusals
    assert _own_memory() - before < 16 << 20


def _own_memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


def test_a_segment_beyond_the_size_of_any_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(log_of(2)))
    os.truncate(path, 2**31)
    table, refusals = everything(path)
    assert (table.num_rows, _only(refusals)) == (0, ("too_large", 0, 2**31))
