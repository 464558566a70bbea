"""The metadata logs of real clusters, held against Kafka's own decoder and what the brokers said they applied."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from msgspec import structs

from parsers.metadata_log import (
    MetadataHistory,
    MetadataInput,
    MetadataRecord,
    MetadataSnapshot,
    SnapshotId,
    decode_metadata_record,
    metadata_history,
    metadata_input,
)
from parsers.metadata_log.records import BrokerRegistrationChange, Endpoint, FeatureRange, PartitionChange
from parsers.provenance import Origin
from parsers.records import decode_entry
from parsers.tables import MetadataChange, Refusal, from_arrow, to_arrow
from parsers.tables.metadata import replica_ids

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LOGS = sorted(SAMPLES.glob("*/dump/*/data/__cluster_metadata-0/*.log"))
BOOTSTRAPS = sorted(SAMPLES.glob("*/dump/*/data/bootstrap.checkpoint"))
DECODED = sorted(SAMPLES.glob("dump_log_text/*/metadata.out"))

STARTED_TWICE = ("controller_restored", "migrated")
"""Recordings whose only controller was started once more, so that it was elected again."""
REGISTRATION = re.compile(
    r"state change for (?P<topic>\S+)-(?P<partition>\d+) with topic id (?:Some\()?(?P<id>[\w-]{22})\)?[, ]"
    r".*?(?:PartitionRegistration|LeaderAndIsrPartitionState)\((?P<state>.*?)\)(?: and| since)"
)


def inputs_of(path: Path) -> Iterator[MetadataInput]:
    data = path.read_bytes()
    origin = Origin(source=path.relative_to(SAMPLES).as_posix())
    position = 0
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        parsed = decode_entry(data[position : position + size], origin, position, payloads=True)
        assert not parsed.refusals
        yield from map(metadata_input, parsed.rows)
        position += size


@cache
def history_of(path: Path) -> MetadataHistory:
    origin = Origin(source=path.relative_to(SAMPLES).as_posix(), topic="__cluster_metadata", partition=0)
    return metadata_history(inputs_of(path), origin)


def controller_log(case: str) -> MetadataHistory:
    folder = SAMPLES / case / "dump/controller-100/data/__cluster_metadata-0"
    return history_of(folder / "00000000000000000000.log")


def without_address(row: MetadataChange) -> MetadataChange:
    return structs.replace(row, source="", span_start=0, span_end=0)


def test_there_are_recordings() -> None:
    assert len(LOGS) >= 36
    assert len(BOOTSTRAPS) >= 36
    assert DECODED


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-6:-3:2]))
def test_every_log_reads_whole(path: Path) -> None:
    history = history_of(path)
    assert (history.refusals, history.skipped) == ((), ())
    elections = 2 if path.relative_to(SAMPLES).parts[0] in STARTED_TWICE else 1
    assert [(row.kind, row.leader, row.voters) for row in history.quorum] == [("leader", 100, "100")] * elections
    assert {row.name for row in history.features} >= {"metadata.version"}
    assert from_arrow(to_arrow(history.partitions, MetadataChange), MetadataChange) == list(history.partitions)


def parted(case: str, path: Path) -> int | None:
    """From which offset on a node's metadata log is another one than the controller's, by the recording's truth."""
    truth = json.loads((SAMPLES / case / "truth.json").read_text(encoding="utf-8"))
    told = (demand for demand in truth["expect"] if demand["rule"] == "META001" and demand["partition"] == 0)
    starts = (d.get("startOffset") for d in told if f"broker-{d['brokers'][0]}" in path.parts)
    return next((start for start in starts if start is not None), None)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: "-".join(path.parts[-6:-3:2]))
def test_a_broker_tells_the_beginning_of_the_controllers_history(path: Path) -> None:
    """But for a broker whose log the truth calls another one from some offset on: there both tell other states."""
    case = path.relative_to(SAMPLES).parts[0]
    rows, whole = ([*map(without_address, log.partitions)] for log in (history_of(path), controller_log(case)))
    apart = parted(case, path)
    if apart is None:
        assert rows == whole[: len(rows)]
    else:
        assert [row for row in rows if row.offset < apart] == [row for row in whole if row.offset < apart]
        assert next(row for row in rows if row.offset >= apart) not in whole
    assert rows


@pytest.mark.parametrize("path", BOOTSTRAPS, ids=lambda path: "-".join(path.parts[-4:-1:2]))
def test_bootstrap_files_are_whole_snapshots(path: Path) -> None:
    snapshot = MetadataSnapshot(id=SnapshotId(end_offset=0, epoch=0), inputs=tuple(inputs_of(path)))
    history = metadata_history((), Origin(source=path.name), (snapshot,))
    assert history.refusals == ()
    assert [row.kind for row in history.quorum] == ["snapshot-header", "snapshot-footer"]
    levels = {"clean_4x": 30, "unclean_4x": 30, "recovery_quorum": 27}
    level = levels.get(path.relative_to(SAMPLES).parts[0], 21)
    assert [row.level for row in history.features if row.name == "metadata.version"] == [level]


@pytest.mark.parametrize("case", ["unclean_rejoined", "unclean_4x"])
def test_an_out_of_date_follower_was_elected(case: str) -> None:
    unclean = [row for row in controller_log(case).partitions if row.unclean]
    facts = [
        (row.topic, row.partition, row.previous_leader, row.leader, row.previous_isr, row.isr, row.leader_epoch)
        for row in unclean
    ]
    assert facts == [("pay", 0, 1, 2, "1", "2", 1)]
    assert (unclean[0].partition_epoch, unclean[0].leader_recovery_state) == (3, 1)


