"""Values of the metadata log decode to the records they hold, and nothing else decodes at all."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.metadata_log import MetadataRecord, decode_metadata_record
from parsers.metadata_log.quorum import ControlRecord, Voter, decode_control
from parsers.metadata_log.records import (
    AbortTransaction,
    BrokerRegistrationChange,
    ClearElr,
    Config,
    Endpoint,
    FeatureLevel,
    FeatureRange,
    FenceBroker,
    Partition,
    PartitionChange,
    RegisterBroker,
    Skipped,
    Topic,
    UnfenceBroker,
    UnregisterBroker,
)
from parsers.provenance import Origin
from parsers.tables import Refusal
from parsers.wire import Malformed

ORIGIN = Origin(source="data/__cluster_metadata-0/00000000000000000000.log")
TOPIC_ID = "AAECAwQFBgcICQoLDA0ODw"
UUID = bytes(range(16))


def decode(value: bytes) -> MetadataRecord | Refusal:
    return decode_metadata_record(value, ORIGIN, ORIGIN.span(100, 200))


def string(text: str) -> bytes:
    return bytes([len(text) + 1]) + text.encode()


def ids(*brokers: int) -> bytes:
    return bytes([len(brokers) + 1]) + b"".join(struct.pack(">i", broker) for broker in brokers)


def tags(**fields: bytes) -> bytes:
    body = b"".join(bytes([int(tag[1:]), len(data)]) + data for tag, data in fields.items())
    return bytes([len(fields)]) + body


def int32(number: int) -> bytes:
    return struct.pack(">i", number)


def int64(number: int) -> bytes:
    return struct.pack(">q", number)


ENDPOINT = string("PLAINTEXT") + string("h1") + struct.pack(">Hh", 9092, 0) + b"\x00"
FEATURE = string("metadata.version") + struct.pack(">hh", 1, 21) + b"\x00"


def test_published_partition_change() -> None:
    value = bytes.fromhex("01050000000000000102030405060708090a0b0c0d0e0f020009030000000200000003010400000002")
    assert decode(value) == PartitionChange(partition=0, topic_id=TOPIC_ID, isr=(2, 3), leader=2)


def test_partition_change_names_every_tag() -> None:
    fields = tags(
        t0=ids(), t1=int32(-1), t2=ids(1, 2, 3), t3=ids(3), t4=ids(4),
        t5=b"\x01", t6=ids(5), t7=ids(6), t8=b"\x02" + UUID,
    )  # fmt: skip
    assert decode(b"\x01\x05\x02" + int32(7) + UUID + fields) == PartitionChange(
        partition=7,
        topic_id=TOPIC_ID,
        isr=(),
        leader=-1,
        replicas=(1, 2, 3),
        removing_replicas=(3,),
        adding_replicas=(4,),
        leader_recovery_state=1,
        elr=(5,),
        last_known_elr=(6,),
        directories=(TOPIC_ID,),
    )


def test_a_leader_of_minus_two_is_no_election() -> None:
    assert decode(b"\x01\x05\x00" + int32(0) + UUID + tags(t1=int32(-2))) == PartitionChange(
        partition=0, topic_id=TOPIC_ID
    )


def test_tags_of_a_later_version_are_unknown_to_an_earlier_one_and_skipped_by_size() -> None:
    fields = tags(t0=ids(1), t6=b"\xff\xff", t99=b"anything")
    assert decode(b"\x01\x05\x00" + int32(0) + UUID + fields) == PartitionChange(
        partition=0, topic_id=TOPIC_ID, isr=(1,)
    )


@pytest.mark.parametrize(("version", "directories"), [(0, b""), (1, b"\x02" + UUID), (2, b"\x02" + UUID)])
def test_partition_by_version(version: int, directories: bytes) -> None:
    numbers = int32(2) + int32(5) + int32(9)
    body = int32(3) + UUID + ids(1, 2) + ids(2) + ids() + ids(4) + numbers + directories
    elr = {"t1": ids(8), "t2": ids(9)} if version == 2 else {}
    assert decode(bytes([1, 3, version]) + body + tags(t0=b"\x01", **elr)) == Partition(
        partition=3,
        topic_id=TOPIC_ID,
        replicas=(1, 2),
        isr=(2,),
        removing_replicas=(),
        adding_replicas=(4,),
        leader=2,
        leader_epoch=5,
        partition_epoch=9,
        directories=(TOPIC_ID,) if directories else (),
        leader_recovery_state=1,
        elr=(8,) if version == 2 else (),
        last_known_elr=(9,) if version == 2 else (),
    )


@pytest.mark.parametrize("version", range(5))
def test_register_broker_by_version(version: int) -> None:
    """Version 2 puts a boolean right behind the broker id; version 1 one at the end; later ones only tags."""
    value = (
        bytes([1, 0, version]) + int32(1) + (b"\x01" if version >= 2 else b"") + UUID + int64(13)
        + b"\x02" + ENDPOINT + b"\x02" + FEATURE + b"\x00" + b"\x01" + (b"\x01" if version >= 1 else b"")
        + (tags(t0=b"\x02" + UUID) if version >= 3 else b"\x00")
    )  # fmt: skip
    assert decode(value) == RegisterBroker(
        broker_id=1,
        migrating_from_zookeeper=version >= 2,
        incarnation_id=TOPIC_ID,
        broker_epoch=13,
        endpoints=(Endpoint(name="PLAINTEXT", host="h1", port=9092, security_protocol=0),),
        features=(FeatureRange(name="metadata.version", minimum=1, maximum=21),),
        rack=None,
        fenced=True,
        in_controlled_shutdown=version >= 1,
        log_dirs=(TOPIC_ID,) if version >= 3 else (),
        cordoned_log_dirs=None,
    )


def test_registration_change_fences_unfences_or_neither() -> None:
    def change(*flags: bool | None) -> BrokerRegistrationChange:
        return BrokerRegistrationChange(
            broker_id=1,
            broker_epoch=13,
            fenced=flags[0],
            in_controlled_shutdown=flags[1],
            log_dirs=None,
            cordoned_log_dirs=() if flags == (None, None) else None,
        )

    head = int32(1) + int64(13)
    assert decode(b"\x01\x11\x00" + head + tags(t0=b"\x01")) == change(True, None)
    assert decode(b"\x01\x11\x00" + head + tags(t0=b"\xff")) == change(False, None)
    assert decode(b"\x01\x11\x01" + head + tags(t1=b"\x01")) == change(None, True)
    assert decode(b"\x01\x11\x03" + head + tags(t3=b"\x01")) == change(None, None)


@pytest.mark.parametrize(
    ("value", "record"),
    [
        (b"\x01\x01\x00" + int32(4) + int64(5) + b"\x00", UnregisterBroker(broker_id=4, broker_epoch=5)),
        (b"\x01\x02\x00" + string("pay") + UUID + b"\x00", Topic(name="pay", topic_id=TOPIC_ID)),
        (
            b"\x01\x04\x00\x02" + string("pay") + string("retention.ms") + b"\x00\x00",
            Config(resource_type=2, resource="pay", name="retention.ms", value=None),
        ),
        (b"\x01\x07\x00" + int32(4) + int64(5) + b"\x00", FenceBroker(broker_id=4, broker_epoch=5)),
        (b"\x01\x08\x00" + int32(4) + int64(5) + b"\x00", UnfenceBroker(broker_id=4, broker_epoch=5)),
        (b"\x01\x0c\x00" + string("f") + b"\x00\x15\x00", FeatureLevel(name="f", level=21)),
        (b"\x01\x10\x00" + string("f") + b"\x00", FeatureLevel(name="f", level=0)),
        (b"\x01\x19\x00" + tags(t0=string("why")), AbortTransaction(reason="why")),
        (b"\x01\x1c\x00" + string("") + b"\x00", ClearElr(topic="")),
        (b"\x01\x0e\x00 whatever", Skipped(name="ClientQuota", api_key=14, version=0)),
        (b"\x01\x80\x01\x07 whatever", Skipped(name="unknown 128", api_key=128, version=7)),
    ],
)
def test_other_records(value: bytes, record: MetadataRecord) -> None:
    assert decode(value) == record


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (b"", "malformed", "unsigned varint of 1 bytes"),
        (b"\x00\x05\x00", "unknown_version", "a known version"),
        (b"\x01\x03\x03", "unknown_version", "a known version"),
        (b"\x01\x0c\x00" + string("f") + b"\x00\x15\x00\x00", "malformed", "the end of the record"),
        (b"\x01\x02\x00\xff\xff\xff\xff\x07", "malformed", "string of 2147483646 bytes"),
        (b"\x01\x02\x00\xff\xff\xff\xff\xff\x01", "malformed", "an unsigned varint of at most 5 bytes"),
        (b"\x01\x02\x00\x03\xff\xfe" + UUID + b"\x00", "malformed", "a string in UTF-8"),
        (b"\x01\x02\x00\x00" + UUID + b"\x00", "malformed", "a string"),
        (b"\x01\x03\x00" + int32(0) + UUID + b"\x80\x80\x80\x08", "too_large", "a set of at most 1000 brokers"),
        (b"\x01\x03\x00" + int32(-1) + UUID, "malformed", "a partition number"),
        (b"\x01\x05\x00" + int32(0) + UUID + b"\xff\xff\xff\xff\x0f", "malformed", "unsigned varint of 1 bytes"),
        (b"\x01\x05\x00" + int32(0) + UUID + b"\x02\x01\x04" + int32(1) + b"\x01\x04" + int32(1), "malformed", "a tag"),
        (b"\x01\x05\x00" + int32(0) + UUID + tags(t1=int32(1) + b"\x00"), "malformed", "the end of the record"),
        (b"\x01\x00\x00" + int32(1) + UUID + int64(1) + b"\xff\xff\xff\xff\x07", "malformed", "an array of 2147483646"),
    ],
)
def test_what_breaks_the_encoding_is_refused_where_it_lies(value: bytes, kind: str, expected: str) -> None:
    refusal = decode(value)
    assert isinstance(refusal, Refusal)
    assert (refusal.kind, refusal.span_start, refusal.span_end) == (kind, 100, 200)
    assert refusal.expected.startswith(expected)


@given(st.one_of(st.binary(max_size=120), st.binary(max_size=120).map(lambda tail: b"\x01" + tail)))
def test_any_bytes_decode_or_are_refused(value: bytes) -> None:
    decode(value)


@given(st.sampled_from([0, 1, 2, 3, 4, 5, 12, 17, 27]), st.integers(0, 4), st.binary(max_size=200))
def test_any_body_decodes_or_is_refused(api_key: int, version: int, body: bytes) -> None:
    decode(bytes([1, api_key, version]) + body)


def test_leader_change_with_and_without_directories() -> None:
    plain = b"\x00\x00" + int32(100) + b"\x02" + int32(100) + b"\x00\x02" + int32(100) + b"\x00\x00"
    voter = Voter(node=100)
    assert decode_control(2, plain) == ControlRecord(
        kind="leader", leader=100, voters=(voter,), granting_voters=(voter,)
    )
    placed = b"\x00\x01" + int32(100) + b"\x02" + int32(100) + UUID + b"\x00\x01\x00"
    assert decode_control(2, placed) == ControlRecord(
        kind="leader", leader=100, voters=(Voter(node=100, directory_id=TOPIC_ID),), granting_voters=()
    )


def test_voters_kraft_version_and_snapshot_brackets() -> None:
    endpoint = string("CONTROLLER") + string("h1") + b"\x23\x84\x00"
    voters = b"\x00\x00\x02" + int32(100) + UUID + b"\x02" + endpoint + b"\x00\x00\x00\x01\x00\x00\x00"
    assert decode_control(6, voters) == ControlRecord(kind="voters", voters=(Voter(node=100, directory_id=TOPIC_ID),))
    assert decode_control(5, b"\x00\x00\x00\x01\x00") == ControlRecord(kind="kraft-version", kraft_version=1)
    assert decode_control(3, b"\x00\x00" + int64(77) + b"\x00") == ControlRecord(
        kind="snapshot-header", contained_time=77
    )
    assert decode_control(4, b"\x00\x00\x00") == ControlRecord(kind="snapshot-footer")
    assert decode_control(77, b"anything") is None


@given(st.integers(0, 8), st.binary(max_size=80))
def test_any_control_record_decodes_or_is_malformed(control_type: int, value: bytes) -> None:
    with contextlib.suppress(Malformed):
        decode_control(control_type, value)
