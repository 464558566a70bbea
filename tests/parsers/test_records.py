"""Records of magic 2 batches: fields, hashes, exact consumption, and every recorded batch."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.records import BATCH_LIMIT, content_hash, decode_entry, header_of, headers_hash, key_hash, keyed_batch
from parsers.refusal import Parsed
from parsers.tables import RecordRow
from parsers.tables.column import from_arrow, to_arrow
from tests.lab.effort import cases
from tests.lab.recorded_damage import damage_of
from tests.parsers.segment_logs import everything
from tests.parsers.test_records_bytes import COMMIT_MARKER, EMPTIED, TWO_RECORDS, Record, T, batch, raw_batch, record

ORIGIN = Origin(source="broker-1/data/t-0/0.log", broker=1, topic="t", partition=0)
SAMPLES = Path(__file__).parents[2] / "sample_logs"


def decode(entry: bytes, *, payloads: bool = True, limit: int = 1 << 20) -> Parsed[RecordRow]:
    return decode_entry(entry, ORIGIN, 1000, payloads=payloads, limit=limit)


def refused(entry: bytes) -> str:
    parsed = decode(entry)
    assert not parsed.rows
    assert len(parsed.refusals) == 1
    refusal = parsed.refusals[0]
    assert refusal.kind == "undecodable"
    assert (refusal.span_start, refusal.span_end) == (1000, 1000 + len(entry))
    return f"{refusal.expected} / {refusal.found}"


def entries(path: Path) -> Iterator[tuple[int, bytes]]:
    data, at = path.read_bytes(), 0
    while at + 17 < len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        yield at, data[at:end]
        at = end


def test_keys_are_those_of_the_rows() -> None:
    """One walk over the keys gives what the rows give, on every recorded batch; what it leaves out, the rows tell."""
    seen = 0
    for path in sorted(SAMPLES.glob("c*/dump/broker-1/data/*/*.log")):
        for _, entry in entries(path):
            rows, keyed = decode(entry, limit=BATCH_LIMIT), keyed_batch(entry, BATCH_LIMIT)
            if keyed is None:
                assert entry[16] < 2 or rows.refusals or any(row.control_type is not None for row in rows.rows)
                continue
            seen += len(keyed.records)
            assert [(r.offset, r.key, r.value_size < 0) for r in rows.rows] == list(keyed.records)
    assert seen > 1000


@pytest.mark.parametrize("at", range(61, 81))
def test_keys_of_a_batch_that_cannot_be_decoded_are_left_to_the_rows(at: int) -> None:
    entry = bytearray.fromhex(TWO_RECORDS)
    entry[at] ^= 0x40
    keyed, rows = keyed_batch(bytes(entry), 1 << 20), decode(bytes(entry))
    assert keyed is None or [(r.offset, r.key) for r in rows.rows] == [r[:2] for r in keyed.records] or rows.refusals


def test_a_batch_of_two_records() -> None:
    rows = decode(bytes.fromhex(TWO_RECORDS)).rows
    assert [(row.offset, row.timestamp, row.leader_epoch, row.sequence) for row in rows] == [
        (100, T, 5, -1),
        (101, T + 1, 5, -1),
    ]
    assert [(row.key, row.value, row.key_size, row.value_size, row.header_count) for row in rows] == [
        (b"k", b"v", 1, 1, 1),
        (None, None, -1, -1, 0),
    ]
    assert (rows[0].span_start, rows[0].span_end, rows[0].broker, rows[0].topic) == (1000, 1081, 1, "t")
    assert [row.control_type for row in rows] == [None, None]


def test_payloads_stay_behind_unless_asked_for() -> None:
    rows = decode(bytes.fromhex(TWO_RECORDS), payloads=False).rows
    assert [(row.key, row.value) for row in rows] == [(None, None), (None, None)]
    assert [row.key_size for row in rows] == [1, -1]


def test_a_commit_marker_is_a_control_record() -> None:
    (row,) = decode(bytes.fromhex(COMMIT_MARKER)).rows
    assert (row.control_type, row.sequence, row.offset) == (1, -1, 102)


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0"])
def test_a_control_record_without_a_type_is_refused(key: bytes | None) -> None:
    assert "control key" in refused(batch([(0, 0, key, b"", [])], attributes=0x20))


def test_an_emptied_batch_has_no_records_and_no_refusal() -> None:
    assert decode(bytes.fromhex(EMPTIED)) == Parsed()


def test_log_append_time_overrides_every_record() -> None:
    rows = decode(
        batch([(5, 0, None, b"a", []), (9, 1, None, b"b", [])], attributes=0x08, base_time=T, max_time=T + 77)
    ).rows
    assert [row.timestamp for row in rows] == [T + 77, T + 77]


def test_under_a_delete_horizon_the_deltas_count_from_the_horizon() -> None:
    horizon = T + 86_400_000
    rows = decode(batch([(T - horizon, 0, b"k", None, [])], attributes=0x40, base_time=horizon, max_time=T)).rows
    assert [row.timestamp for row in rows] == [T]


def test_sequences_wrap_to_zero() -> None:
    items: list[Record] = [(0, 0, None, b"", []), (0, 1, None, b"", []), (0, 2, None, b"", [])]
    rows = decode(batch(items, producer=(7, 0, 2**31 - 2))).rows
    assert [row.sequence for row in rows] == [2**31 - 2, 2**31 - 1, 0]


def test_timestamps_wrap_as_in_java_and_fit_the_table() -> None:
    rows = decode(batch([(1, 0, None, b"", [])], base_time=2**63 - 1)).rows
    assert rows[0].timestamp == -(2**63)
    assert from_arrow(to_arrow(rows, RecordRow), RecordRow) == list(rows)


def test_null_is_not_empty() -> None:
    assert key_hash(None) is None
    assert key_hash(b"") is not None
    contents = {content_hash(key, value, 0) for key in (None, b"") for value in (None, b"")}
    assert len(contents) == 4
    assert headers_hash([(b"h", None)]) != headers_hash([(b"h", b"")])


def test_hashes_tell_where_a_field_ends() -> None:
    assert content_hash(b"ab", b"c", 0) != content_hash(b"a", b"bc", 0)
    assert content_hash(b"a", b"b", 0) != content_hash(b"a", b"b", 1)
    assert headers_hash([(b"a", b"b"), (b"c", b"d")]) != headers_hash([(b"c", b"d"), (b"a", b"b")])
    assert re.fullmatch("[0-9a-f]{16}", content_hash(None, None, -1))


def test_a_record_longer_than_its_fields() -> None:
    body = record((0, 0, None, b"v", []))
    longer = bytes([body[0] + 2]) + body[1:] + b"\0"
    assert f"end at byte {61 + len(longer)}" in refused(raw_batch(longer, count=1))


def test_a_record_shorter_than_its_fields() -> None:
    body = record((0, 0, None, b"v", []))
    assert "end at byte" in refused(raw_batch(bytes([body[0] - 2]) + body[1:], count=1))


def test_bytes_left_over_after_the_last_record() -> None:
    body = record((0, 0, None, b"v", []))
    assert "2 bytes left over" in refused(raw_batch(body + b"\0\0", count=1))
    assert "left over" in refused(raw_batch(body + body, count=1))
    assert "left over" in refused(raw_batch(b"x", count=0))


def test_fewer_records_than_the_header_counts() -> None:
    assert "record 1" in refused(raw_batch(record((0, 0, None, b"v", [])), count=2))


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_negative_count(count: int) -> None:
    assert "count" in refused(raw_batch(b"", count=count, last_delta=0))


def test_more_records_than_rows_may_weigh_are_refused_before_they_are_made() -> None:
    parsed = decode(raw_batch(record((0, 0, None, None, [])) * 5000, count=5000), limit=1 << 20)
    assert [refusal.kind for refusal in parsed.refusals] == ["too_large"]


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs(codec: int) -> None:
    assert f"codec {codec}" in refused(raw_batch(b"abc", count=1, attributes=codec))


def test_offsets_outside_the_batch() -> None:
    assert "offset delta" in refused(batch([(0, 3, None, b"", [])], last_delta=2))
    assert "offset delta" in refused(batch([(0, -1, None, b"", [])], last_delta=2))
    assert "offset delta" in refused(batch([(0, 1, None, b"", [])], last_delta=2, base=2**63 - 1))


def test_varints_longer_than_a_number_can_be() -> None:
    assert "varint" in refused(raw_batch(b"\xff" * 20, count=1))


def test_header_keys_and_counts_must_be_there() -> None:
    assert "header key" in refused(raw_batch(b"\x10\0\0\0\1\1\2\1\1", count=1))
    assert "header count" in refused(raw_batch(b"\x0c\0\0\0\1\1\1", count=1))


@pytest.mark.parametrize(
    "entry", [b"", b"\0" * 17, b"\0" * 60, bytes.fromhex(TWO_RECORDS)[:-1], bytes.fromhex(TWO_RECORDS) + b"\0"]
)
def test_what_is_no_whole_entry(entry: bytes) -> None:
    refused(entry)
    assert header_of(entry) is None


def test_an_unknown_magic_is_an_unknown_version() -> None:
    for magic in (3, 255):
        entry = bytearray(bytes.fromhex(TWO_RECORDS))
        entry[16] = magic
        assert [refusal.kind for refusal in decode(bytes(entry)).refusals] == ["unknown_version"]


def test_header_of_gives_the_header() -> None:
    header = header_of(bytes.fromhex(TWO_RECORDS))
    assert header is not None
    assert (header.base_offset, header.leader_epoch, header.crc, header.record_count) == (100, 5, 2434957614, 2)


def sound_entries(path: Path) -> Iterator[tuple[int, bytes]]:
    """All batches of a file; where it was damaged on purpose, those that are read and whose checksums hold."""
    if not damage_of(path):
        yield from entries(path)
        return
    data = path.read_bytes()
    for row in everything(path)[0].to_pylist():
        if row["crc_valid"]:
            yield row["span_start"], data[row["span_start"] : row["span_end"]]


def test_every_recorded_batch_decodes() -> None:
    segments = sorted(path for path in SAMPLES.glob("*/dump/*/data/*/*.log") if path.stat().st_size)
    assert len(segments) > 100
    for path in segments:
        for position, entry in sound_entries(path):
            parsed = decode_entry(entry, Origin(source=path.name), position)
            assert not parsed.refusals, (path, position)
            if entry[16] == 2:
                assert len(parsed.rows) == struct.unpack_from(">i", entry, 57)[0]


def printed(path: Path) -> list[tuple[int, int, int, int, bytes | None, bytes | None]]:
    """What the dump tool printed with --print-data-log; all contents are plain letters here."""
    line = re.compile(
        rb"\| offset: (\d+) CreateTime: (\d+) keySize: (-?\d+) valueSize: (-?\d+) "
        rb".*?headerKeys: \[\](?: key: (\S*))?(?: payload: (.*))?$"
    )
    found = [match for text in path.read_bytes().split(b"\n") if (match := line.match(text))]
    return [(int(m[1]), int(m[2]), int(m[3]), int(m[4]), m[5], m[6]) for m in found]


@pytest.mark.parametrize(
    ("text", "case", "partition"),
    [("orders-0.data", "clean_mixed", "orders-0"), ("compacted.data", "compaction_race", "kv-0")],
)
def test_records_are_what_the_dump_tool_prints(text: str, case: str, partition: str) -> None:
    segment = min((SAMPLES / case / "dump/broker-1/data" / partition).glob("*.log"))
    rows = [row for at, entry in entries(segment) for row in decode_entry(entry, ORIGIN, at, payloads=True).rows]
    data = [
        (row.offset, row.timestamp, row.key_size, row.value_size, row.key, row.value)
        for row in rows
        if row.control_type is None
    ]
    expected = printed(SAMPLES / "dump_log_text/3.9.1" / f"{text}.out")
    assert data == expected
    assert len(data) >= 20


contents = st.none() | st.binary(max_size=20)
headers = st.lists(st.tuples(st.binary(max_size=5), contents), max_size=3)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    count = draw(st.integers(0, 6))
    times = st.integers(-(2**62), 2**62)
    return [(draw(times), at, draw(contents), draw(contents), draw(headers)) for at in range(count)]


@settings(max_examples=cases(50), deadline=None)
@given(items=records(), codec=st.integers(0, 4), base=st.integers(0, 2**62), base_time=st.integers(0, 2**62 - 1))
def test_what_is_written_is_read(items: list[Record], codec: int, base: int, base_time: int) -> None:
    parsed = decode(batch(items, codec=codec, base=base, base_time=base_time, producer=(1, 2, 3)))
    assert not parsed.refusals
    assert [(row.offset, row.timestamp, row.key, row.value, row.headers_hash) for row in parsed.rows] == [
        (base + delta, base_time + time, key, value, headers_hash(head)) for time, delta, key, value, head in items
    ]


@settings(max_examples=cases(100), deadline=None)
@given(data=st.data(), items=records(), codec=st.integers(0, 7))
def test_no_mutation_raises_or_passes_in_silence(data: st.DataObject, items: list[Record], codec: int) -> None:
    entry = bytearray(batch(items, codec=min(codec, 4)))
    for _ in range(data.draw(st.integers(1, 4))):
        entry[data.draw(st.integers(0, len(entry) - 1))] = data.draw(st.integers(0, 255))
    parsed = decode(bytes(entry))
    header = header_of(bytes(entry))
    assert parsed.refusals or header is None or len(parsed.rows) == header.record_count
    to_arrow(parsed.rows, RecordRow)


@given(noise=st.binary(max_size=200))
def test_noise_is_refused_or_read_but_never_raises(noise: bytes) -> None:
    framed = struct.pack(">qi", 0, len(noise)) + noise
    for entry in (noise, framed):
        parsed = decode(entry)
        assert parsed.rows or parsed.refusals or header_of(entry) is not None
