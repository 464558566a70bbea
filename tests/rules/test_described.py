"""What tools printed, of moments that nobody wrote down: what rules conclude from it, and what they leave open."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from auditor.engines.witnesses.descriptions import described_commits, of_descriptions, of_the_cluster
from parsers.describe_text import parse_describe_text
from parsers.provenance import Origin
from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
from rules.sketch.notation import read_sketch
from tests.replaced import replace

ORIGIN = Origin(source="tools.txt", cluster_id="C1")
PAY = "Topic: pay\tPartition: 0\tLeader: {leader}\tReplicas: 1,2\tIsr: {isr}\n"
STATUS = "ClusterId: {cluster}\nLeaderId: {leader}\nLeaderEpoch: {epoch}\nHighWatermark: {hw}\n"
GROUP = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG\ng1 pay 0 3 {end} 1\n"
LED = "broker 1 0011|\nbroker 2 0011|\nt1 leads 1 epoch 0 at 0 hw 0\nt2 leads 2 epoch 1 at 2 hw 2\n"


def told_by(text: str, drawing: str = LED) -> PartitionEvidence:
    """A drawn partition of which a tool's output speaks too."""
    rows = parse_describe_text(text.encode(), ORIGIN).rows
    evidence = read_sketch(drawing).evidence
    moments = tuple(moment for _, _, moment in of_descriptions(rows))
    commits = tuple(commit for _, commit in described_commits(rows, ORIGIN).commits)
    return replace(evidence, chronicle=Chronicle((*evidence.moments, *moments)), group_offsets=commits)


def said(rule: str, evidence: PartitionEvidence) -> list[Violation | Undecided]:
    return list(BY_ID[rule].check(evidence))


def brokers(judged: Iterable[Violation | Undecided]) -> list[tuple[int, ...]]:
    return [each.brokers for each in judged]


@pytest.mark.parametrize(("leader", "isr", "accused"), [("2", "1", [(2,)]), ("2", "2,1", []), ("none", "1", [])])
def test_a_printed_leader_outside_the_printed_isr_is_likely_outside_it(
    leader: str, isr: str, accused: list[tuple[int, ...]]
) -> None:
    judged = said("LEAD003", told_by(PAY.format(leader=leader, isr=isr)))
    assert brokers(judged) == accused
    assert all(isinstance(each, Violation) and each.confidence == "likely" for each in judged)


def test_a_printed_leader_who_led_in_no_known_epoch_is_a_question() -> None:
    (asked,) = said("EPOCH008", told_by(PAY.format(leader=3, isr="3")))
    assert isinstance(asked, Undecided)
    assert (asked.brokers, asked.blocking) == ((3,), False)
    assert said("EPOCH008", told_by(PAY.format(leader=1, isr="1"))) == []


def test_the_status_of_the_quorum_names_its_epoch_and_is_held_against_the_others() -> None:
    first, second = (STATUS.format(cluster="C1", leader=leader, epoch=5, hw=2) for leader in (1, 2))
    (found,) = said("EPOCH008", told_by(first + second))
    assert isinstance(found, Violation)
    assert found.facts["leaders"] == (1, 2)
    # The second one names another epoch: two statuses that are printed one behind the other are never mixed.
    later = STATUS.format(cluster="C1", leader=2, epoch=6, hw=2).replace("LeaderId: 2\n", "")
    assert said("EPOCH008", told_by(first + later)) == []


@pytest.mark.parametrize(("hw", "epoch", "lost"), [(4, 0, [(2, 4, "likely")]), (2, 0, []), (4, 1, [])])
def test_the_quorums_high_watermark_was_committed_in_its_epoch(
    hw: int, epoch: int, lost: list[tuple[int, int, str]]
) -> None:
    judged = said("LEAD001", told_by(STATUS.format(cluster="C1", leader=1, epoch=epoch, hw=hw)))
    assert [(v.start_offset, v.end_offset, v.confidence) for v in judged if isinstance(v, Violation)] == lost
    assert len(judged) == len(lost)


def test_a_printed_log_end_that_no_log_reaches_is_a_question() -> None:
    (asked,) = said("LEAD001", told_by(GROUP.format(end=7)))
    assert isinstance(asked, Undecided)
    assert (asked.start_offset, asked.end_offset, asked.blocking) == (4, 7, False)
    assert said("LEAD001", told_by(GROUP.format(end=4))) == []


def test_an_output_about_another_cluster_is_refused_whole() -> None:
    rows = parse_describe_text(STATUS.format(cluster="C2", leader=1, epoch=0, hw=4).encode(), ORIGIN).rows
    kept, refused = of_the_cluster(rows, ORIGIN)
    assert kept == ()
    assert [(r.kind, r.found) for r in refused] == [("ambiguous", "an output about cluster C2")]
    own = parse_describe_text(STATUS.format(cluster="C1", leader=1, epoch=0, hw=4).encode(), ORIGIN).rows
    assert of_the_cluster(own, ORIGIN) == (own, ())


def test_an_observer_of_the_metadata_quorum_never_leads() -> None:
    drawn = read_sketch("broker 1 0011|\nbroker 2 00112|\n").evidence
    observed = replace(drawn, replicas=tuple(replace(replica, voters=(1, 9)) for replica in drawn.replicas))
    assert [replica.broker for replica in drawn.presumed_leaders] == [2]
    assert [replica.broker for replica in observed.presumed_leaders] == [1]
    # Files that name no voter who is here tell nothing of those who are.
    strangers = replace(drawn, replicas=tuple(replace(replica, voters=(9,)) for replica in drawn.replicas))
    assert [replica.broker for replica in strangers.presumed_leaders] == [2]


def test_who_leads_on_outside_a_written_isr_was_not_elected() -> None:
    drawn = read_sketch("broker 1 00|\nbroker 2 00|\nt1 leader 1 epoch 0 isr 2\nt2 leader 1 epoch 1 isr 2").evidence
    assert not list(BY_ID["LEAD002"].check(drawn))
    assert list(BY_ID["LEAD003"].check(drawn))
    taken = read_sketch("broker 1 00|\nbroker 2 00|\nt1 leader 2 epoch 0 isr 2\nt2 leader 1 epoch 1 isr 1").evidence
    assert list(BY_ID["LEAD002"].check(taken))
