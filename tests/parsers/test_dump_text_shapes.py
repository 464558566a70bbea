"""Shapes of releases and files that no sample holds, line by line as those releases print them."""

from __future__ import annotations

import io

import pytest

from parsers.dump_text import DumpChunk, read_dump_text
from parsers.dump_text.grammar import control_type, record_line
from parsers.provenance import Origin
from parsers.tables import BatchHeader

FRAME = "Dumping /data/t-0/00000000000000000000.log\nStarting offset: 0\n"
T = 1_700_000_000_000


def read(text: str) -> list[DumpChunk]:
    return list(read_dump_text(io.BytesIO(text.encode()), Origin(source="dump.txt")))


def rows(text: str) -> list[BatchHeader]:
    found = read(text)
    assert not [refusal for chunk in found for refusal in chunk.refusals]
    return [row for chunk in found for row in chunk.rows]


def kinds(text: str) -> list[str]:
    return [refusal.kind for chunk in read(text) for refusal in chunk.refusals]


V2 = (
    "baseOffset: 100 lastOffset: 101{count} baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 5 isTransactional: false{control} position: 0 CreateTime: 1700000000001 isvalid: "
    "true size: 81 "
    "magic: 2 compresscodec: NONE crc: 2434957614\n"
)


@pytest.mark.parametrize(
    ("count", "control"),
    [("", ""), (" count: 2", ""), (" count: 2", " isControl: false")],
    ids=["0.11", "2.0.0", "2.0.1"],
)
def test_shallow_batches_from_0_11_to_2_1(count: str, control: str) -> None:
    (row,) = rows(FRAME + V2.format(count=count, control=control))
    assert (row.base_offset, row.last_offset, row.leader_epoch, row.size, row.crc) == (100, 101, 5, 81, 2434957614)
    assert (row.record_count, row.attributes, row.crc_valid) == (2 if count else None, 0, True)


def test_a_marker_is_told_by_its_missing_sequence_before_control_was_printed() -> None:
    marker = V2.replace("producerId: -1 producerEpoch: -1", "producerId: 7 producerEpoch: 0").replace(
        "nal: false", "nal: true"
    )
    assert [row.attributes for row in rows(FRAME + marker.format(count="", control=""))] == [0x30]


def test_shallow_legacy_entries() -> None:
    plain = (
        "offset: 9 position: 0 NoTimestampType: -1 isvalid: true size: 28 magic: 0 compresscodec: NONE crc: 535615242\n"
    )
    wrapped = (
        "offset: 19 position: 28 LogAppendTime: 1700000000000 isvalid: false size: 99 magic: 1 "
        "compresscodec: GZIP crc: 7\n"
    )
    first, second = rows(FRAME + plain + wrapped)
    assert (first.base_offset, first.record_count, first.attributes, first.max_timestamp, first.leader_epoch) == (
        9,
        1,
        0,
        -1,
        -1,
    )
    assert (second.base_offset, second.record_count, second.attributes, second.max_timestamp) == (None, None, 9, T)
    assert second.crc_valid is False
    assert second.producer_id == -1


def deep(
    offset: int,
    position: int,
    *,
    codec: str = "NONE",
    tail: str = "",
    time: int = T,
    pid: str = "producerId: 7 producerEpoch: 0",
) -> str:
    return (
        f"offset: {offset} position: {position} CreateTime: {time} isvalid: true keysize: 1 valuesize: 1 magic: "
        f"2 compresscodec: {codec} "
        f"{pid} sequence: {offset} isTransactional: false headerKeys: []{tail}\n"
    )


def test_deep_lines_of_one_position_are_one_batch() -> None:
    first, second = rows(FRAME + deep(0, 0) + deep(1, 0, time=T + 5) + deep(2, 79, codec="GZIP") + deep(3, 200))[:2]
    assert (first.base_offset, first.last_offset, first.record_count, first.max_timestamp, first.size) == (
        0,
        1,
        2,
        T + 5,
        79,
    )
    assert (first.leader_epoch, first.crc, first.crc_valid, first.base_sequence) == (None, None, None, 0)
    assert (second.base_offset, second.size, second.attributes) == (2, 121, 1)


def test_the_last_deep_batch_has_a_size_only_where_its_fields_tell_it() -> None:
    (row,) = rows(FRAME + deep(0, 0) + deep(1, 0))
    assert row.size == 61 + 2 * 9
    assert kinds(FRAME + deep(0, 0, codec="GZIP")) == ["malformed"]
    assert kinds(FRAME + deep(5, 0)) == ["malformed"]


def test_emptied_batches_behind_a_deep_batch_do_not_count_as_its_bytes() -> None:
    first, _ = rows(FRAME + deep(0, 0) + deep(1, 70 + 61))
    assert first.size == 70


def test_deep_lines_without_a_producer_epoch() -> None:
    (row,) = rows(FRAME + deep(0, 0, pid="producerId: 7"))
    assert (row.producer_id, row.producer_epoch) == (7, None)


def test_a_deep_marker() -> None:
    line = (
        f"offset: 0 position: 0 CreateTime: {T} isvalid: true keysize: 4 valuesize: 6 magic: 2 compresscodec: "
        f"NONE producerId: 7 "
        "producerEpoch: 0 sequence: -1 isTransactional: true headerKeys: [] endTxnMarker: COMMIT "
        "coordinatorEpoch: 3\n"
    )
    (chunk,) = read(FRAME + line + deep(1, 78))
    assert (chunk.rows[0].attributes, chunk.rows[0].size) == (0x30, 78)


