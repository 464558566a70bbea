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


def test_logs_that_warn_alone_tell_nothing_of_cuts_and_restarts(dump: Path) -> None:
    warning = "[2026-11-28 04:57:10,797] WARN {} (kafka.server.ReplicaFetcherThread)\n"
    words = warning.format("[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Partition short-0 marked as failed")
    for log in dump.rglob("server.log"):
        log.write_text(words if "broker-2" in log.parts else warning.format("Connection to node 2 failed"))
    report = dumps_at_hand.audited(dump)
    assert "server-log" in report.coverage.scope.absent
    assert "tells nothing of any partition, or warnings alone" in _all_words(report)
    assert [logs.kinds for logs in report.coverage.absent_logs if logs.silent] == [("server-log",)]
    selected = audited(dump)
    assert not any(logs.silent for logs in selected.coverage.absent_logs), "they may tell of what nobody asked for"


@pytest.mark.parametrize("name", fast_if("server.log".__eq__, ["kafka-request.log", "server.log", "state-change.log"]))
def test_what_one_broker_lacks_and_others_have_keeps_the_verdict_open(dump: Path, name: str) -> None:
    (dump / "broker-2/logs" / name).unlink()
    report = audited(dump)
    assert (report.verdict, report.exit_code, report.violations) == ("unknown", 3, ())
    assert "are not here (add what is missing, or accept that with --partial)" in _all_words(report)
    part = audited(dump, partial=True)
    assert part.verdict == "clean"
    assert first_line(part).startswith("CLEAN  without all ")


def test_an_assigned_replica_that_is_not_here_keeps_the_verdict_open(dump: Path) -> None:
    shutil.rmtree(dump / "broker-3")
    report = audited(dump)
    assert (report.verdict, report.exit_code) == ("unknown", 3)
    assert "named by checkpoints, logs or metadata is not in this dump (add what is missing" in _all_words(report)
    part = audited(dump, partial=True)
    assert (part.verdict, part.exit_code) == ("clean", 0)
    assert " assigned replicas" in first_line(part)
    assert part.coverage.scope.replicas_here < part.coverage.scope.replicas_assigned


@pytest.mark.parametrize(
    ("sample", "gone", "scope"),
    [
        ("unclean_4x", "broker-1", "of 2 of 3 assigned replicas"),
        ("unclean_4x", "controller-100", "of the metadata logs of 0 of 1 voters"),
    ],
)
def test_copies_of_the_metadata_log_are_no_assigned_replicas(
    sample: str, gone: str, scope: str, tmp_path: Path
) -> None:
    """Brokers that do not vote copy it too, and none is assigned to it: of its voters the first line speaks apart."""
    dump = copied(sample, tmp_path / "dump", logs=True)
    shutil.rmtree(dump / gone)
    words = dumps_at_hand.audited(dump).coverage.scope.words
    assert [each for each in words.split(", ") if each.startswith("of ")] == [scope]


def test_what_was_accepted_is_no_reason_for_an_open_verdict(tmp_path: Path) -> None:
    """One replica is left, so that the verdict is open all the same."""
    lone = copied("lost_pages_hw", tmp_path / "dump", logs=True)
    shutil.rmtree(lone / "broker-1")
    report, part = (dumps_at_hand.audited(lone, partial=partial) for partial in (False, True))
    assert (report.verdict, part.verdict) == ("unknown", "unknown")
    assert "accept that with --partial" in _all_words(report)
    assert "accept that with --partial" not in _all_words(part)


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


def without_heads(dump: Path, *nodes: str) -> Path:
    """The logs of some nodes, all from one time on, as where older files were deleted."""
    for log in (file for node in nodes for file in (dump / node / "logs").iterdir()):
        lines = log.read_text().splitlines(keepends=True)
        kept = (place for place, line in enumerate(lines) if line[0] == "[" and line[1:20] >= "2026-11-21 06:43:45")
        log.write_text("".join(lines[next(kept, len(lines)) :]))
    return dump


def test_what_happened_before_all_logs_begin_is_named_as_told_by_disks_alone(tmp_path: Path) -> None:
    """Twenty acknowledged records were cut before: no disk and no line that is left tells of them."""
    lost = copied("acks_one_lost", tmp_path / "dump", logs=True)
    for log in lost.rglob("kafka-request.log"):
        log.unlink()
    report = dumps_at_hand.audited(without_heads(lost, "broker-1", "broker-2", "broker-3"))
    assert (report.verdict, report.coverage.scope.before_logs) == ("clean", 1)
    assert "tell, as far as disks tell before broker logs begin (1 partition): no problem" in first_line(report)


def test_a_leader_whose_own_log_begins_after_its_reign_keeps_the_verdict_open(tmp_path: Path) -> None:
    lost = without_heads(copied("acks_one_lost", tmp_path / "dump", logs=True), "broker-1")
    report = dumps_at_hand.audited(lost)
    assert (report.verdict, report.coverage.scope.begun_late) == ("unknown", (1,))
    assert "Logs of broker 1 begin after a role in which they or other brokers show them" in _all_words(report)
    part = dumps_at_hand.audited(lost, partial=True)
    scope = "without all request logs, without the beginning of the logs of broker 1"
    assert first_line(part).startswith(f"CLEAN  {scope}: ")


def test_an_emptied_log_is_a_log_that_is_not_here(dump: Path) -> None:
    (dump / "broker-2/logs/kafka-request.log").write_bytes(b"")
    report = audited(dump)
    assert (report.verdict, report.coverage.scope.partly) == ("unknown", ("request-log",))


def test_watermarks_of_checkpoints_that_were_not_copied_are_not_said_to_be_compared(dump: Path) -> None:
    for checkpoint in dump.rglob("replication-offset-checkpoint"):
        checkpoint.unlink()
    told = _all_words(audited(dump))
    assert "no checkpoint here tells the high watermark that brokers 1, 2 and 3 saved at shutdown" in told
    assert "Nothing here confirms" not in told
