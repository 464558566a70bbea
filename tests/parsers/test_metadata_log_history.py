"""Records add up to history: epochs counted, transactions whole or not at all, snapshots as restarts, holes named."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.metadata_log import (
    MetadataHistory,
    MetadataInput,
    MetadataSnapshot,
    SnapshotId,
    metadata_history,
    snapshot_id,
)
from parsers.provenance import Origin
from parsers.tables import TABLES, to_arrow
from tests.lab.effort import cases

ORIGIN = Origin(source="log", broker=100, log_dir="data", cluster_id="c")
PAY, OTHER = bytes(range(16)), bytes(range(16, 32))
PAY_ID = "AAECAwQFBgcICQoLDA0ODw"

BEGIN, END, ABORT, NO_OP = b"\x01\x17\x00\x00", b"\x01\x18\x00\x00", b"\x01\x19\x00\x00", b"\x01\x14\x00\x00"
HEADER, FOOTER = b"\x00\x00" + struct.pack(">q", 777) + b"\x00", b"\x00\x00\x00"


def string(text: str) -> bytes:
    return bytes([len(text) + 1]) + text.encode()


def ids(*brokers: int) -> bytes:
    return bytes([len(brokers) + 1]) + struct.pack(f">{len(brokers)}i", *brokers)


def topic(name: str = "pay", topic_id: bytes = PAY) -> bytes:
    return b"\x01\x02\x00" + string(name) + topic_id + b"\x00"


def partition(
    leader: int = 1, epochs: tuple[int, int] = (0, 0), isr: Sequence[int] = (1, 2, 3), topic_id: bytes = PAY
) -> bytes:
    numbers = struct.pack(">iii", leader, *epochs)
    return b"\x01\x03\x00" + bytes(4) + topic_id + ids(1, 2, 3) + ids(*isr) + ids() + ids() + numbers + b"\x00"


def change(
    leader: int | None = None,
    isr: Sequence[int] | None = None,
    replicas: Sequence[int] | None = None,
    elr: Sequence[int] | None = None,
    last_known_elr: Sequence[int] | None = None,
    adding: Sequence[int] | None = None,
    recovering: bool | None = None,
    topic_id: bytes = PAY,
) -> bytes:
    fields = {
        0: None if isr is None else ids(*isr),
        1: None if leader is None else struct.pack(">i", leader),
        2: None if replicas is None else ids(*replicas),
        4: None if adding is None else ids(*adding),
        5: None if recovering is None else bytes([recovering]),
        6: None if elr is None else ids(*elr),
        7: None if last_known_elr is None else ids(*last_known_elr),
    }
    named = [(tag, data) for tag, data in fields.items() if data is not None]
    tags = bytes([len(named)]) + b"".join(bytes([tag, len(data)]) + data for tag, data in named)
    return b"\x01\x05\x02" + bytes(4) + topic_id + tags


def config(name: str, value: str | None, resource: str = "pay") -> bytes:
    return (
        b"\x01\x04\x00\x02" + string(resource) + string(name) + (b"\x00" if value is None else string(value)) + b"\x00"
    )


def clear_elr(name: str) -> bytes:
    return b"\x01\x1c\x00" + string(name) + b"\x00"


def inputs(*values: bytes, start: int = 0) -> list[MetadataInput]:
    return [
        MetadataInput(offset=at, leader_epoch=1, timestamp=1000 + at, value=value, span=ORIGIN.span(at, at + 1))
        for at, value in enumerate(values, start)
    ]


def history(*values: bytes, start: int = 0, snapshots: Sequence[MetadataSnapshot] = ()) -> MetadataHistory:
    return metadata_history(inputs(*values, start=start), ORIGIN, snapshots)


def snapshot(end_offset: int, *values: bytes, footer: bool = True) -> MetadataSnapshot:
    place = Origin(source="snapshot")
    kinds = [(HEADER, 3), *((value, None) for value in values), *([(FOOTER, 4)] if footer else [])]
    given = tuple(
        MetadataInput(
            offset=at, leader_epoch=4, timestamp=5, value=value, span=place.span(at, at + 1), control_type=kind
        )
        for at, (value, kind) in enumerate(kinds)
    )
    return MetadataSnapshot(id=SnapshotId(end_offset=end_offset, epoch=4), inputs=given)


def epochs(told: MetadataHistory) -> list[tuple[int | None, int | None]]:
    return [(row.leader_epoch, row.partition_epoch) for row in told.partitions]


def test_epochs_are_counted_a_named_leader_raises_both_even_the_same_one() -> None:
    told = history(topic(), partition(), change(isr=(1, 2)), change(leader=1), change(leader=-1), change(leader=2))
    assert epochs(told) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4)]
    assert [row.leader for row in told.partitions] == [1, 1, 1, -1, 2]
    assert [row.isr for row in told.partitions] == ["1,2,3", "1,2", "1,2", "1,2", "1,2"]
    assert [(row.offset, row.time, row.span_start) for row in told.partitions][-1] == (5, 1005, 5)
    assert not any(row.unclean for row in told.partitions)


def test_an_empty_set_is_a_value_and_an_absent_one_is_none() -> None:
    told = history(topic(), partition(), change(isr=(), leader=-1, elr=(1,)), change(last_known_elr=(1,)))
    assert [(row.isr, row.elr, row.last_known_elr) for row in told.partitions[1:]] == [("", "1", ""), ("", "1", "1")]


def test_an_election_from_the_elr_is_clean_and_one_from_the_last_known_elr_is_not() -> None:
    stopped = (topic(), partition(), change(isr=(), leader=-1, elr=(2,), last_known_elr=(2,)))
    assert [row.unclean for row in history(*stopped, change(leader=2, isr=(2,), elr=())).partitions][-1] is False
    lost = (topic(), partition(), change(isr=(), leader=-1, elr=(), last_known_elr=(2,)))
    assert [row.unclean for row in history(*lost, change(leader=2, isr=(2,))).partitions][-1] is True


def test_a_join_that_completes_a_reassignment_and_elects_who_joined_is_clean() -> None:
    moving = (topic(), partition(leader=2, isr=(2, 3)), change(replicas=(4, 1, 2, 3), adding=(4, 1)))
    joined = (*moving, change(isr=(2, 3, 4)))
    done = change(isr=(1, 4), leader=1, replicas=(4, 1), adding=())
    assert [row.unclean for row in history(*joined, done).partitions] == [False] * 4
    forced = change(isr=(1,), leader=1, replicas=(4, 1), adding=(), recovering=True)
    assert [row.unclean for row in history(*joined, forced).partitions][-1] is True
    midway = change(isr=(1,), leader=1)
    assert [row.unclean for row in history(*joined, midway).partitions][-1] is True


def test_clearing_the_elr_changes_those_that_have_one_and_counts_as_a_change() -> None:
    given = (
        topic(), partition(), topic("b", OTHER), partition(topic_id=OTHER),
        change(elr=(3,)), change(last_known_elr=(3,), topic_id=OTHER),
    )  # fmt: skip
    told = history(*given, clear_elr("pay"), clear_elr(""), clear_elr(""))
    cleared = [(row.topic, row.partition_epoch, row.elr, row.last_known_elr) for row in told.partitions[4:]]
    assert cleared == [("pay", 2, "", ""), ("b", 2, "", "")]


def test_directories_follow_their_replicas() -> None:
    placed = partition()[:2] + b"\x01" + partition()[3:-1] + b"\x04" + bytes(15) + b"\x07" + PAY + OTHER + b"\x00"
    told = history(topic(), placed, change(replicas=(2, 4)))
    assert [row.directories for row in told.partitions] == [
        "AAAAAAAAAAAAAAAAAAAABw,AAECAwQFBgcICQoLDA0ODw,EBESExQVFhcYGRobHB0eHw",
        "AAECAwQFBgcICQoLDA0ODw,AAAAAAAAAAAAAAAAAAAAAQ",
    ]


def test_a_removed_topic_takes_its_partitions_along() -> None:
    told = history(topic(), partition(), b"\x01\x09\x00" + PAY + b"\x00", topic("pay", OTHER), change(leader=2))
    assert [(row.kind, row.topic) for row in told.partitions] == [("created", "pay"), ("removed", "pay")]
    assert [row.kind for row in told.topics] == ["created", "removed", "created"]
    assert [refusal.expected for refusal in told.refusals] == ["the partition's registration before its changes"]


def test_a_transaction_counts_at_its_end_and_not_at_all_when_aborted() -> None:
    told = history(
        topic(), partition(), BEGIN, change(leader=2), NO_OP, END, BEGIN, change(leader=3), ABORT, BEGIN, change()
    )
    assert [(row.leader, row.offset) for row in told.partitions] == [(1, 1), (2, 3)]
    assert told.skipped == (("record of a transaction without end", 1), ("record of an aborted transaction", 1))
    assert told.refusals == ()


@pytest.mark.parametrize("values", [(END,), (ABORT,), (BEGIN, BEGIN)])
def test_brackets_without_match_are_refused(values: tuple[bytes, ...]) -> None:
    assert [refusal.kind for refusal in history(*values).refusals] == ["malformed"]


def test_settings_secrets_and_features() -> None:
    values = (config("retention.ms", "5"), config("ssl.keystore.password", "hunter2"), config("retention.ms", None))
    told = history(topic(), *values, b"\x01\x0c\x00" + string("metadata.version") + b"\x00\x15\x00")
    assert [(row.topic_id, row.resource_type, row.name, row.value) for row in told.configs] == [
        (PAY_ID, "topic", "retention.ms", "5"),
        (PAY_ID, "topic", "ssl.keystore.password", "[hidden]"),
        (PAY_ID, "topic", "retention.ms", None),
    ]
    assert [(row.name, row.level) for row in told.features] == [("metadata.version", 21)]


def test_fencing_before_and_after_the_registration_is_known() -> None:
    fence = b"\x01\x07\x00" + struct.pack(">iq", 1, 9) + b"\x00"
    register = (
        b"\x01\x00\x00" + struct.pack(">i", 1) + PAY + struct.pack(">q", 9) + b"\x01\x01" + string("r1") + b"\x01\x00"
    )
    unfence = b"\x01\x11\x00" + struct.pack(">iq", 1, 9) + b"\x01\x00\x01\xff"
    stop = b"\x01\x11\x01" + struct.pack(">iq", 1, 9) + b"\x01\x01\x01\x01"
    told = history(fence, register, unfence, stop, fence)
    assert [(row.kind, row.node, row.fenced, row.in_controlled_shutdown, row.rack) for row in told.brokers] == [
        ("fenced", 1, True, None, None),
        ("registered", 1, True, False, "r1"),
        ("unfenced", 1, False, False, "r1"),
        ("controlled-shutdown", 1, False, True, "r1"),
        ("fenced", 1, True, True, "r1"),
    ]


def test_a_log_that_begins_late_starts_from_its_snapshot() -> None:
    state = snapshot(52, topic(), partition(leader=2, epochs=(7, 30), isr=(2,)), config("retention.ms", "5"))
    told = history(change(leader=3), NO_OP, change(leader=1), start=50, snapshots=(state,))
    assert told.skipped == (("record before the first snapshot", 2),)
    assert told.refusals == ()
    assert [(row.kind, row.offset, row.controller_epoch, row.time, row.source) for row in told.partitions] == [
        ("snapshot", 51, 4, 777, "snapshot"),
        ("changed", 52, 1, 1052, "log"),
    ]
    assert epochs(told) == [(7, 30), (8, 31)]
    assert [row.unclean for row in told.partitions] == [False, True]
    assert [row.value for row in told.configs] == ["5"]


def test_a_snapshot_that_agrees_with_the_log_tells_nothing_new() -> None:
    log = (topic(), partition(), change(leader=2), change(leader=3))
    state = snapshot(3, topic(), partition(leader=2, epochs=(1, 1)))
    told = history(*log, snapshots=(state,))
    assert told.partitions == history(*log).partitions
    assert told.topics == history(*log).topics


def test_a_snapshot_that_goes_beyond_the_log_speaks_for_what_it_lacks() -> None:
    log = (topic(), partition(), config("retention.ms", "5"))
    told = history(*log, snapshots=(snapshot(90, topic("new", OTHER), partition(topic_id=OTHER)),))
    assert [(row.kind, row.topic, row.offset) for row in told.partitions] == [
        ("created", "pay", 1),
        ("snapshot", "new", 89),
        ("removed", "pay", 89),
    ]
    assert [(row.kind, row.topic) for row in told.topics] == [
        ("created", "pay"),
        ("created", "new"),
        ("removed", "pay"),
    ]
    assert [row.value for row in told.configs] == ["5", None]


def test_a_torn_snapshot_is_refused_and_not_used() -> None:
    told = history(topic(), partition(), snapshots=(snapshot(90, topic("new", OTHER), footer=False),))
    assert [refusal.kind for refusal in told.refusals] == ["torn_tail"]
    assert [row.topic for row in told.topics] == ["pay"]


def test_holes_and_returns_in_the_offsets_are_refused_by_name() -> None:
    late = history(change(leader=2), change(leader=3), start=9)
    expected = ["metadata offset 0 or a snapshot up to this record", "the partition's registration before its changes"]
    assert [refusal.expected for refusal in late.refusals] == expected
    assert late.skipped == (("PartitionChange of an unknown partition", 2),)
    twice = metadata_history([*inputs(topic(), partition()), *inputs(topic())], ORIGIN)
    assert [refusal.found for refusal in twice.refusals] == ["offset 0"]
    assert len(twice.topics) == 1


def test_epochs_beyond_int32_are_refused() -> None:
    told = history(topic(), partition(epochs=(2**31 - 1, 0)), change(leader=2))
    assert [refusal.expected for refusal in told.refusals] == ["epochs within int32"]
    assert len(told.partitions) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x/00000000000000000042-0000000007.checkpoint", SnapshotId(end_offset=42, epoch=7)),
        ("bootstrap.checkpoint", None),
        ("00000000000000000042-0000000007.checkpoint.part", None),
        ("99999999999999999999-0000000007.checkpoint", None),
        ("replication-offset-checkpoint", None),
    ],
)
def test_snapshot_names(name: str, expected: SnapshotId | None) -> None:
    assert snapshot_id(name) == expected


RECORDS = st.sampled_from([
    topic(), topic("b", OTHER), partition(), partition(topic_id=OTHER), partition(leader=3, epochs=(4, 9)),
    change(leader=2), change(leader=-1, isr=(), elr=(1,)), change(isr=(1,), topic_id=OTHER), clear_elr("pay"),
    clear_elr(""), config("a", "1"), config("a", None), b"\x01\x09\x00" + PAY + b"\x00", BEGIN, END, ABORT, NO_OP, b"",
    b"\x01\x06\x00",
])  # fmt: skip


@settings(max_examples=cases(40))
@given(st.lists(st.one_of(RECORDS, st.binary(max_size=30)), max_size=40))
def test_any_log_folds_and_its_rows_fit_their_tables(values: list[bytes]) -> None:
    told = history(*values)
    assert to_arrow(told.partitions, TABLES["metadata_changes"]).num_rows == len(told.partitions)
    assert to_arrow(told.refusals, TABLES["refusals"]).num_rows == len(told.refusals)


LEADERS = st.none() | st.integers(-1, 3)
ISRS = st.none() | st.lists(st.integers(1, 3), max_size=9)


@given(st.lists(st.tuples(LEADERS, ISRS), max_size=30))
def test_epochs_are_numbers_of_changes(changes: list[tuple[int | None, list[int] | None]]) -> None:
    told = history(topic(), partition(), *(change(leader=leader, isr=isr) for leader, isr in changes))
    elections = [sum(leader is not None for leader, _ in changes[:count]) for count in range(len(changes) + 1)]
    assert epochs(told) == list(zip(elections, range(len(changes) + 1), strict=True))


@given(st.lists(RECORDS, max_size=30), st.integers(0, 30))
def test_a_log_read_to_a_point_tells_the_beginning_of_what_the_whole_tells(values: list[bytes], cut: int) -> None:
    whole, part = history(*values), history(*values[:cut])
    assert whole.partitions[: len(part.partitions)] == part.partitions
    assert whole.configs[: len(part.configs)] == part.configs
