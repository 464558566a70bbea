"""Folders that hold another log than their name says accuse nobody, and stand in for no replica."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from rules.finding import Severity
from tests.auditor.dumps_at_hand import audited, copied


def swapped(dump: Path, broker: str, names: tuple[str, str]) -> Path:
    one, other, aside = (dump / broker / "data" / name for name in (*names, "aside"))
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    return dump


def foreign(report: AuditReport) -> set[tuple[str | None, int | None, int]]:
    return {(r.topic, r.partition, r.replica.broker) for r in report.replicas if r.replica.state == "foreign"}


@pytest.mark.parametrize(
    ("sample", "names"),
    [
        ("clean_4x", ("orders-1", "state-1")),
        ("clean_4x", ("orders-0", "orders-1")),
        ("clean_1_1", ("orders-1", "state-1")),
        ("clean_1_1", ("orders-0", "orders-1")),
    ],
)
def test_folders_that_were_swapped_accuse_nobody(sample: str, names: tuple[str, str], tmp_path: Path) -> None:
    report = audited(swapped(copied(sample, tmp_path / "dump", logs=True), "broker-2", names))
    grave = (finding for finding in report.violations if finding.severity > Severity.INFO)
    assert {(finding.rule, finding.brokers) for finding in grave} == {("LOG007", (2,))}
    assert foreign(report) == {(name[:-2], int(name[-1]), 2) for name in names}
    assert report.coverage.replicas_lacking == 2


def test_of_two_brokers_alone_nothing_tells_whose_folders_were_swapped(tmp_path: Path) -> None:
    dump = swapped(copied("clean_4x", tmp_path / "dump", logs=True), "broker-2", ("orders-0", "orders-1"))
    shutil.rmtree(dump / "broker-3")
    report = audited(dump, topic=("orders",))
    assert (report.verdict, [*report.violations]) == ("unknown", [])
    assert foreign(report) == {("orders", partition, broker) for partition in (0, 1) for broker in (1, 2)}


def test_a_copy_of_a_deleted_topic_is_none_of_the_topic_that_was_made_since(tmp_path: Path) -> None:
    dump = copied("recreated_topic", tmp_path / "dump", logs=True)
    for broker in ("broker-1", "broker-2"):
        shutil.rmtree(dump / broker / "data/again-0")
    report = audited(dump)
    assert (report.verdict, report.coverage.replicas_assigned_elsewhere) == ("unknown", 2)
    assert [finding.rule for finding in report.violations] == ["LOG006"]
    assert ("again", 0, 3) in foreign(report)
