"""Trees as people bring them: partial copies, several disks and clusters, double claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.inventory import Inventory, take_inventory
from parsers.tables import Refusal
from parsers.writers.checkpoints import write_meta_properties, write_partition_metadata

ID_A, ID_B = "ZKLmK9Y_S2e0qQ8Ou4DFGA", "e_HPwW7vQRahpqTyaLX_mA"
SEGMENT = "00000000000000000000.log"


def put(root: Path, path: str, content: bytes = b"") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def put_log_dir(
    root: Path, path: str, broker: int | None, *replicas: str, cluster: str = "C1", directory: str | None = None
) -> None:
    (root / path).mkdir(parents=True, exist_ok=True)
    if broker is not None:
        meta = write_meta_properties(broker=broker, cluster_id=cluster, directory_id=directory)
        put(root, f"{path}/meta.properties", meta)
    for replica in replicas:
        put(root, f"{path}/{replica}/{SEGMENT}")


def kinds(inventory: Inventory) -> dict[str, str]:
    return {file.origin.source: file.kind for file in inventory.files}


def owners(inventory: Inventory) -> dict[str, int | None]:
    return {file.origin.source: file.origin.broker for file in inventory.files}


def only_refusal(inventory: Inventory) -> Refusal:
    assert len(inventory.refusals) == 1, inventory.refusals
    return inventory.refusals[0]


def test_several_disks_of_one_broker_are_no_conflict(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "b1/disk1", 1, "t-0", directory="D1")
    put_log_dir(tmp_path, "b1/disk2", 1, "t-1", "u-0", directory="D2")
    inventory = take_inventory(tmp_path)
    assert inventory.refusals == ()
    assert [(log_dir.path, log_dir.broker) for log_dir in inventory.log_dirs] == [("b1/disk1", 1), ("b1/disk2", 1)]
    assert {replica.origin.log_dir for replica in inventory.replicas} == {"b1/disk1", "b1/disk2"}


def test_a_future_copy_is_no_conflict(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d1", 1, "t-0", directory="D1")
    put_log_dir(tmp_path, "d2", 1, f"t-0.{'a' * 32}-future", directory="D2")
    inventory = take_inventory(tmp_path)
    assert inventory.refusals == ()
    assert sorted(replica.state for replica in inventory.replicas) == ["current", "future"]


def test_two_directories_that_claim_one_replica_are_refused_by_name(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "b1/disk1", 1, "t-0", "t-1", directory="D1")
    put_log_dir(tmp_path, "b1/disk2", 1, "t-0", "u-0", directory="D2")
    inventory = take_inventory(tmp_path)
    refusal = only_refusal(inventory)
    assert (refusal.kind, refusal.found) == ("ambiguous", "b1/disk1/t-0 and b1/disk2/t-0")
    assert (refusal.topic, refusal.partition, refusal.broker) == ("t", 0, 1)
    assert [item.path for item in inventory.replicas if item.ambiguous] == ["b1/disk1/t-0", "b1/disk2/t-0"]


@pytest.mark.parametrize(("second_id", "conflict"), [(ID_A, True), (ID_B, False), (None, True)])
def test_topic_ids_tell_replicas_of_one_name_apart(tmp_path: Path, second_id: str | None, conflict: bool) -> None:
    put_log_dir(tmp_path, "d1", 1, "t-0", "x-0", directory="D1")
    put_log_dir(tmp_path, "d2", 1, "t-0", directory="D2")
    put(tmp_path, "d1/t-0/partition.metadata", write_partition_metadata(ID_A))
    if second_id:
        put(tmp_path, "d2/t-0/partition.metadata", write_partition_metadata(second_id))
    assert [refusal.kind for refusal in take_inventory(tmp_path).refusals] == ["ambiguous"] * conflict


@pytest.mark.parametrize("directory", ["D1", None])
def test_two_copies_of_one_log_dir_are_refused_once(tmp_path: Path, directory: str | None) -> None:
    put_log_dir(tmp_path, "broker-1", 1, "t-0", "u-0", directory=directory)
    put_log_dir(tmp_path, "broker-1-copy", 1, "t-0", "u-0", directory=directory)
    inventory = take_inventory(tmp_path)
    refusal = only_refusal(inventory)
    assert (refusal.kind, refusal.found) == ("ambiguous", "broker-1 and broker-1-copy")
    assert all(log_dir.ambiguous for log_dir in inventory.log_dirs)
    assert all(replica.ambiguous for replica in inventory.replicas)


def test_two_clusters_in_one_tree_stay_apart(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "east/kafka", 1, "t-0", cluster="C1")
    put_log_dir(tmp_path, "west/kafka", 1, "t-0", cluster="C2")
    put(tmp_path, "east/logs/server.log")
    put(tmp_path, "server.log")
    inventory = take_inventory(tmp_path)
    assert inventory.refusals == ()
    assert {replica.origin.cluster_id for replica in inventory.replicas} == {"C1", "C2"}
    by_source = {file.origin.source: file.origin for file in inventory.files}
    assert by_source["east/logs/server.log"].cluster_id == "C1"
    assert (by_source["server.log"].broker, by_source["server.log"].cluster_id) == (None, None)


@pytest.mark.parametrize("name", ["broker-7", "kafka-7", "node7", "7", "prod-kafka-7", "Broker_7"])
def test_a_partial_copy_takes_its_broker_from_a_folder_name(tmp_path: Path, name: str) -> None:
    put_log_dir(tmp_path, f"{name}/data", None, "t-0")
    inventory = take_inventory(tmp_path)
    assert inventory.refusals == ()
    assert [(item.path, item.broker) for item in inventory.log_dirs] == [(f"{name}/data", 7)]


def test_a_worded_folder_outweighs_a_numbered_disk(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "broker-3/data/1", None, "t-0")
    put_log_dir(tmp_path, "broker-3/data/2", None, "t-1")
    assert [log_dir.broker for log_dir in take_inventory(tmp_path).log_dirs] == [3, 3]


def test_a_folder_that_holds_another_broker_gives_no_name(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "kafka-3/a", 1, "t-0")
    put_log_dir(tmp_path, "kafka-3/b", None, "t-0")
    inventory = take_inventory(tmp_path)
    assert {log_dir.path: log_dir.broker for log_dir in inventory.log_dirs} == {"kafka-3/a": 1, "kafka-3/b": None}


def test_an_unknown_broker_is_refused_with_the_way_out(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "somewhere/data", None, "t-0")
    inventory = take_inventory(tmp_path)
    refusal = only_refusal(inventory)
    assert "--log-dir BROKER=somewhere/data" in refusal.expected
    assert "somewhere/data" in refusal.found
    assert [replica.origin.broker for replica in inventory.replicas] == [None]


@pytest.mark.parametrize("given", ["somewhere/data", "somewhere/data/", "./somewhere", "somewhere\\data"])
def test_the_user_can_name_a_broker(tmp_path: Path, given: str) -> None:
    put_log_dir(tmp_path, "somewhere/data", None, "t-0")
    inventory = take_inventory(tmp_path, log_dirs=[(4, given)])
    assert inventory.refusals == ()
    assert [item.broker for item in inventory.log_dirs] == [4]


def test_an_absolute_override_is_found_and_outweighs_the_disk(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "data", 1, "t-0")
    inventory = take_inventory(tmp_path, log_dirs=[(4, str(tmp_path / "data"))])
    assert [item.broker for item in inventory.log_dirs] == [4]


def test_an_override_of_no_folder_is_refused(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "data", 1, "t-0")
    assert only_refusal(take_inventory(tmp_path, log_dirs=[(4, "dat")])).found == "dat"


def test_an_override_for_two_brokers_is_refused(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "data", None, "t-0")
    refusal = only_refusal(take_inventory(tmp_path, log_dirs=[(4, "data"), (5, "data")]))
    assert (refusal.kind, refusal.found) == ("ambiguous", "4 and 5")


def test_a_partial_copy_joins_the_only_cluster(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "broker-1", 1, "t-0")
    put_log_dir(tmp_path, "broker-2", None, "t-0")
    by_path = {log_dir.path: log_dir for log_dir in take_inventory(tmp_path).log_dirs}
    assert by_path["broker-2"].cluster_id == "C1"


def test_a_log_dir_is_known_by_its_checkpoints_alone(tmp_path: Path) -> None:
    put(tmp_path, "broker-2/replication-offset-checkpoint", b"0\n0\n")
    assert [log_dir.broker for log_dir in take_inventory(tmp_path).log_dirs] == [2]


def test_the_root_may_be_the_log_dir(tmp_path: Path) -> None:
    put_log_dir(tmp_path, ".", 1, "t-0")
    inventory = take_inventory(tmp_path)
    assert [log_dir.path for log_dir in inventory.log_dirs] == ["."]
    assert [file.origin.source for file in inventory.files] == ["meta.properties", f"t-0/{SEGMENT}"]
    assert {file.origin.log_dir for file in inventory.files} == {"."}


def test_files_beside_log_dirs_belong_to_the_nearest_single_broker(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "b1/disk1", 1, "t-0", directory="D1")
    put_log_dir(tmp_path, "b1/disk2", 1, "t-1", directory="D2")
    put_log_dir(tmp_path, "b2/disk1", 2, "t-0")
    for path in ("b1/logs/server.log.2024-01-01-10", "b1/config/server.properties", "b2/kafka-request.log.1.gz",
                 "server.log", "broker-9/controller.log"):  # fmt: skip
        put(tmp_path, path)
    found = owners(take_inventory(tmp_path))
    assert found["b1/logs/server.log.2024-01-01-10"] == found["b1/config/server.properties"] == 1
    assert (found["b2/kafka-request.log.1.gz"], found["server.log"], found["broker-9/controller.log"]) == (2, None, 9)


def test_kinds_of_everyday_files(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d", 1, "t-0", "__cluster_metadata-0")
    expected = {
        "d/.lock": "leftover",
        "d/replication-offset-checkpoint.tmp": "leftover",
        "d/bootstrap.checkpoint": "kraft-snapshot",
        "d/lost+found/x": "unknown",
        f"d/remote-log-index-cache/12_{ID_A}.index": "leftover",
        "d/t-0/00000000000000000005.log.deleted": "leftover",
        "d/t-0/00000000000000000005.log.cleaned": "leftover",
        "d/t-0/00000000000000000005.log.swap": "segment",
        "d/t-0/00000000000000000005.timeindex.swap": "time-index",
        "d/t-0/00000000000000000005.txnindex": "transaction-index",
        "d/t-0/LEADER-EPOCH-CHECKPOINT": "leader-epoch-checkpoint",
        "d/t-0/partition.metadata.tmp": "leftover",
        "d/t-0/٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٤٢.log": "segment",
        "d/__cluster_metadata-0/00000000000000000100-0000000003.checkpoint": "kraft-snapshot",
        "d/__cluster_metadata-0/00000000000000000100-0000000003.checkpoint.deleted": "leftover",
        "d/__cluster_metadata-0/00000000000000000100-0000000003-1234567.checkpoint.part": "leftover",
        "logs/server.log.1": "broker-log",
        "logs/state-change.log": "broker-log",
        "logs/kafka-request.log.2024-01-01-00.gz": "request-log",
        "config/server.properties": "server-properties",
        "notes.txt": "unknown",
    }
    for path in expected:
        put(tmp_path, path)
    inventory = take_inventory(tmp_path)
    assert {path: kinds(inventory)[path] for path in expected} == expected
    arabic = next(file for file in inventory.files if "٤٢" in file.origin.source)
    assert arabic.base_offset == 42


@pytest.mark.parametrize(
    "head", [b"Dumping /x/0.log\n", b"Starting offset: 0\n", b"\xef\xbb\xbfLog starting offset: 0\n"]
)
def test_dump_texts_are_known_by_their_first_bytes(tmp_path: Path, head: bytes) -> None:
    put(tmp_path, "texts/t-0.out", head)
    put(tmp_path, f"texts/{SEGMENT}", head)
    inventory = take_inventory(tmp_path)
    assert set(kinds(inventory).values()) == {"dump-text"}
    assert inventory.refusals == ()


def test_segments_outside_a_replica_directory_are_refused_not_forgotten(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d", 1, "t-0")
    put(tmp_path, f"d/not a topic/{SEGMENT}")
    refusal = only_refusal(take_inventory(tmp_path))
    assert (refusal.kind, refusal.source) == ("malformed", "d/not a topic")


def test_an_unreadable_topic_id_is_refused_and_null(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d", 1, "t-0")
    put(tmp_path, "d/t-0/partition.metadata", b"version: 0\ntopic_id: nonsense")
    inventory = take_inventory(tmp_path)
    refusal = only_refusal(inventory)
    assert (refusal.kind, refusal.source, refusal.topic) == ("malformed", "d/t-0/partition.metadata", "t")
    assert [replica.origin.topic_id for replica in inventory.replicas] == [None]


def test_a_broken_meta_properties_is_refused_and_the_folder_name_serves(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "broker-5", None, "t-0")
    put(tmp_path, "broker-5/meta.properties", b"version=1\nnode.id=five\n")
    inventory = take_inventory(tmp_path)
    assert only_refusal(inventory).source == "broker-5/meta.properties"
    assert [item.broker for item in inventory.log_dirs] == [5]


def test_windows_line_ends_in_identity_files(tmp_path: Path) -> None:
    put_log_dir(tmp_path, "d", None, "t-0")
    put(tmp_path, "d/meta.properties", b"#\r\nversion=1\r\nnode.id=3\r\ncluster.id=C\r\n")
    put(tmp_path, "d/t-0/partition.metadata", f"version: 0\r\ntopic_id: {ID_A}\r\n".encode())
    inventory = take_inventory(tmp_path)
    assert inventory.refusals == ()
    origin = inventory.replicas[0].origin
    assert (origin.broker, origin.cluster_id, origin.topic_id) == (3, "C", ID_A)


@pytest.mark.parametrize("root", ["absent", "file"])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, root: str) -> None:
    put(tmp_path, "file")
    inventory = take_inventory(tmp_path / root)
    assert (only_refusal(inventory).kind, inventory.files) == ("unreadable", ())


def test_an_empty_folder_has_an_empty_inventory(tmp_path: Path) -> None:
    assert take_inventory(tmp_path) == Inventory()


def test_the_inventory_does_not_depend_on_where_the_dump_lies(tmp_path: Path) -> None:
    for place in ("x/dump", "y/z/dump"):
        put_log_dir(tmp_path / place, "broker-1", 1, "t-0", "t-1")
        put_log_dir(tmp_path / place, "elsewhere", None, "t-0")
    assert take_inventory(tmp_path / "x/dump") == take_inventory(tmp_path / "y/z/dump")
