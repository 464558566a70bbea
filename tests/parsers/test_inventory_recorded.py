"""The inventory of every recorded dump: counts, owners, ids."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from parsers.files import read_source
from parsers.inventory import Inventory, plain_segments, take_inventory

SAMPLES = Path(__file__).parents[2] / "sample_logs"
CASES = sorted(path.parent.name for path in SAMPLES.glob("*/dump"))
REPLICAS = {
    "acks_one_lost": 7, "bit_rot_payload": 7, "clean_1_1": 33, "clean_2_8": 33, "clean_4x": 37, "clean_mixed": 37,
    "compaction_race": 7, "epoch_checkpoint_deleted": 7, "fast_failover_kip101": 2, "fast_failover_kip279": 5,
    "lost_pages_hw": 2, "recreated_topic": 9, "unclean_4x": 7, "unclean_rejoined": 7,
}  # fmt: skip


@cache
def inventory_of(case: str) -> Inventory:
    return take_inventory(SAMPLES / case / "dump")


def test_every_recording_is_covered() -> None:
    assert set(CASES) >= set(REPLICAS)


@pytest.mark.parametrize("case", sorted(REPLICAS))
def test_counts_and_no_refusals(case: str) -> None:
    inventory = inventory_of(case)
    on_disk = sum(len(files) for _, _, files in os.walk(SAMPLES / case / "dump"))
    assert inventory.refusals == ()
    assert len(inventory.files) == on_disk
    assert len(inventory.replicas) == REPLICAS[case]
    assert not any(file.kind == "unknown" for file in inventory.files)
    assert not any(replica.ambiguous for replica in inventory.replicas)
    assert not any(log_dir.ambiguous for log_dir in inventory.log_dirs)
    assert [file.origin.source for file in inventory.files] == sorted(file.origin.source for file in inventory.files)


@pytest.mark.parametrize("case", sorted(REPLICAS))
def test_every_source_leads_back_to_its_file(case: str) -> None:
    root = SAMPLES / case / "dump"
    for file in inventory_of(case).files:
        content = read_source(root, file.origin)
        assert isinstance(content, bytes)
        assert len(content) == file.size


@pytest.mark.parametrize("case", sorted(REPLICAS))
def test_every_folder_names_its_own_broker(case: str) -> None:
    for file in inventory_of(case).files:
        folder = file.origin.source.partition("/")[0]
        expected = None if folder == "zookeeper" else int(folder.rpartition("-")[2])
        assert file.origin.broker == expected, file.origin.source


@pytest.mark.parametrize(
    ("case", "cluster_id"),
    [("clean_1_1", None), ("clean_2_8", "SP9M5FPMSuaeKS0waJUevA"), ("clean_4x", "MkU3OEVBNTcwNTJENDM2Qg")],
)
def test_cluster_ids(case: str, cluster_id: str | None) -> None:
    inventory = inventory_of(case)
    assert {log_dir.cluster_id for log_dir in inventory.log_dirs} == {cluster_id}
    logs = [file for file in inventory.files if file.origin.source == "broker-2/logs/server.log"]
    assert [(file.kind, file.origin.cluster_id, file.origin.log_dir) for file in logs] == [
        ("broker-log", cluster_id, None)
    ]


def test_log_dirs_of_a_current_release() -> None:
    by_broker = {log_dir.broker: log_dir for log_dir in inventory_of("clean_4x").log_dirs}
    first, controller = by_broker[1], by_broker[100]
    assert (first.path, first.meta_version) == ("broker-1/data", 1)
    assert first.clean_shutdown is not None
    assert first.clean_shutdown.source == "broker-1/data/.kafka_cleanshutdown"
    assert first.directory_id == "_Shu4lyL3IBMqVxxiaWJGw"
    assert first.meta is not None
    assert (first.meta.source, first.meta.start) == ("broker-1/data/meta.properties", 0)
    assert controller.clean_shutdown is None


def test_log_dirs_of_an_old_release() -> None:
    for log_dir in inventory_of("clean_1_1").log_dirs:
        assert (log_dir.meta_version, log_dir.directory_id) == (0, None)
        assert log_dir.clean_shutdown is not None


def test_a_recreated_topic_has_two_ids() -> None:
    replicas = [replica for replica in inventory_of("recreated_topic").replicas if replica.origin.topic == "again"]
    found = sorted((replica.origin.broker, replica.state, replica.origin.topic_id) for replica in replicas)
    old, new = "ZKLmK9Y_S2e0qQ8Ou4DFGA", "e_HPwW7vQRahpqTyaLX_mA"
    assert {topic_id for _, _, topic_id in found} == {old, new}
    assert [(broker, state) for broker, state, _ in found] == [
        (1, "current"), (1, "deleted"), (2, "current"), (2, "deleted"), (3, "current"),
    ]  # fmt: skip
    by_broker = {broker: topic_id for broker, state, topic_id in found if state == "current"}
    assert by_broker[1] == by_broker[2] != by_broker[3]


def test_topics_and_partitions_come_from_the_directory_name() -> None:
    names = {(replica.origin.topic, replica.origin.partition) for replica in inventory_of("clean_mixed").replicas}
    assert {("my-topic.v2", 0), ("orders", 2), ("__consumer_offsets", 1), ("__cluster_metadata", 0)} <= names


def test_kinds_of_a_recording() -> None:
    kinds = {file.origin.source: file.kind for file in inventory_of("clean_mixed").files}
    assert kinds["broker-1/data/bootstrap.checkpoint"] == "kraft-snapshot"
    assert kinds["broker-1/data/__cluster_metadata-0/quorum-state"] == "quorum-state"
    assert kinds["broker-1/logs/kafka-request.log"] == "request-log"
    assert kinds["broker-1/logs/state-change.log"] == "broker-log"
    assert kinds["broker-1/data/.kafka_cleanshutdown"] == "clean-shutdown"


def test_segments_of_a_recording_are_in_the_order_of_their_offsets() -> None:
    inventory = inventory_of("clean_1_1")
    files = inventory.files_by_folder()["broker-2/data/short-0"]
    result = plain_segments(files)
    assert [file.base_offset for file in result.segments] == [0, 30, 60, 90, 120]
    assert result.left_out == ()
    later = plain_segments(inventory.files_by_folder()["broker-3/data/short-0"])
    assert [file.base_offset for file in later.segments] == [150]
    assert len(later.left_out) == 9
    assert {left.reason for left in later.left_out} == {"waits for its deletion"}


def test_segments_of_a_deleted_directory_in_a_recording() -> None:
    inventory = inventory_of("recreated_topic")
    deleted = next(replica for replica in inventory.replicas if replica.state == "deleted")
    files = inventory.files_by_folder()[deleted.path]
    assert {file.origin.topic for file in files} == {"again"}
    assert {file.origin.state for file in files} == {"deleted"}
