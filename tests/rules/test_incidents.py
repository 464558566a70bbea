"""Findings as incidents: one event over many partitions is told once, with its bill summed."""

from __future__ import annotations

import pytest

from rules.catalog import BEARINGS, RULES
from rules.finding import Confidence, Finding, Severity, named_facts
from rules.incident import ONE_EVENT_MS, IncidentBill, group
from rules.judging.judge import judge
from rules.loss.incurred import Loss
from rules.loss.worth import Portion
from rules.sketch.notation import read_sketch
from tests.replaced import replace


def elected(partition: int, at: int | None, *, broker: int = 2, clock: str = "controller", epoch: int = 1) -> Finding:
    """An unclean election of a partition."""
    return found("LEAD002", partition, (broker,), clock=clock, time=at, epoch=epoch)


def found(rule: str, partition: int, brokers: tuple[int, ...], **facts: str | int | None) -> Finding:
    return Finding(
        rule=rule, severity=int(Severity.HIGH), confidence="certain", verdict="violated", cluster_id="c", topic="t",
        topic_id=None, partition=partition, brokers=brokers, start_offset=None, end_offset=None, message=rule,
        exhibits=(), facts=named_facts({**facts, "subject": str(facts.get("epoch"))}),
    )  # fmt: skip


def lost(
    start: int, end: int, records: int | None, *, restored: bool = False, by: int | None = 2, in_epoch: int | None = 1
) -> Loss:
    committed = Portion(
        worth="committed", start_offset=start, end_offset=end, records=records, bytes=100,
        records_at_least=records or 3, bytes_at_least=100,
    )  # fmt: skip
    return Loss(
        epoch=0, leader=1, next_epoch=in_epoch, next_leader=by, start_offset=start, end_offset=end, end_at_most=end,
        end_known=True, searched=(1, 2), committed_end=end, acknowledged_end=end, answers=0, answers_known=True,
        first_time=None, last_time=None, clock=None, reused_end=start, survivors=(), restored=restored,
        restored_seen=True, because="it says so", portions=(committed,),
    )  # fmt: skip


def test_unclean_elections_of_one_event_are_one_incident() -> None:
    findings = [elected(0, 1000), elected(1, 1000 + ONE_EVENT_MS, broker=3), found("LEAD001", 1, (3,), epoch=1)]
    own = {("c", "t", 0): [lost(10, 20, 10)], ("c", "t", 1): [lost(5, 35, 30, by=3)]}
    (incident,) = group(findings, {}, BEARINGS, own)
    assert (incident.scope, incident.partitions, incident.brokers) == ("cluster", 2, (2, 3))
    assert incident.places == (("c", "t", 0), ("c", "t", 1))
    assert sorted(incident.findings) == sorted(finding.id for finding in findings)
    assert incident.title == (
        "40 committed records lost in 2 partitions of topic 't'."
        " Broker 2 (t-0) and broker 3 (t-1) were elected from outside the ISR."
    )
    assert incident.bill == IncidentBill(
        losses=2, offsets=40, committed=40, acknowledged=0, possibly_acknowledged=0, never_committed=0, records=40,
        bytes=200, records_at_least=40, bytes_at_least=200, ends_known=True,
        counted_records=40,
    )  # fmt: skip


def test_markers_are_not_counted_as_records_beside_a_range_that_no_copy_tells() -> None:
    untold = lost(5, 35, None)
    dense = replace(untold, portions=tuple(replace(portion, dense=True) for portion in untold.portions))
    (incident,) = group([elected(0, 1000)], {}, BEARINGS, {("c", "t", 0): [lost(40, 50, 9), dense]})
    assert "40 committed offsets (39 records)" in incident.title


