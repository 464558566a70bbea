"""What people give as a dump, a topic or an output, where something near was meant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import Ended, run
from dumps_at_hand import SAMPLES, digest

SPLIT = SAMPLES / "fast_failover_kip101" / "dump"
UNCLEAN = SAMPLES / "unclean_4x" / "dump"
REPLICA = SPLIT / "broker-1" / "data" / "ff-0"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def audit(*words: object) -> Ended:
    return run("audit", *map(str, words), "--engine", "local")


def test_a_partitions_folder_is_audited_as_its_brokers() -> None:
    report = json.loads(audit(REPLICA, "--format", "json").out)
    assert [(r["broker"], r["topic"], r["logEndOffset"]) for r in report["replicas"]] == [(1, "ff", 20)]
    assert report["coverage"]["filesSeen"] == len([*REPLICA.iterdir()])


def test_a_file_of_a_replica_stands_for_its_partitions_folder(tmp_path: Path) -> None:
    (segment,) = REPLICA.glob("*.log")
    whole, alone = json.loads(audit(REPLICA, "--format", "json").out), tmp_path / "broker-1" / "ff-0"
    for given in ((segment,), (REPLICA / "leader-epoch-checkpoint",), (segment, REPLICA / "leader-epoch-checkpoint")):
        report = json.loads(audit(*given, "--format", "json").out)
        assert (report["replicas"], report["findings"]) == (whole["replicas"], whole["findings"])
    alone.mkdir(parents=True)
    shutil.copy(segment, alone)
    report = json.loads(audit(alone / segment.name, "--format", "json").out)
    assert (report["verdict"], report["exitCode"]) == ("unknown", 3)
    assert [(r["broker"], r["topic"], r["logEndOffset"]) for r in report["replicas"]] == [(1, "ff", 20)]
    assert {f["severity"] for f in report["findings"] if f["verdict"] == "violated"} <= {"info"}


def test_several_segments_are_compared_as_their_brokers(tmp_path: Path) -> None:
    given = []
    for broker in (1, 2):
        folder = tmp_path / f"broker-{broker}" / "ff-0"
        folder.mkdir(parents=True)
        given.append(Path(shutil.copy(next((SPLIT / f"broker-{broker}/data/ff-0").glob("*.log")), folder)))
    report = json.loads(audit(*given, "--format", "json").out)
    assert {f["rule"] for f in report["findings"] if f["verdict"] == "violated"} == {"LOG002"}
    assert [r["broker"] for r in report["replicas"]] == [1, 2]


def test_epoch_files_of_several_brokers_are_audited_and_nothing_is_clean_about_their_logs(tmp_path: Path) -> None:
    given = []
    for broker in (1, 2):
        folder = tmp_path / f"broker-{broker}" / "ff-0"
        folder.mkdir(parents=True)
        given.append(shutil.copy(SPLIT / f"broker-{broker}/data/ff-0/leader-epoch-checkpoint", folder))
    report = json.loads(audit(*given, "--format", "json").out)
    assert (report["verdict"], report["exitCode"], len(report["replicas"])) == ("unknown", 3, 2)
    assert [f for f in report["findings"] if f["verdict"] == "violated"] == []
    advice = run("advise", str(tmp_path), "--engine", "local").out
    assert "damaged log" not in advice
    assert "Electing broker 1 may make it lead without records: its log is not here whole" in " ".join(advice.split())


def test_a_segment_of_no_partition_or_an_archive_given_as_a_dump_is_named(tmp_path: Path) -> None:
    for name in (next(REPLICA.glob("*.log")).name, "leader-epoch-checkpoint"):
        nobodys = audit(shutil.copy(REPLICA / name, tmp_path))
        assert (nobodys.code, nobodys.err.count("\n")) == (2, 1)
        assert "in one named after its broker, such as broker-1/TOPIC-0, and give that folder" in nobodys.err
    packed = Path(shutil.make_archive(str(tmp_path / "dump"), "gztar", SPLIT))
    (tmp_path / "dump.7z").write_bytes(b"7z")
    assert "an archive, which is to be unpacked first" in audit(tmp_path / "dump.7z").err
    (tmp_path / "only").mkdir()
    packed.rename(tmp_path / "only" / "broker-1.tar.gz")
    assert "found no log dir, but archives: broker-1.tar.gz; unpack them" in audit(tmp_path / "only").err


def test_an_archive_within_a_dump_is_named_and_opens_the_verdict_inside_a_log_dir(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "recreated_topic" / "dump", dump)
    for place in (dump, next(dump.rglob("meta.properties")).parent):
        (place / "more.zip").write_bytes(b"PK")
        report = json.loads(audit(dump, "--topic", "again", "--format", "json").out)
        told = [(line["path"], line["blocking"]) for line in report["refusals"] if "archive" in line["found"]]
        assert ((place / "more.zip").relative_to(dump).as_posix(), place != dump) in told
        assert report["exitCode"] == (0 if place == dump else 3)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--topic", "pay-0"), "did you mean --topic pay --partition 0?"),
        (("--topic", "pya"), "did you mean pay?"),
        (("--topic", "zzzz"), "; topics here: "),
        (("--exclude-topic", "*"), "--exclude-topic *: leaves no partition of"),
    ],
)
def test_words_that_match_nothing_name_what_is_near(words: tuple[str, ...], hint: str) -> None:
    ended = audit(UNCLEAN, *words)
    assert (ended.code, ended.out) == (2, "")
    assert hint in ended.err


def test_epoch_files_without_their_logs_are_not_taken_for_empty_logs(tmp_path: Path) -> None:
    folder = tmp_path / "dump" / "broker-1" / "ff-0"
    folder.mkdir(parents=True)
    shutil.copy(REPLICA / "leader-epoch-checkpoint", folder)
    ended = audit(tmp_path / "dump")
    words = " ".join(ended.out.split())
    assert ended.code == 3
    assert "a segment of broker 1 is missing from this dump. That alone proves no loss." in words
    folder.rename(folder.parent / "nobodys")
    ended = audit(tmp_path / "dump")
    assert ended.code == 2
    assert "leader-epoch-checkpoint files alone" in ended.err
    assert "such as broker-1/TOPIC-0, with its segments if there are any" in ended.err


def test_show_lists_an_incidents_findings() -> None:
    report = json.loads(audit(SPLIT, "--format", "json").out)
    (incident,) = (each for each in report["incidents"] if len(each["findings"]) > 1)
    shown = run("show", incident["id"])
    assert shown.code == 0
    assert all(finding in shown.out for finding in incident["findings"])
    assert "is no incident of the audit of" in run("show", "I-00000000").err


def test_an_output_is_replaced_on_request_and_its_name_says_its_format(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("last night's")
    refused = audit(SPLIT, "--format", "json", "--output", report)
    assert (refused.code, report.read_text()) == (2, "last night's")
    assert "--force to replace it" in refused.err
    assert audit(SPLIT, "--format", "json", "--output", report, "--force").code == 1
    assert json.loads(report.read_text())["verdict"] == "findings"
    for name in ("report.html", "new.json"):
        assert "which its name does not promise" in audit(SPLIT, "--output", tmp_path / name).err
        assert not (tmp_path / name).exists()


def test_an_output_that_is_a_hard_link_to_a_file_of_the_dump_leaves_the_dump_as_it_was(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    shutil.copytree(SPLIT, dump)
    before = digest(dump)
    (tmp_path / "hard").hardlink_to(dump / "broker-1" / "data" / "meta.properties")
    (tmp_path / "soft").symlink_to(dump / "broker-1" / "data" / "meta.properties")
    assert audit(dump, "--output", tmp_path / "hard", "--force").code == 1
    assert "inside the dump" in audit(dump, "--output", tmp_path / "soft", "--force").err
    assert digest(dump) == before
    assert (tmp_path / "hard").read_text().startswith("FINDINGS")
