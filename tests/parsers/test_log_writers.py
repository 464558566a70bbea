"""What is written of a simulated run reads back as the rows that it was written from, in each release's wording."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from msgspec.structs import asdict

from auditor.simulation.journal_rows import Recorder
from parsers.broker_log import Reading
from parsers.metadata_log.decode import decode_value
from parsers.metadata_log.records import Partition, PartitionChange
from parsers.provenance import Origin
from parsers.tables import BrokerEvent
from parsers.tables.requests import Fetch, IsrRequest
from parsers.writers.broker_log import event_line
from parsers.writers.metadata_log import partition_change_value, partition_value
from parsers.writers.request_log import request_line
from rules.simulator.generation import generation
from rules.simulator.script import read_events
from rules.simulator.state import Cluster, TopicSettings
from rules.simulator.step import create, step
from tests.lab.whole_logs import parse_events, read_request_log
from tests.replaced import replace

RELEASES = ["1.0.2", "1.1.1", "2.0.1", "2.3.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2", "3.2.0", "3.5.0", "3.9.1", "4.3.0"]
STORY = """produce 1 a(3)
fetch 2
fetch 2
fetch 3
checkpoint 2
produce 1 b acks=1
wait 31s
check
fetch 2
fetch 3
expand 2
expand 3
produce 1 c
ask 2
crash 2
restart 2
fetch 2
elect 3 unclean told=3
produce 1 z acks=1
produce 3 d acks=1
fetch 1
tell 1
tell 2
fetch 2
fetch 1
fetch 1
shrink 2
crash 3
lose 3 to 1
elect
restart 3
fetch 3
fetch 3
shutdown 1
produce 2 e acks=0""".splitlines()
OURS = ("trust", "trust_reason", "doubtful", "logger", "cluster_id", "log_dir", "span_start", "span_end", "source")


def numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def played(release: str) -> Recorder:
    versions = [generation(release)] * 3
    cluster: Cluster = create((1, 2, 3), versions, TopicSettings(min_insync_replicas=2, unclean_leader_election=True))  # type: ignore[arg-type]
    recorder = Recorder({broker.id: broker.generation for broker in cluster.brokers})
    recorder.record(cluster)
    for event in read_events(STORY):
        cluster = step(cluster, event)
        recorder.record(cluster)
    return recorder


def told(row: object) -> dict[str, object]:
    return {name: value for name, value in asdict(row).items() if name not in OURS}  # type: ignore[call-overload]


@pytest.mark.parametrize("release", RELEASES)
def test_every_line_of_a_broker_reads_back_as_its_row(release: str) -> None:
    kinds: set[str] = set()
    for journal in played(release).journals.values():
        rows = [*journal.server, *journal.state_change]
        text = b"".join(event_line(row, numbers(release)) for row in rows)
        origin = Origin(source="server.log", broker=journal.node)
        read = parse_events(text, Reading(origin=origin))
        assert read.refusals == ()
        assert [told(row) for row in read.rows] == [told(row) for row in rows]
        kinds |= {row.kind for row in rows}
    assert {"leader-starts", "log-loaded", "isr-shrinking", "truncating"} <= kinds


@pytest.mark.parametrize("release", RELEASES)
def test_every_request_reads_back_as_its_rows(release: str, tmp_path: Path) -> None:
    apis: set[str] = set()
    for journal in played(release).journals.values():
        path = tmp_path / f"kafka-request.log.{journal.node}"
        lines = [list(rows) for _, rows in groupby(journal.requests, key=lambda row: (type(row), row.correlation_id))]
        path.write_bytes(b"".join(request_line(rows, numbers(release)) for rows in lines))
        origin = Origin(source=path.name, broker=journal.node)
        log = read_request_log(path, origin)
        assert log.refusals == ()
        read = [row for row in log.fetches(origin) if isinstance(row, Fetch)]
        assert [told(row) for row in read] == [told(row) for row in journal.requests if isinstance(row, Fetch)]
        others = (*log.produces, *log.epoch_requests, *log.offset_requests, *log.isr_requests)
        rows = sorted((r for r in journal.requests if not isinstance(r, Fetch)), key=lambda r: KINDS[type(r).__name__])
        assert [told(row) for row in others] == [told(row) for row in rows]
        apis |= {row.api if isinstance(row, IsrRequest) else type(row).__name__ for row in journal.requests}
    assert {"Fetch", "Produce"} <= apis


KINDS = {"Produce": 0, "EpochRequest": 1, "OffsetRequest": 2, "IsrRequest": 3}


def test_partitions_and_their_changes_read_back() -> None:
    topic_id = "c2ltdWxhdGVkLXRvcGljMA"
    made = decode_value(partition_value(topic_id, 0, replicas=(2, 3, 1), isr=(2, 3), leader=2, leader_epoch=0))
    assert isinstance(made, Partition)
    assert (made.topic_id, made.replicas, made.isr, made.leader) == (topic_id, (2, 3, 1), (2, 3), 2)
    changed = decode_value(partition_change_value(topic_id, 0, isr=(3,), leader=3, leader_recovery_state=1))
    assert changed == PartitionChange(partition=0, topic_id=topic_id, isr=(3,), leader=3, leader_recovery_state=1)


RECORDED = Path(__file__).parents[2] / "sample_logs"


@pytest.mark.parametrize(
    ("case", "release"),
    [("clean_1_1", "1.1.1"), ("clean_2_8", "2.8.2"), ("clean_mixed", "3.9.1"), ("clean_4x", "4.3.0")],
)
def test_roles_and_isrs_are_worded_as_recorded_brokers_word_them(case: str, release: str) -> None:
    """Each line of a recording that tells a role or an ISR is what the writer makes of the row that it is read into."""
    kinds = ("leader-starts", "follower-starts", "isr-updated", "isr-expanding", "truncating", "truncation-no-effect")
    seen: set[str] = set()
    for name in ("server.log", "state-change.log"):
        data = (RECORDED / case / "dump" / "broker-1" / "logs" / name).read_bytes()
        origin = Origin(source=name, broker=1)
        for row in parse_events(data, Reading(origin=origin)).rows:
            if row.kind in kinds:
                assert event_line(row, numbers(release)) == data[row.span_start : row.span_end] + b"\n"
                seen.add(row.kind)
    assert seen


def test_a_kind_without_wording_is_refused() -> None:
    row = played("3.9.1").journals[1].server[0]
    with pytest.raises(ValueError, match="swap-found"):
        event_line(replace(row, kind="swap-found"), (3, 9, 1))
    assert isinstance(row, BrokerEvent)
