"""A clean verdict names what it speaks of; what some brokers have here and others lack keeps it open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report import terminal
from auditor.report.json import document
from auditor.report.model import AuditReport
from auditor.report.postmortem import document as postmortem
from tests.auditor import dumps_at_hand
from tests.auditor.dumps_at_hand import copied
from tests.lab.effort import fast_if


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return copied("clean_4x", tmp_path / "dump", logs=True)


def audited(dump: Path, **settings: object) -> AuditReport:
    return dumps_at_hand.audited(dump, topic=("short",), **settings)


def first_line(report: AuditReport) -> str:
    """The verdict's sentence, however many lines of a screen it takes."""
    return _all_words(report).partition(" read")[0]


def _all_words(report: AuditReport) -> str:
    head, _, rest = terminal.render(report, columns=300, verbose=True).partition("  ")
    return f"{head}  {' '.join(rest.split())}"


def test_everything_here_needs_no_word(dump: Path) -> None:
    report = audited(dump)
    assert (report.verdict, report.coverage.scope.words) == ("clean", "")
    assert first_line(report).startswith("CLEAN  no problem found in 3 replicas of 1 partition")


def test_a_kind_of_evidence_that_nobody_has_is_named_in_every_format(dump: Path) -> None:
    for log in dump.rglob("kafka-request.log"):
        log.unlink()
    report = audited(dump)
    told = "as far as disks, server logs, logs of state changes and metadata tell"
    assert (report.verdict, report.exit_code) == ("clean", 0)
    assert first_line(report).startswith(f"CLEAN  {told}: no problem found")
    assert f"**clean** {told}" in postmortem.render(report)
    scope = document(report)["coverage"]["scope"]  # type: ignore[index]
    assert (scope["words"], scope["absent"]) == (told, ["request-log"])


@pytest.mark.parametrize("name", fast_if("server.log".__eq__, ["kafka-request.log", "server.log", "state-change.log"]))
def test_what_one_broker_lacks_and_others_have_keeps_the_verdict_open(dump: Path, name: str) -> None:
    (dump / "broker-2/logs" / name).unlink()
    report = audited(dump)
    assert (report.verdict, report.exit_code, report.violations) == ("unknown", 3, ())
    assert "are not here (--partial)" in _all_words(report)
    part = audited(dump, partial=True)
    assert part.verdict == "clean"
    assert first_line(part).startswith("CLEAN  without all ")


def test_an_assigned_replica_that_is_not_here_keeps_the_verdict_open(dump: Path) -> None:
    shutil.rmtree(dump / "broker-3")
    report = audited(dump)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert "named by checkpoints, logs or metadata cannot be seen here" in _all_words(report)
    part = audited(dump, partial=True)
    assert (part.verdict, part.exit_code) == ("clean", 0)
    assert " assigned replicas" in first_line(part)
    assert part.coverage.scope.replicas_here < part.coverage.scope.replicas_assigned


def test_logs_of_state_changes_that_tell_no_role_oblige_no_other_broker(tmp_path: Path) -> None:
    """Up to 2.5 they tell roles at level TRACE alone, and at INFO a broker may write no line in it at all."""
    old = copied("clean_1_1", tmp_path / "dump", logs=True)
    (old / "broker-1/logs/state-change.log").unlink()
    report = audited(old)
    assert (report.verdict, report.coverage.scope.absent) == ("clean", ("state-change-log",))


def test_a_disk_that_is_left_out_is_told_where_its_brokers_logs_are_here(tmp_path: Path) -> None:
    """Broker 3 holds a topic's earlier life alone, so nothing assigns it a partition that is missing."""
    one_less = copied("recreated_topic", tmp_path / "dump", logs=True)
    shutil.rmtree(one_less / "broker-3/data")
    told = _all_words(dumps_at_hand.audited(one_less))
    assert "No disk was read of broker 3, of which logs are here" in told
