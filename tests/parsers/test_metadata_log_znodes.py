"""Znodes saved as files tell the same table, and take their place before KRaft's history."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.metadata_log import Znode, parse_znode_text, znode_place, znode_settings, znode_states
from parsers.provenance import Origin
from parsers.tables import MetadataChange, to_arrow
from tests.lab.effort import cases

STATE = b'{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,1]}'
TOPIC = (
    b'{"removing_replicas":{"0":[3]},"partitions":{"0":[1,2,3],"1":[2,3,1]},'
    b'"topic_id":"AAECAwQFBgcICQoLDA0ODw","adding_replicas":{},"version":3}'
)
STATE_PATH = "zk/brokers/topics/pay/partitions/0/state"


def znode(path: str, content: bytes, version: int | None = None) -> Znode:
    return Znode(origin=Origin(source=path), path=path, content=content, version=version)


def state_row() -> MetadataChange:
    return znode_states([znode(STATE_PATH, STATE, 11), znode("zk/brokers/topics/pay", TOPIC)]).rows[0]


def test_a_partition_and_its_assignment() -> None:
    parsed = znode_states([znode(STATE_PATH, STATE, 11), znode("zk/brokers/topics/pay", TOPIC)])
    assert parsed.refusals == ()
    (row,) = parsed.rows
    assert (row.topic, row.topic_id, row.partition, row.kind) == ("pay", "AAECAwQFBgcICQoLDA0ODw", 0, "snapshot")
    assert (row.leader, row.leader_epoch, row.partition_epoch, row.controller_epoch) == (2, 5, 11, 3)
    assert (row.isr, row.replicas, row.removing_replicas, row.adding_replicas) == ("2,1", "1,2,3", "3", "")
    assert (row.elr, row.offset, row.span_end) == (None, None, len(STATE))


def test_a_partition_without_its_topics_znode_has_no_assignment() -> None:
    (row,) = znode_states([znode(STATE_PATH, STATE)]).rows
    assert (row.topic_id, row.replicas, row.partition_epoch) == (None, None, None)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/brokers/topics/a.b/partitions/12/state", ("a.b", 12)),
        ("brokers/topics/a-1", ("a-1", None)),
        ("/brokers/topics/a/partitions/x/state", None),
        ("/brokers/ids/1", None),
    ],
)
def test_paths(path: str, place: tuple[str, int | None] | None) -> None:
    assert znode_place(path) == place


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "malformed"),
        (b"[1]", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"leader":1,"leader_epoch":0,"controller_epoch":1}', "malformed"),
        (STATE.replace(b"5", b"true"), "malformed"),
        (STATE.replace(b"5", b"9" * 5000), "malformed"),
        (STATE.replace(b"5", b"2147483648"), "malformed"),
        (STATE.replace(b"}", b',"leader_recovery_state":300}'), "malformed"),
        (b" " * (5 << 20), "too_large"),
    ],
)
def test_other_contents_are_refused(content: bytes, kind: str) -> None:
    parsed = znode_states([znode(STATE_PATH, content)])
    assert (parsed.rows, [refusal.kind for refusal in parsed.refusals]) == ((), [kind])


@pytest.mark.parametrize("content", [b'{"partitions":{"x":[1]}}', b'{"partitions":[]}', b'{"topic_id":"\\ud800"}'])
def test_other_topics_are_refused(content: bytes) -> None:
    parsed = znode_states([znode("brokers/topics/pay", content)])
    assert [refusal.kind for refusal in parsed.refusals] == ["malformed"]


ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(-2, 9), max_size=3)
KEYS = ("leader", "isr", "leader_epoch", "controller_epoch", "leader_recovery_state")


@settings(max_examples=cases(60))
@given(st.fixed_dictionaries(dict.fromkeys(KEYS, ANY)))
def test_any_content_is_a_row_or_a_refusal(content: dict[str, object]) -> None:
    parsed = znode_states([znode(STATE_PATH, json.dumps(content).encode())])
    assert len(parsed.rows) + len(parsed.refusals) == 1
    assert to_arrow(parsed.rows, MetadataChange).num_rows == len(parsed.rows)


LOOPED = b"""/brokers/topics/pay/partitions/0/state
Connecting to localhost:2181

WATCHER::

WatchedEvent state:SyncConnected type:None path:null
{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,1]}
cZxid = 0x3b
mtime = Sat Nov 21 21:07:59 UTC 2026
dataVersion = 11
/brokers/topics/gone
org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for /brokers/topics/x
[zk: localhost:2181(CONNECTED) 4] get /config/topics/pay
{"version":1,"config":{"retention.ms":"1000","sasl.jaas.config":"x"}}
mtime = Sat Nov 21 21:07:59 CET 2026
{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":6,"isr":[1]}
[zk: localhost:2181(CONNECTED) 5] get /brokers/ids/1
{"version":5,"host":"x"}
"""


def test_a_transcript_tells_what_stands_behind_a_path() -> None:
    parsed = parse_znode_text(LOOPED, Origin(source="zk.txt"))
    state, settings = parsed.rows
    assert LOOPED[state.start : state.start + len(state.content)] == state.content
    (row,) = znode_states([state]).rows
    assert (row.topic, row.partition, row.leader_epoch, row.partition_epoch) == ("pay", 0, 5, 11)
    assert row.time == 1795295279000
    told = znode_settings([state, settings]).rows
    assert [(r.topic, r.name, r.value, r.time) for r in told] == [
        ("pay", "retention.ms", "1000", None),
        ("pay", "sasl.jaas.config", "[hidden]", None),
    ]
    (refusal,) = parsed.refusals
    assert refusal.expected == "the znode's path on a line before its content"
    assert LOOPED[refusal.span_start : refusal.span_end].startswith(b'{"controller_epoch":3,"leader":1')


@given(st.lists(st.sampled_from(LOOPED.splitlines()), max_size=20), st.binary(max_size=40))
def test_transcripts_cut_and_mixed_stay_within_themselves(lines: list[bytes], junk: bytes) -> None:
    data = b"\n".join([*lines, junk, *lines[:3]])
    parsed = parse_znode_text(data, Origin(source="zk.txt"))
    for row in parsed.rows:
        assert data[row.start : row.start + len(row.content)] == row.content
    for refusal in parsed.refusals:
        assert 0 <= refusal.span_start < refusal.span_end <= len(data)


@pytest.mark.parametrize("content", [b'{"config":[]}', b'{"config":{"a":1}}', b"{", b"[]"])
def test_settings_that_are_none_are_refused(content: bytes) -> None:
    parsed = znode_settings([znode("zk/config/topics/pay", content)])
    assert (parsed.rows, len(parsed.refusals)) == ((), 1)


def test_brokers_settings_and_their_default() -> None:
    content = b'{"version":1,"config":{"log.retention.ms":"5"}}'
    znodes = [znode(f"/config/brokers/{name}", content) for name in ("7", "<default>")]
    assert [(r.resource_type, r.resource) for r in znode_settings(znodes).rows] == [("broker", "7"), ("broker", "")]