def test_two_quick_fail_overs_were_two_unclean_elections() -> None:
    unclean = [row for row in controller_log("fast_failover_kip279").partitions if row.unclean]
    facts = [(row.previous_leader, row.leader, row.previous_isr, row.isr, row.leader_epoch) for row in unclean]
    assert facts == [(-1, 2, "1", "2", 2), (-1, 1, "2", "1", 4)]


@pytest.mark.parametrize(
    "case",
    ["clean_mixed", "clean_4x", "acks_one_lost", "bit_rot_payload", "compaction_race", "recreated_topic"],
)
def test_clean_elections_stay_clean(case: str) -> None:
    assert not [row for row in controller_log(case).partitions if row.unclean]


def test_the_last_stop_of_a_cluster_leaves_its_last_leader_in_the_elr() -> None:
    # The broker that recovery_quorum is about was elected out of the ELR, and went on.
    logs = [path for path in LOGS if "recovery_quorum" not in path.parts]
    rows = [row for path in logs for row in history_of(path).partitions if row.elr or row.last_known_elr]
    assert {(row.leader, row.isr, row.unclean) for row in rows} == {(-1, "", False)}
    assert {row.elr == row.previous_isr == str(row.previous_leader) for row in rows} == {True}


def test_a_topic_made_anew_has_two_ids() -> None:
    topics = controller_log("recreated_topic").topics
    assert [row.kind for row in topics if row.topic == topics[0].topic] == ["created", "removed", "created"]
    assert len({row.topic_id for row in topics}) == 2
    removed = [row for row in controller_log("recreated_topic").partitions if row.kind == "removed"]
    assert [(row.topic, row.topic_id) for row in removed] == [(topics[0].topic, topics[0].topic_id)]


def registrations(case: str) -> Iterator[tuple[str, int, str, str]]:
    for path in sorted((SAMPLES / case / "dump").glob("broker-*/logs/*.log")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if match := REGISTRATION.search(line):
                yield match["topic"], int(match["partition"]), match["id"], match["state"]


def stated(state: str, name: str) -> str:
    match = re.search(rf"\b{name}=(\[[^\]]*\]|[-\w]+)", state)
    assert match, (name, state)
    return match[1].strip("[]").replace(" ", "")


@pytest.mark.parametrize("case", ["clean_mixed", "clean_4x", "unclean_rejoined", "unclean_4x"])
def test_brokers_applied_the_states_that_the_fold_computed(case: str) -> None:
    """The epochs stand in no record; the brokers printed what they had counted."""
    states = {
        (row.topic_id, row.partition, row.leader_epoch, row.partition_epoch): row
        for row in controller_log(case).partitions
    }
    seen = 0
    for topic, partition, topic_id, state in registrations(case):
        row = states[topic_id, partition, int(stated(state, "leaderEpoch")), int(stated(state, "partitionEpoch"))]
        assert (row.topic, str(row.leader)) == (topic, stated(state, "leader"))
        assert (row.isr, row.replicas) == (stated(state, "isr"), stated(state, "replicas"))
        if "elr=" in state:
            assert (row.elr, row.directories) == (stated(state, "elr"), stated(state, "directories"))
        seen += 1
    assert seen


JSON_NAMES = {
    "partitionId": "partition", "name": "name", "featureLevel": "level", "resourceName": "resource",
    "isMigratingZkBroker": "migrating_from_zookeeper", "endPoints": "endpoints", "zkMigrationState": "state",
}  # fmt: skip
FENCED = {-1: False, 1: True}


def attribute(name: str) -> str:
    return JSON_NAMES.get(name) or re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def plain(value: object) -> object:
    """A decoded value in the words of Kafka's JSON."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Endpoint):
        names = {"name": value.name, "host": value.host, "port": value.port}
        return {**names, "securityProtocol": value.security_protocol}
    if isinstance(value, FeatureRange):
        return {"name": value.name, "minSupportedVersion": value.minimum, "maxSupportedVersion": value.maximum}
    return value


def json_value(record: MetadataRecord, name: str, value: object) -> object:
    if isinstance(record, BrokerRegistrationChange) and name in ("fenced", "inControlledShutdown"):
        return FENCED[int(str(value))]
    return value


@pytest.mark.parametrize("text", DECODED, ids=lambda path: path.parent.name)
def test_records_read_as_kafkas_own_decoder_prints_them(text: Path) -> None:
    log = SAMPLES / text.read_text().splitlines()[0].removeprefix("Dumping ")
    values = {given.offset: given.value for given in inputs_of(log)}
    origin = Origin(source="x")
    compared = 0
    for line in text.read_text().splitlines():
        match = re.match(r"\| offset: (\d+) .*? payload: (\{.*\})$", line)
        if match is None:
            continue
        printed = json.loads(match[2])
        record = decode_metadata_record(values[int(match[1])] or b"", origin, origin.span(0, 1))
        assert not isinstance(record, Refusal)
        kind = "".join(word.capitalize() for word in printed["type"].removesuffix("_RECORD").split("_"))
        assert type(record).__name__ == kind
        for name, value in printed["data"].items():
            assert plain(getattr(record, attribute(name))) == json_value(record, name, value), (line, name)
        if isinstance(record, PartitionChange):
            named = {attribute(name) for name in printed["data"]}
            silent = [name for name in record.__struct_fields__ if name not in named]
            assert all(getattr(record, name) is None for name in silent)
        compared += 1
    assert compared > 80


def test_replica_sets_come_back_as_numbers() -> None:
    row = controller_log("unclean_rejoined").partitions[0]
    assert (replica_ids(row.replicas), replica_ids(row.elr), replica_ids(None)) == ((1, 2, 3), (), ())
