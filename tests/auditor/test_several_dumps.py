"""Several folders as one dump: one a broker, one a disk, wherever they lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES, audited, copied, told, violations

from auditor.audit import prepare
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import gather
from auditor.report.html.incident_page import render as story
from auditor.report.html.page import render as overview
from auditor.report.postmortem.document import render as postmortem
from auditor.report.terminal import render
from parsers.inventory import take_inventory


def test_folders_given_one_by_one_say_what_their_parent_says(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    whole = told(dump)
    parts = told([dump / "broker-2", dump / "broker-1"])
    assert parts["findings"] == whole["findings"]
    assert parts["replicas"] == whole["replicas"]


def test_only_the_given_folders_are_walked(tmp_path: Path) -> None:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    report = told([dump / "broker-1", dump / "broker-2"], partial=True)
    assert {replica["broker"] for replica in report["replicas"]} == {1, 2}
    assert report["verdict"] == "clean"
    assert all(replica["path"].startswith("broker-") for replica in report["replicas"])
    sources = {file.origin.source for file in take_inventory(dump, parts=["broker-1", "broker-2"]).files}
    assert sources
    assert all(source.startswith(("broker-1/", "broker-2/")) for source in sources)


def test_partition_folders_alone_are_a_dump(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    report = told([dump / "broker-1/data/ff-0", dump / "broker-2/data/ff-0"])
    found = [(rule, brokers, start, end) for rule, _, _, brokers, start, end in violations(report)]
    assert ("LOG001", [1, 2], 10, 15) in found or ("LOG002", [1, 2], 10, 15) in found
    assert {replica["path"] for replica in report["replicas"]} == {"broker-1/data/ff-0", "broker-2/data/ff-0"}


def test_folders_far_apart_are_told_from_what_encloses_both(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    (tmp_path / "far/away").mkdir(parents=True)
    shutil.move(dump / "broker-2", tmp_path / "far/away/broker-2")
    report = told([dump, tmp_path / "far/away"])
    assert {replica["path"] for replica in report["replicas"]} == {
        "dump/broker-1/data/ff-0", "far/away/broker-2/data/ff-0",
    }  # fmt: skip
    assert ("LOG001", "ff", 0, [1, 2], 10, 15) in violations(report)


def test_log_dirs_are_named_relative_to_the_dump_or_absolutely(tmp_path: Path) -> None:
    dump = copied("fast_failover_kip101", tmp_path / "dump")
    for broker in (1, 2):
        (dump / f"broker-{broker}/data/meta.properties").unlink()
        (dump / f"broker-{broker}").rename(dump / f"copy{'ab'[broker - 1]}")
    assert told(dump)["verdict"] == "unknown"
    relative = told(dump, log_dir=["1=copya/data", "2=copyb/data"])
    absolute = told(dump, log_dir=[f"1={dump}/copya/data", f"2={dump}/copyb"])
    assert ("LOG001", "ff", 0, [1, 2], 10, 15) in violations(relative)
    assert violations(relative) == violations(absolute)


@pytest.mark.parametrize("inner", [".", "broker-1", "broker-1/data/../data"])
def test_a_folder_is_not_read_twice(inner: str) -> None:
    dump = SAMPLES / "fast_failover_kip101" / "dump"
    with pytest.raises(ConfigError, match=r"same folder|lies inside"):
        gather([dump / "broker-1" if inner != "." else dump, dump / inner])


def test_a_link_from_one_folder_to_another_that_was_not_given_is_refused(tmp_path: Path) -> None:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    (dump / "broker-1/secret").symlink_to(dump / "broker-3/data/meta.properties")
    prepared = prepare(gather([dump / "broker-1", dump / "broker-2"]), AuditConfig(engine="local"))
    assert [r.kind for r in prepared.inventory.refusals] == ["escapes_dump"]
    (dump / "broker-1/secret").unlink()
    (dump / "broker-1/neighbour").symlink_to(dump / "broker-2/data/meta.properties")
    prepared = prepare(gather([dump / "broker-1", dump / "broker-2"]), AuditConfig(engine="local"))
    assert prepared.inventory.refusals == ()


def test_several_clusters_in_one_folder_are_said_first_with_how_to_audit_each_alone(tmp_path: Path) -> None:
    """Two ids, or two recordings of one id: nobody takes the sum of them for one incident."""
    for name, sample in (("east", "unclean_4x"), ("west", "fast_failover_kip101"), ("north", "acks_one_lost")):
        shutil.copytree(SAMPLES / sample / "dump", tmp_path / "dump" / name)
    shutil.move(tmp_path / "dump" / "north", tmp_path / "north")
    report = audited(tmp_path / "dump")
    two = " ".join(render(report, columns=80).split())
    assert "in this dump: MkU3OEVBNTcwNTJENDM2Qg in east and disks that name no cluster in west." in two
    assert two.index("To audit one cluster alone, give its folder alone.") < two.index("LOST")
    for page, then in ((postmortem(report), "- **"), (overview(report), "<main"), (story(report), "<main")):
        assert "east and disks that name no cluster in west." in page
        assert page.index("To audit one cluster alone, give its folder alone.") < page.index(then)
    shutil.rmtree(tmp_path / "dump" / "west")
    assert "cluster" not in render(audited(tmp_path / "dump"), columns=80)
    shutil.move(tmp_path / "north", tmp_path / "dump" / "north")
    alike = " ".join(render(audited(tmp_path / "dump"), columns=80).split())
    assert alike.index("east and north claim to be of the same brokers") < alike.index("LOST")


def test_a_broker_that_stands_here_twice_is_said_first(tmp_path: Path) -> None:
    dump = copied("unclean_4x", tmp_path / "dump")
    assert "claim" not in render(audited(dump), columns=80)
    shutil.copytree(dump / "broker-2", dump / "broker-2b")
    said = " ".join(render(audited(dump), columns=80).split())
    assert said.index("broker-2 and broker-2b claim to be of the same broker") < said.index("LOST")
