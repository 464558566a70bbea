"""A dump without one broker's log of its roles: what was lost is found by the controllers' record, or named as open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from dumps_at_hand import audited, copied

from auditor.report.model import AuditReport


def without_roles(case: str, broker: int, to: Path) -> AuditReport:
    dump = copied(case, to / "dump", logs=True)
    (dump / f"broker-{broker}/logs/state-change.log").unlink()
    return audited(dump)


def test_acknowledged_records_are_missed_although_their_leader_tells_no_role(tmp_path: Path) -> None:
    report = without_roles("unclean_rejoined", 1, tmp_path)
    lost = [(f.brokers, f.start_offset, f.end_offset) for f in report.findings if f.rule == "LEAD001"]
    assert lost == [((2,), 100, 141)]  # the last answer names the first record of its batch
    assert [loss.matters for history in report.histories for loss in history.losses] == [True]


@pytest.mark.parametrize("broker", [1, 2])
def test_an_unclean_election_is_not_called_cheap_without_the_former_leaders_roles(broker: int, tmp_path: Path) -> None:
    report = without_roles("fast_failover_kip279", broker, tmp_path)
    assert [f.message for f in report.findings if f.rule == "LEAD002" and "all that is known" in f.message] == []


def test_answers_are_missed_where_only_the_controllers_record_tells_who_led(tmp_path: Path) -> None:
    report = without_roles("acks_one_lost", 1, tmp_path)
    said = {(f.start_offset, f.end_offset): f.verdict for f in report.findings if f.rule == "ACK001"}
    # The last answer names the first record of its batch: what its leader cut behind that may be of the batch too.
    assert said == {(50, 61): "violated", (61, 70): "undecided"}


@pytest.mark.parametrize(
    ("case", "verdict", "asked"),
    [
        (
            "acks_one_lost",
            "unknown",
            {
                "broker 1's state-change.log (Kafka 2.5 and older: server.log)",
                "broker 1's request log up to its very end (nothing cut off), or the logs of the producers",
            },
        ),
        # The orders that it took tell of which epochs its answers were.
        pytest.param("clean_2_8", "clean", set[str](), marks=pytest.mark.slow),
    ],
)
def test_answers_of_no_known_epoch_leave_the_verdict_open_where_other_records_stand(
    case: str, verdict: str, asked: set[str], tmp_path: Path
) -> None:
    dump = copied(case, tmp_path / "dump", logs=True)
    (dump / "broker-1/logs/state-change.log").unlink()
    for metadata in dump.glob("*/data/__cluster_metadata-0"):
        shutil.rmtree(metadata)
    report = audited(dump, partial=True)
    named = {question.missing for question in report.coverage.undecided if question.rule == "ACK001"}
    assert report.verdict == verdict
    assert named == asked
