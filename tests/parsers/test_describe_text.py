"""Outputs of `--describe`, as releases since 1.0 print them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.describe_text import parse_describe_text
from parsers.provenance import Origin
from parsers.tables import Description

ORIGIN = Origin(source="describe.txt")
SAMPLES = Path(__file__).parents[2] / "sample_logs"

TOPICS = """Topic: pay\tTopicId: xcq385rNTkaYtHO3h4VBjA\tPartitionCount: 2\tConfigs: min.insync.replicas=2
\tTopic: pay\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 2,3\tElr: 1\tLastKnownElr: \t
\tTopic: pay\tPartition: 1\tLeader: none\tReplicas: 1,2,3\tIsr: \tElr: N/A\tLastKnownElr: N/A
"""
OLD_TOPICS = """Topic:t\tPartitionCount:1\tReplicationFactor:2\tConfigs:
\tTopic: t\tPartition: 0\tLeader: -1\tReplicas: 1,2\tIsr: 2
"""
CONFIGS = """Dynamic configs for topic pay are:
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, DEFAULT_CONFIG:x=1}
All configs for broker 1 are:
  log.dirs=/d1,/d2 sensitive=false synonyms={STATIC_BROKER_CONFIG:log.dirs=/d1,/d2}
Configs for topic 'old' are cleanup.policy=compact,delete,min.insync.replicas=1
"""
GROUPS = """
Consumer group 'g' has no active members.

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG CONSUMER-ID     HOST            CLIENT-ID
g               orders          0          120             100             -20 - - -
g               orders          1          -               100             -               c-1 x       /127.0.0.1      c

GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
g                         127.0.0.1:9092  (1)       range                Stable               1
"""
OLD_GROUPS = """TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID  HOST  CLIENT-ID
orders  0          10              12              2          -            -     -
"""
QUORUM = """ClusterId:              AAAA
LeaderId:               100
LeaderEpoch:            3
HighWatermark:          120
MaxFollowerLag:         2
MaxFollowerLagTimeMs:   500
CurrentVoters:          [{"id": 100, "directoryId": null, "endpoints": ["CONTROLLER://h:1"]}, {"id": 101}]
CurrentObservers:       [1,2,3]
NodeId\tDirectoryId           \tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus  \t
100   \tAAAAAAAAAAAAAAAAAAAAAA\t120         \t0  \t1795240181684     \t1795240181684        \tLeader  \t
1     \tAAAAAAAAAAAAAAAAAAAAAA\t118         \t2  \t1795240181684     \t1795240181684        \tObserver\t
"""


def rows(text: str) -> tuple[Description, ...]:
    parsed = parse_describe_text(text.encode(), ORIGIN)
    assert parsed.refusals == ()
    return parsed.rows


def test_partitions_tell_leader_replicas_isr_and_eligible_leaders() -> None:
    topic, first, second = rows(TOPICS)
    assert (topic.kind, topic.topic, topic.topic_id, topic.value) == (
        "topic",
        "pay",
        "xcq385rNTkaYtHO3h4VBjA",
        "min.insync.replicas=2",
    )
    assert (first.partition, first.leader, first.replicas, first.isr, first.elr, first.last_known_elr) == (
        0,
        2,
        "1,2,3",
        "2,3",
        "1",
        "",
    )
    assert (second.leader, second.isr, second.elr, second.last_known_elr) == (None, "", None, None)


def test_old_topics_print_neither_ids_nor_eligible_leaders() -> None:
    topic, partition = rows(OLD_TOPICS)
    assert (topic.topic, topic.topic_id, topic.value) == ("t", None, "")
    assert (partition.leader, partition.isr, partition.elr) == (-1, "2", None)


@pytest.mark.parametrize("printed", ["x", "xcq385rNTkaYtHO3h4VB=A", "xcq385rNTkaYtHO3h4VBjAA", "²" * 22])
def test_a_topic_id_that_is_none_is_refused(printed: str) -> None:
    parsed = parse_describe_text(f"Topic: pay\tTopicId: {printed}\tPartitionCount: 2\n".encode(), ORIGIN)
    assert (parsed.rows, [refusal.kind for refusal in parsed.refusals]) == ((), ["malformed"])


def test_configs_belong_to_the_entity_above_them() -> None:
    found = [(row.topic, row.broker, row.name, row.value, row.origin_of_value) for row in rows(CONFIGS)]
    assert found == [
        ("pay", None, "min.insync.replicas", "2", "DYNAMIC_TOPIC_CONFIG"),
        (None, 1, "log.dirs", "/d1,/d2", "STATIC_BROKER_CONFIG"),
        ("old", None, "cleanup.policy", "compact,delete", None),
        ("old", None, "min.insync.replicas", "1", None),
    ]


def test_groups_tell_offsets_and_states() -> None:
    note, ahead, unknown, state = rows(GROUPS)
    assert (note.group, note.value) == ("g", "has no active members")
    assert (ahead.topic, ahead.partition, ahead.offset, ahead.log_end_offset, ahead.lag) == ("orders", 0, 120, 100, -20)
    assert (unknown.offset, unknown.log_end_offset, unknown.lag) == (None, 100, None)
    assert (state.group, state.role, state.value) == ("g", "Stable", "1")
    assert [(row.group, row.offset, row.lag) for row in rows(OLD_GROUPS)] == [(None, 10, 2)]


def test_quorum_status_and_replicas() -> None:
    by_name = {row.name: row for row in rows(QUORUM) if row.kind == "quorum-status"}
    assert (by_name["LeaderId"].leader, by_name["LeaderEpoch"].epoch, by_name["HighWatermark"].high_watermark) == (
        100,
        3,
        120,
    )
    assert (by_name["CurrentVoters"].replicas, by_name["CurrentObservers"].replicas) == ("100,101", "1,2,3")
    replicas = [
        (row.broker, row.log_end_offset, row.lag, row.role) for row in rows(QUORUM) if row.kind == "quorum-replica"
    ]
    assert replicas == [(100, 120, 0, "Leader"), (1, 118, 2, "Observer")]


def test_spans_are_the_lines() -> None:
    data = (TOPICS + QUORUM).encode()
    for row in parse_describe_text(data, ORIGIN).rows:
        assert data[row.span_start : row.span_end] in data.split(b"\n")


def test_foreign_lines_are_refused_together() -> None:
    data = b"what is this\n\nnor this\n" + TOPICS.encode() + b"\tTopic: pay\tPartition: x\tLeader: 1\n"
    parsed = parse_describe_text(data, ORIGIN)
    assert len(parsed.rows) == 3
    assert [
        (refusal.span_start, data[refusal.span_start : refusal.span_end].count(b"\n")) for refusal in parsed.refusals
    ] == [
        (0, 2),
        (data.rindex(b"\tTopic"), 0),
    ]


def test_numbers_beyond_kafka_are_refused() -> None:
    parsed = parse_describe_text(TOPICS.replace("Leader: 2", "Leader: " + "9" * 12).encode(), ORIGIN)
    assert (len(parsed.rows), [refusal.kind for refusal in parsed.refusals]) == (2, ["malformed"])


@pytest.mark.parametrize("ids", ["1,x", "1,,2", "\u00b2", "-1", "4294967296", ","])
@pytest.mark.parametrize("column", ["Replicas", "Isr"])
def test_a_replica_set_that_is_none_is_refused(column: str, ids: str) -> None:
    line = {"Replicas": "1,2", "Isr": "1,2", column: ids}
    text = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: {Replicas}\tIsr: {Isr}\n".format(**line)
    parsed = parse_describe_text(text.encode(), ORIGIN)
    assert (parsed.rows, [refusal.kind for refusal in parsed.refusals]) == ((), ["malformed"])


def test_an_empty_isr_is_one_and_a_partition_has_a_number() -> None:
    text = "\tTopic: t\tPartition: {}\tLeader: none\tReplicas: 1,2\tIsr: \n"
    (row,) = parse_describe_text(text.format(0).encode(), ORIGIN).rows
    assert (row.replicas, row.isr) == ("1,2", "")
    assert parse_describe_text(text.format(-1).encode(), ORIGIN).rows == ()


@given(st.sampled_from([TOPICS, CONFIGS, GROUPS, QUORUM]), st.integers(0, 2000), st.binary(max_size=6))
def test_mutated_outputs_never_raise(text: str, place: int, patch: bytes) -> None:
    data = text.encode()
    at = place % len(data)
    mutated = data[:at] + patch + data[at + 3 :]
    parsed = parse_describe_text(mutated, ORIGIN)
    spans = [(row.span_start, row.span_end) for row in parsed.rows] + [
        (r.span_start, r.span_end) for r in parsed.refusals
    ]
    assert all(0 <= start < end <= len(mutated) for start, end in spans)


@pytest.mark.parametrize(
    "text", sorted((SAMPLES / "tool_texts").glob("[1-9]*/[!z]*.txt")), ids=lambda p: "-".join(p.parts[-2:])
)
def test_recorded_outputs_read_whole(text: Path) -> None:
    told = parse_describe_text(text.read_bytes(), ORIGIN)
    assert told.refusals == ()
    assert told.rows
