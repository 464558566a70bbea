"""What groups committed against what the logs hold: accused only where the logs are later and whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rules.catalog import RULES
from rules.evidence import PartitionEvidence
from rules.finding import Finding, Severity
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.auditor.dumps_at_hand import SAMPLES
from tests.lab.sample_reports import report_on
from tests.replaced import replace

ASSIGNED = "\nt1 leader 1 epoch 0 isr 1,2 of 1,2"


def told(text: str) -> Iterator[Finding]:
    return of(read_sketch(text).evidence)


def of(evidence: PartitionEvidence) -> Iterator[Finding]:
    return (finding for finding in judge(evidence, RULES).findings if finding.rule.startswith("CONS"))


def open_rules(evidence: PartitionEvidence) -> set[str]:
    return {point.rule for point in judge(evidence, RULES).undecided}


def said(found: Iterator[Finding]) -> list[tuple[str, str, int | None, int | None]]:
    return [(f.rule, f.verdict, f.start_offset, f.end_offset) for f in found]


def test_groups_beyond_the_log_are_told_together() -> None:
    (finding,) = told("broker 1* 0000|\nbroker 2 0000|\ngroup g 6\ngroup h 9\ngroup i 4" + ASSIGNED)
    assert (finding.rule, finding.start_offset, finding.end_offset) == ("CONS001", 4, 9)
    assert finding.values()["groups"] == ["g", "h"]


def test_a_copy_that_may_be_older_than_the_commit_proves_nothing() -> None:
    evidence = read_sketch("live\nbroker 1* 0000| ; unclean\nbroker 2 0000| ; unclean\ngroup g 6").evidence
    assert list(of(evidence)) == []
    assert "CONS001" in open_rules(evidence)


def test_a_log_of_which_nothing_tells_may_reach_the_commit() -> None:
    evidence = read_sketch("broker 1* 0000|\nbroker 2 0000|\ngroup g 6").evidence
    assert list(of(evidence)) == []
    (reason,) = [point.reason for point in judge(evidence, RULES).undecided if point.rule == "CONS001"]
    assert reason.endswith("nothing tells whether another broker has a replica")


@pytest.mark.parametrize(("replicas", "accused"), [("1,2", True), ("1,2,3", False)])
def test_the_log_of_an_assigned_broker_that_is_not_here_may_reach_the_commit(replicas: str, accused: bool) -> None:
    drawing = f"broker 1* 0000|\nbroker 2 0000|\ngroup g 6\nt1 leader 1 epoch 0 isr 1,2 of {replicas}"
    evidence = read_sketch(drawing).evidence
    assert ([finding.rule for finding in of(evidence)] == ["CONS001"]) is accused
    reasons = [point.reason for point in judge(evidence, RULES).undecided if point.rule == "CONS001"]
    assert [reason.split("; ")[1] for reason in reasons] == ["no log of broker 3 is here"] * (not accused)


def test_a_log_that_goes_on_behind_the_commit_is_later_than_it() -> None:
    evidence = read_sketch("broker 1* 0000| ; unclean\nbroker 2 0000| ; unclean\ngroup g 6" + ASSIGNED).evidence
    (commit,) = evidence.group_offsets
    # The sketch's batches are of the milliseconds of their offsets.
    for time, accused in ((2, True), (3, False)):
        later = replace(evidence, group_offsets=(replace(commit, commit_time=time),))
        assert ([finding.rule for finding in of(later)] == ["CONS001"]) is accused
        assert ("CONS001" in open_rules(later)) is not accused


@pytest.mark.parametrize("line", ["group g 4 epoch 0", "group g 6 epoch 1", "group g 5", "group g 0 epoch 0"])
def test_a_commit_that_the_log_bears_out_is_no_finding(line: str) -> None:
    assert said(told(f"broker 1* 000011|\n{line}")) == []


def test_a_commit_of_an_epoch_that_the_log_does_not_hold_there() -> None:
    assert said(told("broker 1* 000011|\ngroup g 6 epoch 0")) == [("CONS002", "violated", 4, 6)]


def test_a_commit_older_than_the_whole_log_may_be_of_another_life() -> None:
    evidence = read_sketch("broker 1* @4:1111|\ngroup g 7 epoch 0").evidence
    (commit,) = evidence.group_offsets
    assert said(of(evidence)) == [("CONS002", "violated", 4, 7)]
    assert said(of(replace(evidence, group_offsets=(replace(commit, commit_time=1),)))) == []


@pytest.mark.parametrize("case", ["unclean_4x", "unclean_rejoined"])
def test_reused_offsets_of_a_real_cluster(case: str) -> None:
    (finding,) = (f for f in report_on(SAMPLES / case).violations if f.rule == "CONS003")
    assert (finding.start_offset, finding.end_offset, finding.severity) == (100, 130, Severity.HIGH)
