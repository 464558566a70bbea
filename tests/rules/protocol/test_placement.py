"""Elections told apart by what sets them off, and what a producer is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.protocol.acknowledgement import Acks, Answer, admit_produce, answer_produce
from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Offset
from rules.protocol.placement import (
    elect_at_controlled_shutdown,
    elect_at_reassignment,
    elect_eligible_leader,
    elect_leader,
    elect_leader_or_unclean,
    elect_preferred,
)

ASSIGNED = (BrokerId(1), BrokerId(2), BrokerId(3))
sets = st.frozensets(st.sampled_from([*ASSIGNED, BrokerId(4)]))


def brokers(*ids: int) -> Brokers:
    return frozenset(map(BrokerId, ids))


def test_the_first_of_the_assignment_that_lives_and_is_in_sync_leads() -> None:
    election = elect_leader(ASSIGNED, brokers(2, 3), brokers(1, 2, 3))
    assert (election.leader, election.isr, election.unclean) == (2, brokers(2, 3), False)
    assert elect_leader((BrokerId(3), BrokerId(2)), brokers(2, 3), brokers(2, 3)).leader == 3


def test_without_a_living_member_the_partition_is_offline_or_elected_uncleanly() -> None:
    offline = elect_leader(ASSIGNED, brokers(2, 3), brokers(1))
    assert (offline.leader, offline.isr) == (None, brokers(1))
    unclean = elect_leader_or_unclean(ASSIGNED, brokers(2, 3), brokers(1))
    assert (unclean.leader, unclean.isr, unclean.unclean) == (2, brokers(2), True)
    assert elect_leader_or_unclean(ASSIGNED, brokers(), brokers(1)).leader is None


def test_an_eligible_replica_leads_without_being_unclean() -> None:
    election = elect_eligible_leader(ASSIGNED, brokers(3), brokers(), brokers(3))
    assert (election.leader, election.isr, election.unclean) == (3, brokers(3), False)
    assert elect_eligible_leader(ASSIGNED, brokers(3), brokers(1), brokers(2)).leader is None
    assert elect_eligible_leader(ASSIGNED, brokers(1, 2), brokers(1), brokers(2)).isr == brokers(1)


def test_triggers_choose_by_their_own_rule() -> None:
    everyone = brokers(1, 2, 3)
    assert elect_preferred(ASSIGNED, everyone, everyone).leader == 1
    assert elect_preferred(ASSIGNED, brokers(2, 3), everyone).leader is None
    assert elect_at_reassignment((BrokerId(4), BrokerId(3)), brokers(3, 4), everyone).leader == 3
    handed_over = elect_at_controlled_shutdown(ASSIGNED, everyone, everyone, brokers(1))
    assert (handed_over.leader, handed_over.isr) == (2, brokers(2, 3))


@given(sets, sets)
def test_an_unclean_leader_is_taken_only_when_there_is_no_clean_one(alive: Brokers, isr: Brokers) -> None:
    clean, any_leader = elect_leader(ASSIGNED, alive, isr), elect_leader_or_unclean(ASSIGNED, alive, isr)
    assert any_leader.unclean == (clean.leader is None and bool(alive & set(ASSIGNED)))
    if not any_leader.unclean:
        assert any_leader == clean
    assert any_leader.leader is None or any_leader.leader in alive & any_leader.isr


@pytest.mark.parametrize(
    ("acks", "isr_size", "min_insync", "admitted", "answers"),
    [
        ("0", 1, 2, True, ("none", "none")),
        ("1", 1, 2, True, ("acknowledged", "acknowledged")),
        ("all", 1, 1, True, ("waiting", "acknowledged")),
        ("all", 1, 2, False, ("waiting", "refused-after-append")),
        ("all", 2, 2, True, ("waiting", "acknowledged")),
    ],
)
def test_what_a_producer_is_told_before_and_after_the_record_is_committed(
    acks: Acks, isr_size: int, min_insync: int, admitted: bool, answers: tuple[Answer, Answer]
) -> None:
    assert admit_produce(acks, isr_size=isr_size, min_insync_replicas=min_insync) == admitted
    told = tuple(
        answer_produce(acks, Offset(5), high_watermark=Offset(hw), isr_size=isr_size, min_insync_replicas=min_insync)
        for hw in (4, 5)
    )
    assert told == answers
