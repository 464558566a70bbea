"""One replica at hand is one question, however many partitions ask it, and none where there is no other replica."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.auditor.dumps_at_hand import SAMPLES, audited, copied, told, told_of

DESCRIBED = (
    "Topic: {topic}\tPartitionCount: 1\tReplicationFactor: {count}\tConfigs: \n"
    "\tTopic: {topic}\tPartition: {number}\tLeader: 1\tReplicas: {ids}\tIsr: {ids}\n"
)


def asked(report: dict[str, Any]) -> list[tuple[str | None, str]]:
    open_points = (f for f in report["findings"] if f["rule"] == "LOG001" and f["verdict"] == "undecided")
    return [(point["topic"], point["message"]) for point in open_points]


@pytest.fixture
def one_broker(tmp_path: Path) -> Path:
    dump = copied("clean_2_8", tmp_path / "dump")
    for other in ("broker-2", "broker-3", "zookeeper"):
        shutil.rmtree(dump / other, ignore_errors=True)
    return dump


def describe(dump: Path, ids: str) -> None:
    """What `kafka-topics --describe` printed of every partition at hand."""
    names = [path.name.rpartition("-") for path in (dump / "broker-1" / "data").iterdir() if path.is_dir()]
    text = "".join(DESCRIBED.format(topic=t, number=n, ids=ids, count=ids.count(",") + 1) for t, _, n in sorted(names))
    (dump / "topics.txt").write_text(text)


def test_one_replica_at_hand_is_one_question(one_broker: Path) -> None:
    report = told(one_broker)
    partitions = len({(replica["topic"], replica["partition"]) for replica in report["replicas"]})
    assert partitions > 5
    alone = "it is not known whether replicas differ: only one is in this dump"
    ((partition, said),) = asked(report)
    assert partition is None
    assert said.startswith("Undecided in __consumer_offsets-0, __consumer_offsets-1, ")
    assert said.endswith(f" more partitions: {alone}. To decide it, add the log of another replica.")
    (counted,) = (point for point in report["coverage"]["undecided"] if point["rule"] == "LOG001")
    assert counted["partitions"] == partitions
    assert report["exitCode"] == 3


@pytest.mark.parametrize(("ids", "questions"), [("1", 0), ("1,2,3", 1), ("2", 1)])
def test_it_is_none_where_a_tool_tells_that_there_is_no_other(one_broker: Path, ids: str, questions: int) -> None:
    describe(one_broker, ids)
    assert len(asked(told(one_broker))) == questions


@pytest.mark.slow
def test_a_request_log_whose_last_line_is_cut_leaves_the_verdict_as_it_is(tmp_path: Path) -> None:
    """Cut before the next file begins, where the log was rotated; and in its midst, where lines follow."""
    dump = Path(shutil.copytree(SAMPLES / "migrated" / "dump", tmp_path / "dump"))
    log = dump / "broker-1" / "logs" / "kafka-request.log"
    lines = log.read_bytes().splitlines(keepends=True)
    half = next(n for n, line in enumerate(lines) if n > len(lines) // 2 and b'"FETCH"' in line)
    cut = b"".join(lines[:half]) + lines[half][: len(lines[half]) // 2]
    log.with_name("kafka-request.log.2026-11-21-21").write_bytes(cut)
    log.write_bytes(b"".join(lines[half + 1 :]))
    report = told(dump)
    assert [(r["kind"], r["blocking"]) for r in report["refusals"]] == [("truncated_line", False)]
    assert report["verdict"] == told_of("migrated")["verdict"] == "clean"
    log.with_name("kafka-request.log.2026-11-21-21").unlink()
    log.write_bytes(cut + b"\n" + b"".join(lines[half + 1 :]))
    report = told(dump)
    assert [refusal["blocking"] for refusal in report["refusals"]] == [True]
    assert report["verdict"] == "unknown"


@pytest.mark.parametrize("kept", [("broker-1",), ("broker-1", "controller-100")])
def test_a_controllers_disk_beside_a_lone_brokers_is_no_second_one(kept: tuple[str, ...], tmp_path: Path) -> None:
    """It holds the metadata log alone: no other replica of a topic could have been seen on it."""
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for node in dump.iterdir():
        if node.name not in kept:
            shutil.rmtree(node)
    report = audited(dump, partial=True, topic=("orders",))
    assert (report.verdict, {f.rule for f in report.findings if f.blocking}) == ("unknown", {"LOG001"})


def test_a_second_broker_on_which_a_topic_has_no_replica_could_have_had_one(tmp_path: Path) -> None:
    dump = copied("clean_4x", tmp_path / "dump", logs=True)
    for node in ("broker-3", *(f"broker-2/data/orders-{number}" for number in range(3))):
        shutil.rmtree(dump / node)
    report = audited(dump, partial=True, topic=("orders",))
    assert {f.rule for f in report.findings if f.blocking} == set()