ELECTED = "Broker 2 (t-0) was elected from outside the ISR."


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ([lost(30, 35, 5, by=3, in_epoch=2)], f"{ELECTED} Broker 3 (t-1) became leader without them."),
        ([lost(30, 35, 5, by=None, in_epoch=2)], f"{ELECTED} An unknown broker (t-1) became leader without them."),
        ([lost(30, 35, 5, in_epoch=None)], f"{ELECTED} No replica here holds those of t-1, though they were written."),
        (
            [lost(30, 35, 5), lost(35, 40, 5, by=3, in_epoch=2)],
            ("Broker 2 (t-0 and part of t-1) was elected from outside the ISR. Broker 3 (part of t-1) became leader"
            " without them."),
        ),
        ([lost(30, 35, 5, by=3, restored=True)], "Broker 2 was elected from outside the ISR."),
        # Broker 3's election cost nothing, so it is not named as a cause.
        ([], "Broker 2 was elected from outside the ISR."),
    ],
)
def test_of_an_event_only_those_are_named_without_whom_nothing_would_be_lost(others: list[Loss], told: str) -> None:
    own = {("c", "t", 0): [lost(10, 20, 10)], ("c", "t", 1): others}
    (incident,) = group([elected(0, 1000), elected(1, 1000, broker=3)], {}, BEARINGS, own)
    assert incident.title.partition(". ")[2] == told


NEXT_LACKED_THEM = "Broker 2 led before, and the next leader did not have them."


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        ("LEAD001", "Committed records left out in 2 partitions of topic 't'. Broker 2 became leader without them."),
        ("ACK001", f"Acknowledged records left out in 2 partitions of topic 't'. {NEXT_LACKED_THEM}"),
    ],
)
def test_losses_by_one_change_of_leaders_are_one_incident(rule: str, title: str) -> None:
    def loss(partition: int, time: int, clock: str = "broker 2") -> Finding:
        return found(rule, partition, (2,), clock=clock, time=time)

    (incident,) = group([loss(0, 1000), loss(1, 1000 + ONE_EVENT_MS)], {}, BEARINGS)
    assert (incident.title, incident.scope, incident.partitions) == (title, "cluster", 2)
    assert len(group([loss(0, 1000), loss(1, 1001 + ONE_EVENT_MS)], {}, BEARINGS)) == 2
    assert len(group([loss(0, 1000), loss(1, 1000, "broker 3")], {}, BEARINGS)) == 2


def test_a_bill_of_which_a_copy_is_missing_counts_no_records() -> None:
    (incident,) = group([elected(0, 1000)], {}, BEARINGS, {("c", "t", 0): [lost(10, 20, None)]})
    assert incident.scope == "partition"
    assert incident.bill is not None
    assert (incident.bill.offsets, incident.bill.records, incident.bill.bytes) == (10, None, 100)
    assert incident.bill.records_at_least == 3


def test_what_the_last_leader_holds_again_is_in_no_sum() -> None:
    own = {("c", "t", 0): [lost(10, 20, 10, restored=True), lost(30, 35, 5)]}
    (incident,) = group([elected(0, 1000)], {}, BEARINGS, own)
    assert incident.bill is not None
    assert (incident.bill.losses, incident.bill.offsets) == (1, 5)


@pytest.mark.parametrize(
    ("last", "title"),
    [
        (
            "possible",
            "Files in the log dir broker-1/data do not fit its logs in 3 partitions. Perhaps they are damaged.",
        ),
        ("certain", "The log dir broker-1/data is damaged in 3 partitions."),
    ],
)
def test_a_disk_of_which_damage_is_possible_alone_is_not_called_damaged(last: Confidence, title: str) -> None:
    damage = [replace(found("EPOCH003", partition, (1,)), confidence="possible") for partition in range(2)]
    damage.append(replace(found("EPOCH003", 2, (1,)), confidence=last))
    incidents = group(damage, {finding.id: "broker-1/data" for finding in damage}, BEARINGS)
    assert [one.title for one in incidents] == [title]


def test_damage_of_a_disk_and_an_election_bill_one_loss_once() -> None:
    damaged = [found("SEG001", partition, (1,)) for partition in range(3)]
    own = {("c", "t", 0): [lost(10, 20, 10)], ("c", "t", 1): [lost(30, 35, 5)]}
    told = group([*damaged, elected(0, 1000)], {finding.id: "broker-1/data" for finding in damaged}, BEARINGS, own)
    assert {incident.scope: incident.bill.offsets for incident in told if incident.bill} == {
        "broker": 5,
        "partition": 10,
    }


