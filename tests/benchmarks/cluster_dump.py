"""A cluster at work, as a nightly scan meets it: many small partitions with their brokers' logs and request logs.

Every partition has three replicas that hold the same, is led by one of three brokers since epoch 0 of the metadata log,
and was appended to a few times; followers' fetches stand in the request log of its leader.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from parsers.writers.checkpoints import epoch_lines, offset_lines, write_partition_metadata, write_static_quorum_state
from parsers.writers.metadata_log import feature_level_value, partition_value, topic_value
from parsers.writers.segments import Record, batch_bytes, write_segment
from tests.benchmarks.busy_audit import JSON_ANSWERED, JSON_ASKED, JSON_HEAD, JSON_TAIL

BROKERS: Final = (1, 2, 3)
PARTITIONS_A_TOPIC: Final = 50
APPENDS: Final = 4
RECORDS: Final = 5
TIME: Final = "2026-11-21 05:%02d:%02d,%03d"
METADATA_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
STARTED: Final = (
    "[%s] INFO [Broker id=%d] Leader %s with topic id Some(%s) starts at leader epoch 0 from offset 0 with partition"
    " epoch 0, high watermark 0, ISR [1,2,3], adding replicas [] and removing replicas [] . Previous leader None and"
    " previous leader epoch was -1. (state.change.logger)\n"
)
LOADED: Final = (
    "[%s] INFO [Partition %s broker=%d] Log loaded for partition %s with initial high watermark 0 (k.Partition)\n"
)
FETCH: Final = (
    JSON_HEAD + '"requestApiVersion":12,"correlationId":%d,"clientId":"broker-%d-fetcher-0","requestApiKeyName":'
    '"FETCH"},"request":{"replicaId":%d,"maxWaitMs":500,"minBytes":1,"maxBytes":10485760,"isolationLevel":0,"sessionId":%d,'
    '"sessionEpoch":%d,"topics":[{"topic":"%s","partitions":[%s]}],"forgottenTopicsData":[],"rackId":""},"response":'
    '{"throttleTimeMs":0,"errorCode":0,"sessionId":%d,"responses":[{"topic":"%s","partitionResponses":[%s]}]},'
    + JSON_TAIL.replace("428.678", "2.014").replace("426.664", "0.0")
)
"""No fetch waits: each is answered before the next one comes, as its watermark has it."""
ASKED: Final = JSON_ASKED.replace('Epoch":3', 'Epoch":0')
RECORD_SET: Final = tuple(Record(value=b"v" * 99, offset_delta=delta) for delta in range(RECORDS))
Place = tuple[str, int]


def write_cluster(folder: Path, partitions: int) -> int:
    """Writes the dump and tells how many bytes its logs of all kinds have."""
    places = [(f"orders.{n // PARTITIONS_A_TOPIC}", n % PARTITIONS_A_TOPIC) for n in range(partitions)]
    topics = {topic: topic_id(number) for number, topic in enumerate(dict.fromkeys(topic for topic, _ in places))}
    batches = [
        batch_bytes(base_offset=RECORDS * n, leader_epoch=0, records=RECORD_SET)
        for n in range(APPENDS)
    ]
    for broker in BROKERS:
        log_dir = folder / f"broker-{broker}"
        for topic, partition in places:
            replica = log_dir / f"{topic}-{partition}"
            replica.mkdir(parents=True)
            write_segment(replica / f"{0:020}.log", batches)
            (replica / "leader-epoch-checkpoint").write_bytes(epoch_lines([(0, 0)]))
            (replica / "partition.metadata").write_bytes(write_partition_metadata(topics[topic]))
        (log_dir / "meta.properties").write_text(f"version=1\nnode.id={broker}\ncluster.id={METADATA_ID}\n")
        ends = offset_lines((topic, partition, APPENDS * RECORDS) for topic, partition in places)
        (log_dir / "replication-offset-checkpoint").write_bytes(ends)
        _write_metadata(log_dir / "__cluster_metadata-0", places, topics)
        _write_logs(log_dir / "logs", broker, [place for n, place in enumerate(places) if led_by(n) == broker], topics)
    return sum(path.stat().st_size for path in folder.rglob("*.log"))


def led_by(number: int) -> int:
    """The leader of a partition."""
    return BROKERS[number % len(BROKERS)]


def topic_id(number: int) -> str:
    """The id of a topic."""
    return base64.urlsafe_b64encode((number + 1 << 64).to_bytes(16)).decode().rstrip("=")


def _write_metadata(folder: Path, places: list[Place], topics: dict[str, str]) -> None:
    values = [feature_level_value("metadata.version", 7)]
    values += [topic_value(topic, known) for topic, known in topics.items()]
    for number, (topic, partition) in enumerate(places):
        known, leader = topics[topic], led_by(number)
        values.append(partition_value(known, partition, replicas=BROKERS, isr=BROKERS, leader=leader, leader_epoch=0))
    folder.mkdir()
    batches = (
        batch_bytes(base_offset=number, leader_epoch=1, records=(Record(value=value),))
        for number, value in enumerate(values)
    )
    write_segment(folder / f"{0:020}.log", batches)
    (folder / "partition.metadata").write_bytes(write_partition_metadata(METADATA_ID))
    (folder / "leader-epoch-checkpoint").write_bytes(epoch_lines([(1, 0)]))
    (folder / "quorum-state").write_bytes(write_static_quorum_state(leader_id=1, leader_epoch=1, current_voters=(1,)))


def _write_logs(folder: Path, broker: int, led: list[Place], topics: dict[str, str]) -> None:
    folder.mkdir()
    begun = TIME % (0, 0, 0)
    names = [(f"{topic}-{partition}", topics[topic]) for topic, partition in led]
    (folder / "state-change.log").write_text("".join(STARTED % (begun, broker, name, known) for name, known in names))
    (folder / "server.log").write_text("".join(LOADED % (begun, name, broker, name) for name, _ in names))
    followers = [other for other in BROKERS if other != broker]
    (folder / "kafka-request.log").write_text("".join(_fetches(led, followers)))


def _fetches(led: list[Place], followers: list[int]) -> Iterator[str]:
    """Every follower asks for all of a topic's partitions at once, once more than there are appends."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in led:
        by_topic.setdefault(topic, []).append(partition)
    number = 0
    for step in range(APPENDS + 2):
        offset, told = RECORDS * min(step, APPENDS), RECORDS * max(step - 1, 0)
        for topic, partitions in by_topic.items():
            asked = ",".join(ASKED % (each, offset) for each in partitions)
            for follower in followers:
                # The second to ask moves the high watermark, and the first hears of it with its next fetch.
                known = told if follower == followers[0] else offset
                answered = ",".join(JSON_ANSWERED % (each, known, known) for each in partitions)
                time, number = TIME % (1, number // 100 % 60, number % 100), number + 1
                head = (time, 1, number, follower, follower, 0, -1)
                yield FETCH % (*head, topic, asked, 0, topic, answered)


if __name__ == "__main__":
    import sys

    print(write_cluster(Path(sys.argv[1]), int(sys.argv[2])))
