"""Rows of sound segments: published vectors, recorded segments, legacy formats, chunks and files of odd sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings

from parsers.provenance import Origin
from parsers.segment import HEADER_SCHEMA, scan, with_place
from parsers.segment.chain import Kernel
from parsers.segment.plain_kernel import PlainKernel
from parsers.tables import BatchHeader, arrow_schema, from_arrow
from parsers.writers.segments import batch_bytes, legacy_bytes, write_segment
from tests.lab.effort import cases
from tests.lab.recorded_damage import CHECKSUM, damage_of
from tests.lab.written_bytes import legacy_set_bytes
from tests.parsers.segment_logs import (
    KERNELS,
    ORIGIN,
    SAMPLES,
    TIME,
    batch,
    compiled_for_sure,
    entries,
    everything,
    log_of,
    segments_of,
    spans,
)
from tests.replaced import replace

CASES = sorted(path.parent.name for path in SAMPLES.glob("*/dump"))
ROTTEN = SAMPLES / "bit_rot_payload/dump/broker-3/data/d-0/00000000000000000000.log"


def test_every_recorded_case_is_here() -> None:
    assert len(CASES) >= 14
    assert "clean_mixed" in CASES


@pytest.mark.parametrize("case", CASES)
def test_recorded_segments_read_whole_and_hold_their_checksums(case: str) -> None:
    """Of those that were damaged on purpose just that is told which their truth names."""
    rows = 0
    for path in segments_of(case):
        table, refusals = everything(path)
        wrong = [CHECKSUM] * table["crc_valid"].to_pylist().count(False)
        assert sorted([*wrong, *(refusal.kind for refusal in refusals)]) == damage_of(path), path
        assert _tiles(spans(table, refusals), path.stat().st_size)
        rows += table.num_rows
    assert rows > 0


def test_the_flipped_bit_is_found_and_nothing_else() -> None:
    table, _ = everything(ROTTEN)
    wrong = [row for row in table.to_pylist() if not row["crc_valid"]]
    assert [(row["span_start"], row["base_offset"]) for row in wrong] == [(3144, 40)]


@pytest.mark.slow
def test_recorded_segments_read_alike_by_both_kernels() -> None:
    for path in segments_of("lost_pages_hw"):
        assert everything(path, kernel=PlainKernel()) == everything(path, kernel=compiled_for_sure())


def test_fields_of_a_batch(tmp_path: Path) -> None:
    written = batch_bytes(
        base_offset=100,
        leader_epoch=5,
        payload=b"opaque",
        attributes=0x14,
        last_offset_delta=9,
        record_count=4,
        base_timestamp=TIME,
        max_timestamp=TIME + 7,
        producer_id=2**40,
        producer_epoch=3,
        base_sequence=77,
    )
    path = _file(tmp_path, [written])
    (row,) = everything(path)[0].to_pylist()
    crc = int.from_bytes(written[17:21], "big")
    assert row == {
        "base_offset": 100, "last_offset": 109, "leader_epoch": 5, "magic": 2, "size": 67, "crc": crc,
        "crc_valid": True, "attributes": 0x14, "record_count": 4, "base_timestamp": TIME, "max_timestamp": TIME + 7,
        "producer_id": 2**40, "producer_epoch": 3, "base_sequence": 77, "span_start": 0, "span_end": 67,
    }  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_legacy_entries_say_what_their_headers_say(tmp_path: Path, kernel: Callable[[], Kernel]) -> None:
    log = [
        legacy_bytes(magic=0, offset=9, key=b"k", value=b"v"),
        legacy_bytes(magic=1, offset=10, value=b"v", timestamp=TIME),
        legacy_set_bytes(magic=1, base_offset=11, values=[b"a", b"b"], codec="gzip", timestamp=TIME),
        batch(13),
    ]
    rows = everything(_file(tmp_path, log), kernel=kernel())[0].to_pylist()
    told = [(row["magic"], row["base_offset"], row["last_offset"], row["record_count"]) for row in rows]
    assert told == [(0, 9, 9, 1), (1, 10, 10, 1), (1, None, 12, None), (2, 13, 15, 3)]
    assert [row["max_timestamp"] for row in rows] == [-1, TIME, TIME, TIME]
    assert [row["base_timestamp"] for row in rows] == [None, None, None, TIME]
    assert [row["crc_valid"] for row in rows] == [True] * 4
    for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence"):
        assert [row[name] for row in rows[:3]] == [-1] * 3


def test_a_legacy_checksum_is_recomputed(tmp_path: Path) -> None:
    rotten = bytearray(legacy_bytes(magic=1, offset=0, value=b"value", timestamp=TIME))
    rotten[-1] ^= 1
    table, refusals = everything(_file(tmp_path, [bytes(rotten), legacy_bytes(magic=1, offset=1, value=b"v")]))
    assert table["crc_valid"].to_pylist() == [False, True]
    assert refusals == []


@pytest.mark.parametrize("kernel", KERNELS)
def test_checksums_stay_unknown_when_not_asked_for(tmp_path: Path, kernel: Callable[[], Kernel]) -> None:
    table, _ = everything(_file(tmp_path, log_of(3)), kernel=kernel(), verify=False)
    assert table["crc_valid"].to_pylist() == [None] * 3


@pytest.mark.parametrize("kernel", KERNELS)
def test_chunks_keep_to_their_size_and_order(tmp_path: Path, kernel: Callable[[], Kernel]) -> None:
    path = _file(tmp_path, log_of(10))
    chunks = [chunk.headers for chunk in scan(path, ORIGIN, chunk_rows=3, kernel=kernel())]
    assert [chunk.num_rows for chunk in chunks] == [3, 3, 3, 1]
    offsets = [offset for chunk in chunks for offset in chunk.column("base_offset").to_pylist()]
    assert offsets == list(range(0, 30, 3))


def test_an_empty_file_has_neither_rows_nor_refusals(tmp_path: Path) -> None:
    assert list(scan(_file(tmp_path, []), ORIGIN)) == []


def test_what_cannot_be_opened_is_refused_once(tmp_path: Path) -> None:
    table, refusals = everything(tmp_path / "missing.log", cuts=[100, 200])
    assert table.num_rows == 0
    assert [(refusal.kind, refusal.source) for refusal in refusals] == [("not_copied", ORIGIN.source)]
    assert [refusal.kind for refusal in everything(tmp_path)[1]] == ["unreadable"]


def test_place_columns_complete_the_table(tmp_path: Path) -> None:
    origin = replace(ORIGIN, cluster_id="c", log_dir="broker-1/data", topic_id=None)
    (chunk,) = scan(_file(tmp_path, log_of(2)), origin)
    assert chunk.headers.schema == HEADER_SCHEMA
    placed = with_place(chunk.headers, origin)
    assert placed.schema == arrow_schema(BatchHeader)
    placed.validate(full=True)
    rows = from_arrow(placed, BatchHeader)
    assert {(row.cluster_id, row.broker, row.topic, row.topic_id, row.source) for row in rows} == {
        ("c", 1, "t", None, origin.source)
    }
    assert [row.span_end for row in rows] == chunk.headers.column("span_end").to_pylist()


@pytest.mark.parametrize("kernel", KERNELS)
def test_positions_up_to_two_gigabytes(tmp_path: Path, kernel: Callable[[], Kernel]) -> None:
    last = batch(1)
    longest = 2**31 - 1 - len(last)
    path = tmp_path / "0.log"
    header = batch_bytes(base_offset=0, record_count=1)
    with path.open("wb") as file:
        file.write(header[:8] + (longest - 12).to_bytes(4, "big") + header[12:])
        file.seek(longest)
        file.write(last)
    table, refusals = everything(path, kernel=kernel(), verify=False)
    assert table["span_start"].to_pylist() == [0, longest]
    assert table["size"].to_pylist()[0] == longest
    assert refusals == []


@pytest.mark.slow
def test_small_files_are_read_without_a_compiler(tmp_path: Path) -> None:
    path = _file(tmp_path, log_of(2))
    program = (
        "import sys, pathlib; from parsers.segment import scan; from parsers.provenance import Origin\n"
        f"assert sum(c.headers.num_rows for c in scan(pathlib.Path({str(path)!r}), Origin(source='s'))) == 2\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=SAMPLES.parent)


@settings(max_examples=cases(30), deadline=None)
@given(log=entries())
def test_a_sound_log_comes_back_batch_by_batch(tmp_path_factory: pytest.TempPathFactory, log: list[bytes]) -> None:
    path = _file(tmp_path_factory.mktemp("log"), log)
    table, refusals = everything(path)
    assert refusals == []
    assert table["size"].to_pylist() == [len(entry) for entry in log]
    assert all(table["crc_valid"].to_pylist())


def _file(folder: Path, log: list[bytes]) -> Path:
    path = folder / "00000000000000000000.log"
    write_segment(path, log)
    return path


def _tiles(ranges: list[tuple[int, int]], size: int) -> bool:
    bounds = [0, *(end for _, end in ranges)]
    return [start for start, _ in ranges] == bounds[:-1] and bounds[-1] == size


def test_an_origin_needs_no_more_than_a_source(tmp_path: Path) -> None:
    origin = Origin(source="x.log")
    (chunk,) = scan(_file(tmp_path, log_of(1)), origin)
    assert from_arrow(with_place(chunk.headers, origin), BatchHeader)[0].topic is None


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0.log")
    (refusal,) = everything(tmp_path / "0.log")[1]
    assert (refusal.kind, refusal.found) == ("unreadable", "a FIFO")