@pytest.mark.parametrize(
    "other",
    [
        elected(1, 1001 + ONE_EVENT_MS),  # much later
        elected(1, None),  # at no time that is told
        elected(1, 1000, clock="controller 2"),  # by another's clock
        found("LOG001", 1, (1, 2)),  # no election
    ],
)
def test_what_no_event_joins_stays_apart(other: Finding) -> None:
    told = group([elected(0, 1000), other], {}, BEARINGS)
    assert [incident.scope for incident in told] == ["partition", "partition"]
    assert all(incident.bill is None for incident in told)


def test_a_partition_of_two_elections_joins_what_is_near_either() -> None:
    findings = [elected(0, 1000), elected(0, 900_000, epoch=2), elected(1, 900_000), elected(2, 1000)]
    (incident,) = group(findings, {}, BEARINGS)
    assert incident.partitions == 3


def test_a_title_counts_what_was_lost_and_not_what_was_touched() -> None:
    findings = [elected(partition, 1000) for partition in range(130)]
    own = {("c", "t", partition): [lost(10, 20, None)] for partition in range(12)}
    (incident,) = group(findings, {}, BEARINGS, own)
    of_all = "of topic 't'. Broker 2 was"
    assert incident.title.startswith(f"120 committed offsets lost in 12 partitions {of_all}")
    (nothing,) = group(findings, {}, BEARINGS, {("c", "t", 0): [lost(10, 20, 10, restored=True)]})
    assert nothing.title.startswith("10 offsets were missing for a time in t-0. Broker 2 was")
    (unbilled,) = group(findings, {}, BEARINGS)
    assert unbilled.title.startswith("No known loss in 130 partitions of topic 't'. Broker 2 was elected")


def test_of_incidents_as_grave_the_one_that_lost_most_comes_first() -> None:
    findings = [elected(0, None), elected(1, None), elected(2, None)]
    own = {("c", "t", 1): [lost(0, 5, 5)], ("c", "t", 2): [lost(0, 50, 50)]}
    told = group(findings, {}, BEARINGS, own)
    assert [incident.places[0][2] for incident in told] == [2, 1, 0]


TWICE_SHORT = """
broker 1 001122|
broker 2 001122|
broker 3 001122|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 3 acks=1
t3 leads 2 epoch 1 at 2 hw 2
t4 acks 2 at 5 acks=all
t5 fetch 1@6 from 2 hw=6
t6 fetch 3@6 from 2 hw=6
t7 leads 3 epoch 2 at 4 hw 4
"""


def test_a_loss_follows_from_the_election_at_which_it_went_and_from_no_later_one() -> None:
    """Record 3 went when broker 2 became leader; that broker 3 led without committed records later did not lose it."""
    findings = judge(read_sketch(TWICE_SHORT).evidence, RULES).findings
    (short,) = (f for f in findings if f.rule == "LEAD001")
    lost = {f.values()["next_epoch"]: f.implied_by for f in findings if (f.rule, f.verdict) == ("ACK001", "violated")}
    assert short.values()["epoch"] == 2
    assert lost == {1: (), 2: ("LEAD001",)}


@pytest.mark.parametrize(("cost", "named"), [(2, "LEAD002"), (4, "LEAD001")])
def test_a_title_names_the_change_of_leaders_that_cost_what_is_lost(cost: int, named: str) -> None:
    """An election is first in its chain, though what it left out is there again."""
    findings = [elected(0, 1000, epoch=2), found("LEAD001", 0, (1,), epoch=4)]
    losses = [lost(10, 15, 5, in_epoch=epoch, restored=epoch != cost) for epoch in (2, 4)]
    (incident,) = group(findings, {}, BEARINGS, {("c", "t", 0): losses})
    assert incident.title == f"t-0 lost 5 committed records. {named}"
