"""Who was in sync over time: states as told, lengths by one clock, settings in force, and what nobody tells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from rules.availability.account import CONDITIONS, Availability, Exposure, Safeguard, StateRow
from rules.availability.accounting import FEW_KEPT, ROWS_KEPT, availability
from rules.availability.lasting_states import state_rows
from rules.chronicle.chronicle import Chronicle
from rules.evidence import Moment, PartitionEvidence
from rules.history.statements import PartitionState, RoleTaken
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, histories
from tests.replaced import replace
from tests.rules.recast import recast

CASES = sorted(path.parent.name for path in SAMPLES.glob("*/dump"))
SHORT = ("unclean_4x", "acks_one_lost", "fast_failover_kip101", "migrated")


def account(evidence: PartitionEvidence, *, grave: bool = True) -> Availability:
    (told,) = availability(evidence, losses(evidence), grave=grave)
    return told


def sketched(text: str) -> PartitionEvidence:
    return read_sketch(text).evidence


def recorded(case: str, topic: str) -> Availability:
    return account(histories(case)[topic, 0])


def exposure(told: Availability, condition: str) -> Exposure:
    (found,) = (each for each in told.exposures if each.condition == condition)
    return found


def setting(told: Availability, name: str) -> Safeguard:
    (found,) = (each for each in told.safeguards if each.name == name)
    return found


def test_states_are_those_of_the_metadata_log() -> None:
    told = recorded("unclean_4x", "pay")
    assert [(r.leader, r.isr, r.out_of_sync) for r in told.rows] == [
        (1, (1, 2, 3), ()),
        (1, (1, 3), (2,)),
        (1, (1,), (2, 3)),
        (2, (2,), (1, 3)),
        (2, (2, 3), (1,)),
        (2, (1, 2, 3), ()),
        (2, (2, 3), (1,)),
        (3, (3,), (1, 2)),
        (None, (), (1, 2, 3)),
    ]
    assert {row.clock for row in told.rows} == {"controller"}
    assert [(a.until, a.milliseconds) for a in told.rows[:-1]] == [
        (b.time, (b.time or 0) - (a.time or 0)) for a, b in pairwise(told.rows)
    ]
    assert (told.rows[-1].until, told.rows[-1].milliseconds, told.rows[-1].next_told) == (None, None, False)


def test_one_copy_is_timed_and_its_offsets_are_those_that_leaders_answered_for() -> None:
    told = recorded("unclean_4x", "pay")
    alone = exposure(told, "one-copy")
    assert alone.milliseconds == sum(r.milliseconds or 0 for r in told.rows if len(r.isr) == 1 and r.leader is not None)
    # Broker 1 answered for 100–149 while it was alone, and after it broker 2 for others at 100–129.
    assert alone.offsets == ((100, 150),)
    assert [each.condition for each in told.exposures] == ["no-leader", "one-copy"]


def test_an_isr_below_the_minimum_is_told_by_the_setting_in_force() -> None:
    told = recorded("acks_one_lost", "fire")
    assert {row.min_in_sync for row in told.rows} == {2}
    below = exposure(told, "below-min-isr")
    assert (below.states, below.milliseconds, below.sure) == (1, 871, True)
    assert setting(told, "min.insync.replicas").allowed == ""
    acks = setting(told, "acks")
    assert acks.value == "all: 7 answers, 1: 2 answers"
    assert acks.allowed.startswith("2 answers with acks=1 are for records")


def test_settings_stand_beside_what_they_allowed() -> None:
    told = recorded("unclean_4x", "pay")
    unclean = setting(told, "unclean.leader.election.enable")
    assert (unclean.value, unclean.whose, unclean.certain) == ("true", "topic 'pay'", True)
    assert "Broker 2 was elected for epoch 1" in unclean.allowed
    assert setting(told, "replication factor").value == "3"
    assert [each.name for each in told.safeguards if each.allowed] == [
        "unclean.leader.election.enable",
        "min.insync.replicas",
    ]
    assert all(bool(each.allowed) == bool(each.instead) for each in told.safeguards)


def test_a_topics_own_setting_that_nobody_read_leaves_the_brokers_a_likely_one() -> None:
    told = recorded("fast_failover_kip101", "ff")
    assert not any(row.min_in_sync_sure for row in told.rows)
    assert not setting(told, "min.insync.replicas").certain


def test_before_the_migration_leaders_tell_by_their_own_clocks_and_the_controller_since() -> None:
    told = recorded("migrated", "pay")
    clocks = list(dict.fromkeys(row.clock for row in told.rows))
    assert clocks[-1] == "controller"
    assert {clock.partition(" ")[0] for clock in clocks[:-1]} == {"broker"}
    for row in told.rows:
        assert row.clock in ("controller", f"broker {row.leader}")


def all_accounts(case: str) -> Iterator[tuple[PartitionEvidence, Availability]]:
    for (topic, _), evidence in histories(case).items():
        for told in availability(evidence, losses(evidence), grave=True) if topic != "__cluster_metadata" else ():
            yield evidence, told


def leader_of(state: RoleTaken | PartitionState) -> int | None:
    return state.broker if state.kind == "leader-starts" else state.leader


@pytest.mark.parametrize("case", fast_if(lambda case: case in SHORT, CASES))
def test_an_account_says_no_more_than_the_statements(case: str) -> None:
    seen = 0
    for evidence, told in all_accounts(case):
        seen += 1
        assert len(told.rows) <= ROWS_KEPT
        states = [m for m in evidence.moments if isinstance(m, RoleTaken | PartitionState)]
        words = {(m.epoch if m.epoch is not None else m.term, m.partition_epoch, m.isr) for m in states}
        # Somebody may have written a leader beside the ISR: then a statement has it so.
        outside = {(leader_of(m), m.isr) for m in states if leader_of(m) not in (m.isr or ())}
        for row in told.rows:
            assert (row.epoch, row.partition_epoch, row.isr) in words
            assert row.leader is None or row.leader in row.isr or (row.leader, row.isr) in outside
        for each in told.exposures:
            rows = [row for row in told.rows if each.condition in row.conditions]
            assert (each.states, each.untimed) == (len(rows), sum(r.milliseconds is None for r in rows))
        ends = [replica.log_end_offset for replica in evidence.replicas]
        answered = [m for m in evidence.moments if m.kind == "produced"]
        most = max((*ends, *(evidence.batch_end(m.offset or 0, m.term) for m in answered)), default=0)
        assert all(0 <= start < end <= most for each in told.exposures for start, end in each.offsets)
    assert seen


ONE_LEFT = """
set min.insync.replicas 2
broker 1 0000|
broker 2 0000|
t1 leader 1 epoch 0 isr 1,2 of 1,2
t2 leader 1 epoch 0 isr 1 of 1,2
t3 leader 1 epoch 0 isr 1,2 of 1,2
"""


def test_lengths_are_those_between_two_words_of_one_clock() -> None:
    told = account(sketched(ONE_LEFT))
    assert [(row.time, row.until, row.conditions) for row in told.rows] == [
        (1, 2, ()),
        (2, 3, ("one-copy", "below-min-isr")),
        (3, None, ()),
    ]
    assert exposure(told, "below-min-isr").milliseconds == 1


def test_a_state_that_nobody_tells_leaves_the_one_before_it_without_an_end() -> None:
    told = account(sketched(ONE_LEFT.replace("t3", "t5")))
    assert [(row.until, row.next_told) for row in told.rows] == [(2, True), (None, False), (None, False)]
    assert exposure(told, "one-copy").untimed == 1
    assert "No state is told between partition epochs 2 and 5." in told.silences


def test_a_state_of_which_two_tell_different_things_is_told_by_neither() -> None:
    evidence = sketched(ONE_LEFT)
    other = next(m for m in evidence.moments if getattr(m, "partition_epoch", None) == 2)
    told = (*evidence.moments, replace(other, clock="broker 2", witness=2, isr=(2,)))
    rows = state_rows(replace(evidence, chronicle=Chronicle(told)))
    assert [row.partition_epoch for row in rows] == [1, 3]


def leading(evidence: PartitionEvidence, *more: Moment) -> tuple[StateRow, ...]:
    """The states as broker 1 alone tells them."""
    own = [replace(m, clock="broker 1", witness=1, error=0) for m in evidence.moments]
    return state_rows(replace(evidence, chronicle=Chronicle((*own, *more))))


def test_a_leader_that_was_started_meanwhile_times_no_state() -> None:
    evidence = sketched(ONE_LEFT)
    assert [row.milliseconds for row in leading(evidence)] == [1, 1, None]
    (first, *_) = evidence.moments
    load = recast(first, "log-loaded", clock="broker 1", witness=1, broker=1, time=2, end_offset=4)
    assert [row.milliseconds for row in leading(evidence, load)] == [None, None, None]


def test_a_state_that_a_snapshot_tells_was_there_before() -> None:
    evidence = sketched(ONE_LEFT)
    told = tuple(replace(m, clock="controller") for m in evidence.moments)
    first, *later = state_rows(replace(evidence, chronicle=Chronicle(told)))
    assert (first.time, first.milliseconds) == (None, None)
    previous = tuple(replace(m, previous_isr=(1, 2)) for m in told)
    assert [row.time for row in state_rows(replace(evidence, chronicle=Chronicle(previous)))] == [1, 2, 3]
    assert len(later) == len(("one copy", "both"))


def test_an_order_of_states_that_contradicts_itself_tells_none() -> None:
    evidence = sketched(ONE_LEFT)
    told = tuple(replace(m, epoch=9 - (getattr(m, "partition_epoch", None) or 0)) for m in evidence.moments)
    assert state_rows(replace(evidence, chronicle=Chronicle(told))) == ()


def test_what_is_not_told_is_said() -> None:
    told = account(sketched("broker 1 0000|\nbroker 2 0000|\nt1 leads 1 epoch 0 at 0 hw 0"))
    assert (told.rows, told.exposures) == ((), ())
    assert [each.name for each in told.safeguards if each.value is None] == [each.name for each in told.safeguards]
    assert "Nothing tells who was in sync over time" in told.silences[0]
    unset = account(sketched(ONE_LEFT.replace("set min.insync.replicas 2", "")))
    assert "min.insync.replicas is not told of 3 states." in unset.silences
    assert [each.condition for each in unset.exposures] == ["one-copy"]


def test_a_healthy_partition_and_one_of_a_single_replica_have_no_account() -> None:
    healthy = sketched("broker 1 00|\nbroker 2 00|\nt1 leader 1 epoch 0 isr 1,2 of 1,2")
    single = sketched("broker 1 00|\nt1 leader 1 epoch 0 isr 1 of 1")
    assert [*availability(healthy, (), grave=False), *availability(single, (), grave=False)] == []
    assert len(account(sketched(ONE_LEFT), grave=False).rows) == 1 <= FEW_KEPT


ALONE_IN_EPOCH_1 = """
broker 1 0011 2|
broker 2 0011 2|
t1 leader 1 epoch 0 isr 1,2 of 1,2
t2 leader 2 epoch 1 isr 2 of 1,2
t3 leader 1 epoch 2 isr 1,2 of 1,2
"""


def test_records_of_an_epoch_in_which_one_copy_alone_was_in_sync_are_named() -> None:
    assert exposure(account(sketched(ALONE_IN_EPOCH_1)), "one-copy").offsets == ((2, 4),)


def test_where_a_state_of_the_epoch_is_not_told_others_may_have_been_in_sync() -> None:
    assert exposure(account(sketched(ALONE_IN_EPOCH_1.replace("t3", "t4"))), "one-copy").offsets == ()


def test_the_worst_condition_stands_first() -> None:
    told = recorded("acks_one_lost", "fire")
    assert [each.condition for each in told.exposures] == list(CONDITIONS)
