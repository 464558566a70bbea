"""Recorded kafka-dump-log outputs of four releases against the very files that they dump."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from parsers.dump_text import DumpChunk, read_dump_text
from parsers.provenance import Origin
from parsers.records import decode_entry
from parsers.segment import scan
from parsers.tables import BatchHeader, RecordRow
from parsers.tables.column import columns

SAMPLES = Path(__file__).parents[2] / "sample_logs"
TEXTS = SAMPLES / "dump_log_text"
RELEASES = ("1.1.1", "2.8.2", "3.9.1", "4.3.0")
PLACE = {"cluster_id", "broker", "log_dir", "topic", "topic_id", "partition", "source", "span_start", "span_end"}
COLUMNS = [column.name for column in columns(BatchHeader) if column.name not in PLACE]
OUTPUTS = [
    (path.parent.name, path.name)
    for release in RELEASES
    for path in sorted((TEXTS / release).glob("*.out"))
    if "snapshot" not in path.name
]


def chunks(release: str, name: str, **options: int) -> list[DumpChunk]:
    return list(read_dump_text(TEXTS / release / name, Origin(source=name), **options))


def dumped_segment(release: str, name: str) -> Path:
    first = (TEXTS / release / name).read_text().partition("\n")[0]
    return SAMPLES / first.removeprefix("Dumping ")


def raw_batches(path: Path) -> list[dict[str, object]]:
    tables = [chunk.headers for chunk in scan(path, Origin(source="0.log"))]
    return [row for table in tables for row in table.to_pylist()]


def raw_records(path: Path) -> Iterator[RecordRow]:
    data, at = path.read_bytes(), 0
    while at + 17 < len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        yield from decode_entry(data[at:end], Origin(source="0.log"), at).rows
        at = end


@pytest.mark.parametrize(("release", "name"), OUTPUTS)
def test_batch_rows_equal_the_segments_where_the_text_tells_them(release: str, name: str) -> None:
    rows = [row for chunk in chunks(release, name) for row in chunk.rows]
    raw = raw_batches(dumped_segment(release, name))
    cut = release == "1.1.1" and name != "bitrot.deep.out" and len(rows) < len(raw)
    assert cut or len(rows) == len(raw)
    deep = release == "1.1.1" and "plain" not in name
    for row, header in zip(rows, raw, strict=False):
        for column in COLUMNS:
            said, stored = getattr(row, column), header[column]
            assert said is None or said == stored, (column, row, header)
        legacy = row.magic < 2
        told = {column for column in COLUMNS if getattr(row, column) is not None}
        untold = set(COLUMNS) - told
        allowed = {"base_timestamp"}
        if deep and not legacy:
            allowed |= {"leader_epoch", "crc", "crc_valid"} | (
                {"base_offset", "base_sequence"} if "compacted" in name else set()
            )
        if release == "1.1.1" and "plain" in name:
            allowed |= {"record_count"}
        assert untold <= allowed


@pytest.mark.parametrize(("release", "name"), OUTPUTS)
def test_only_what_the_tool_left_out_is_refused(release: str, name: str) -> None:
    refusals = [refusal for chunk in chunks(release, name) for refusal in chunk.refusals]
    kinds = {
        ("1.1.1", "orders-0.plain.out"): ["truncated_line"],
        ("1.1.1", "offsets.out"): ["truncated_line"],
        # The compacted file's last batch begins behind a hole, and deep output of 1.1 prints neither bounds nor size.
        ("1.1.1", "compacted.data.out"): ["malformed"],
    }
    assert [refusal.kind for refusal in refusals] == kinds.get((release, name), [])


@pytest.mark.parametrize("release", RELEASES)
def test_only_a_batch_line_tells_of_the_flipped_bit(release: str) -> None:
    rows = [row for chunk in chunks(release, "bitrot.deep.out") for row in chunk.rows]
    expected = [None] if release == "1.1.1" else [True, False]
    assert sorted({row.crc_valid for row in rows}, key=expected.index) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_every_row_has_the_address_of_its_lines(release: str) -> None:
    text = (TEXTS / release / "orders-0.data.out").read_bytes()
    for chunk in chunks(release, "orders-0.data.out"):
        for row in chunk.rows:
            lines = text[row.span_start : row.span_end]
            assert lines.endswith(b"\n")
            assert b"position: " in lines
            assert text[row.span_start - 1 : row.span_start] == b"\n"
            assert lines.count(b"\n") == (row.record_count if release == "1.1.1" else 1)


@pytest.mark.parametrize("release", RELEASES)
def test_a_chunk_names_the_dumped_file(release: str) -> None:
    first = chunks(release, "orders-0.data.out")[0]
    assert first.file is not None
    assert (first.file.topic, first.file.partition, first.file.base_offset, first.file.suffix) == (
        "orders",
        0,
        0,
        ".log",
    )
    assert {(row.topic, row.partition) for row in first.rows} == {("orders", 0)}


def test_standard_error_gives_notes_and_no_refusals() -> None:
    for path in sorted(TEXTS.glob("*/*.err")):
        found = list(read_dump_text(path, Origin(source=path.name)))
        assert [refusal for chunk in found for refusal in chunk.refusals] == []
        assert sum(len(chunk.notes) for chunk in found) == path.read_bytes().count(b"\n")


@pytest.mark.parametrize("chunk_rows", [1, 7, 100])
def test_chunks_are_bounded_and_their_cut_changes_nothing(chunk_rows: int) -> None:
    whole, parts = chunks("3.9.1", "orders-0.data.out"), chunks("3.9.1", "orders-0.data.out", chunk_rows=chunk_rows)
    for name in ("rows", "refusals"):
        assert [item for chunk in parts for item in getattr(chunk, name)] == [
            item for chunk in whole for item in getattr(chunk, name)
        ]
    assert max(len(chunk.rows) for chunk in parts) <= chunk_rows + 1


def test_rows_travel_as_arrow() -> None:
    (chunk,) = chunks("4.3.0", "orders-0.plain.out")
    table = pa.Table.from_batches([chunk.headers])
    assert table.num_rows == 63
    assert table["base_offset"].to_pylist() == [row.base_offset for row in chunk.rows]


@pytest.mark.parametrize("release", RELEASES)
def test_windows_line_ends_and_a_byte_order_mark_change_no_row(release: str) -> None:
    text = (TEXTS / release / "orders-0.deep.out").read_bytes()
    windows = io.BytesIO(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    said = [row for chunk in read_dump_text(windows, Origin(source="x")) for row in chunk.rows]
    plain = [row for chunk in chunks(release, "orders-0.deep.out") for row in chunk.rows]
    assert [row.crc for row in said] == [row.crc for row in plain]
    assert [(row.base_offset, row.last_offset, row.topic) for row in said] == [
        (row.base_offset, row.last_offset, row.topic) for row in plain
    ]