def old(
    offset: int, position: int, *, time: str = "", codec: str = "NONE", value: int = 5, key: str = "", tail: str = ""
) -> str:
    return (
        f"offset: {offset} position: {position}{time} isvalid: true payloadsize: {value} magic: 1 "
        f"compresscodec: {codec} "
        f"crc: 1234567890{key}{tail}\n"
    )


@pytest.mark.parametrize(
    ("time", "codec", "kept"), [("", "NoCompressionCodec", None), (f" CreateTime: {T}", "NONE", T)]
)
def test_lines_of_0_10(time: str, codec: str, kept: int | None) -> None:
    first, second = rows(
        FRAME
        + old(7, 0, time=time, codec=codec, key=" keysize: 3 key: abc payload: hello")
        + old(8, 42, time=time, codec=codec)
    )
    assert (first.base_offset, first.size, first.record_count, first.crc, first.max_timestamp) == (
        7,
        42,
        1,
        1234567890,
        kept,
    )
    assert (second.size, second.leader_epoch, second.attributes) == (39, -1, None if kept is None else 0)


def test_a_wrapper_of_0_10_has_an_exact_size_and_no_first_offset() -> None:
    (row,) = rows(FRAME + old(9, 0, time=f" CreateTime: {T}", codec="GZIPCompressionCodec", value=80))
    assert (row.base_offset, row.last_offset, row.record_count, row.size, row.attributes) == (None, 9, None, 114, 1)


def test_inner_messages_of_0_10_share_their_wrappers_position() -> None:
    time = f" CreateTime: {T}"
    first, second = rows(FRAME + old(8, 0, time=time) + old(9, 0, time=time) + old(10, 70, time=time))
    assert (first.base_offset, first.last_offset, first.record_count, first.size, first.crc) == (
        None,
        9,
        None,
        70,
        None,
    )
    assert (second.base_offset, second.size) == (10, 39)


def test_a_lone_inner_message_of_0_10_is_told_by_a_size_that_does_not_fit() -> None:
    time = f" CreateTime: {T}"
    first, _ = rows(FRAME + old(8, 0, time=time) + old(9, 60, time=time))
    assert (first.base_offset, first.size, first.crc, first.attributes) == (None, 60, None, None)


MODERN = (
    "baseOffset: {base} lastOffset: {last} count: {count} baseSequence: -1 lastSequence: -1 producerId: -1 "
    "producerEpoch: -1 "
    "partitionLeaderEpoch: 3 isTransactional: false isControl: {control} deleteHorizonMs: {horizon} position: "
    "{position} "
    "CreateTime: 1700000000001 size: {size} magic: 2 compresscodec: none crc: 5 isvalid: true\n"
)


def modern(
    base: int,
    last: int,
    position: int,
    *,
    size: int = 100,
    count: int | None = None,
    control: str = "false",
    horizon: str = "OptionalLong.empty",
) -> str:
    records = last - base + 1 if count is None else count
    return MODERN.format(
        base=base, last=last, position=position, size=size, count=records, control=control, horizon=horizon
    )


def test_a_delete_horizon_is_the_base_timestamp_and_bit_6() -> None:
    (row,) = rows(FRAME + modern(0, 4, 0, horizon="OptionalLong[1700086400000]"))
    assert (row.base_timestamp, row.attributes) == (1_700_086_400_000, 0x40)


def test_an_emptied_batch_of_a_deep_dump_has_no_record_lines() -> None:
    text = (
        modern(0, 0, 0)
        + f"| offset: 0 CreateTime: {T} keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: k payload: v\n"
    )
    assert [
        row.last_offset
        for row in rows(
            FRAME + text + modern(1, 4, 100, size=61, count=0) + modern(5, 5, 161).replace("count: 1", "count: 0")
        )
    ] == [0, 4, 5]


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("endTxnMarker: ABORT coordinatorEpoch: 3", 0),
        ("endTxnMarker: COMMIT coordinatorEpoch: 3", 1),
        ('LeaderChange: {"version":0,"leaderId":1}', 2),
        ("controlType: LEADER_CHANGE(2)", 2),
        ('SnapshotHeader {"version":0}', 3),
        ('SnapshotFooter {"version":0}', 4),
        ('KRaftVersion {"version":0,"kRaftVersion":1}', 5),
        ('KRaftVoters {"version":0}', 6),
        ("controlType: UNKNOWN(9)", 9),
    ],
)
def test_control_records_by_their_suffix(suffix: str, expected: int) -> None:
    record = f"| offset: 0 CreateTime: {T} keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] {suffix}"
    said = record_line(record.encode())
    assert said is not None
    assert control_type(said.tail) == expected


@pytest.mark.parametrize(
    "record", ["crc: 5 isvalid: true key: k", "isValid: true crc: 5} key: k", "isValid: true crc: 5 payload: v"]
)
def test_legacy_record_lines_of_every_release(record: str) -> None:
    batch = (
        "offset: 9 position: 0 CreateTime: 1700000000000 size: 80 magic: 1 compresscodec: gzip crc: 5 isvalid: true\n"
    )
    lines = "".join(f"| offset: {offset} CreateTime: {T} keysize: 1 valuesize: 1 {record}\n" for offset in (8, 9))
    (chunk,) = read(FRAME + batch + lines)
    assert [row.last_offset for row in chunk.rows] == [9]
    assert not chunk.refusals


def test_invalid_bytes_at_the_end_are_a_torn_tail() -> None:
    assert kinds(FRAME + modern(0, 4, 0) + "Found 13 invalid bytes at the end of 00000000000000000000.log\n") == [
        "torn_tail"
    ]
