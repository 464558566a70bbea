"""Truncation under every generation: laws, and the incidents by which the generations are told apart."""


from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rules.protocol.epochs import assign, end_offset_for_before_kafka_7415, offset_only
from rules.protocol.leader import answer_epoch
from rules.protocol.offsets import Epoch, Offset, OffsetRange
from rules.protocol.replica_log import ReplicaLog, divergence_point, truncate_to
from rules.protocol.truncation import (
    RULES,
    Exchange,
    RuleName,
    after_first_fetch,
    after_truncation,
    consequence,
    end_offset_rule,
    reset_out_of_range,
    rule_in_force,
    truncate_by_end_offset,
    truncate_by_epoch_end,
    truncate_by_high_watermark,
    truncate_on_fetch,
)
from rules.protocol.versions import parse_kafka_version, parse_protocol_version
from tests.lab.effort import cases
from tests.replaced import replace
from tests.rules.protocol.lineages import chains, elections, replica

EPOCH_RULES: tuple[RuleName, ...] = ("kip-279", "truncate-on-fetch")


def batch(start: int, end: int) -> OffsetRange:
    return OffsetRange(start_offset=Offset(start), end_offset=Offset(end))


def exchange(asked: int, answered: int, end: int, *, at: int | None = None) -> Exchange:
    return Exchange(
        asked_epoch=Epoch(asked),
        asked_offset=None if at is None else Offset(at),
        answered_epoch=Epoch(answered),
        answered_offset=Offset(end),
    )


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=cases(40))
@given(pair=elections(deletes=True))
def test_no_rule_keeps_more_than_there_was(name: RuleName, pair: tuple[ReplicaLog, ReplicaLog]) -> None:
    follower, leader = pair
    truncation = RULES[name](follower, leader)
    assert truncation.rule == name
    assert truncation.kept_log_end_offset <= follower.log_end_offset
    assert truncation.cuts == (truncation.kept_log_end_offset < follower.log_end_offset)
    assert truncation.offset <= max(follower.log_end_offset, leader.log_start_offset)
    assert truncation.because


@pytest.mark.parametrize("name", ["hw-truncation", *EPOCH_RULES])
@settings(max_examples=cases(40))
@given(pair=elections(deletes=True))
@example(pair=(replica((7, 0), leo=2), replica((1, 1), (8, 2), leo=2, start=1)))
def test_a_truncation_done_is_not_done_again(name: RuleName, pair: tuple[ReplicaLog, ReplicaLog]) -> None:
    follower, leader = pair
    after = after_truncation(follower, RULES[name](follower, leader))
    # What is left may be of no known epoch: then the watermark decides the next time, as of any log without epochs.
    assume(after.epochs or not follower.epochs or after.log_start_offset == after.log_end_offset)
    assert not RULES[name](after, leader).cuts


@pytest.mark.parametrize("name", EPOCH_RULES)
@settings(max_examples=cases(100))
@given(pair=elections())
def test_epoch_rules_end_with_logs_that_agree(name: RuleName, pair: tuple[ReplicaLog, ReplicaLog]) -> None:
    follower, leader = pair
    assume(follower.epochs)
    truncation = RULES[name](follower, leader)
    assert divergence_point(after_truncation(follower, truncation), leader) is None
    assert consequence(follower, leader, truncation) == "agrees"


@settings(max_examples=cases(100))
@given(pair=elections())
def test_epoch_rules_cut_at_most_what_differs(pair: tuple[ReplicaLog, ReplicaLog]) -> None:
    follower, leader = pair
    assume(follower.epochs)
    shared = divergence_point(follower, leader)
    kept = min(follower.log_end_offset, leader.log_end_offset) if shared is None else shared
    assert truncate_by_epoch_end(follower, leader).offset == kept
    assert truncate_on_fetch(follower, leader).offset == kept


@settings(max_examples=cases(40))
@given(pair=elections(deletes=True))
def test_epochs_asked_for_fall_until_an_answer_ends_the_rounds(pair: tuple[ReplicaLog, ReplicaLog]) -> None:
    asked = [one.asked_epoch for one in truncate_by_epoch_end(*pair).exchanges]
    assert all(after < before for before, after in pairwise(asked))


def test_incident_1_a_follower_restarts_with_a_late_high_watermark() -> None:
    leader, follower = replica((0, 0), leo=2, hw=2), replica((0, 0), leo=2, hw=1)
    by_watermark = truncate_by_high_watermark(follower, leader)
    assert (by_watermark.offset, by_watermark.cuts, by_watermark.exchanges) == (1, True, ())
    assert by_watermark.because == "the high watermark 1 decides: this rule asks no leader"
    v0, v1, fetch = (RULES[name](follower, leader) for name in ("kip-101", "kip-279", "truncate-on-fetch"))
    assert {(one.offset, one.cuts) for one in (v0, v1, fetch)} == {(2, False)}
    assert v0.exchanges == (exchange(0, -1, 2),)
    assert v1.exchanges == (exchange(0, 0, 2),)
    assert fetch.exchanges == (exchange(0, 0, 2, at=2),)


def test_incident_1_the_old_leader_returns() -> None:
    old = replica((0, 0), leo=2, hw=2)
    idle, wrote = replica((0, 0), (1, 1), leo=1, hw=1), replica((0, 0), (1, 1), leo=2, hw=1)
    no_op = truncate_by_high_watermark(old, idle)
    assert not no_op.cuts
    reset = after_first_fetch(old, idle, no_op)
    assert reset is not None
    assert (reset.rule, reset.offset, reset.cuts) == ("out-of-range-reset", 1, True)
    assert after_first_fetch(old, wrote, truncate_by_high_watermark(old, wrote)) is None
    assert divergence_point(old, wrote) == 1
    for name in ("kip-101", *EPOCH_RULES):
        assert RULES[name](old, wrote).offset == 1


def test_incident_1_the_leader_dies_before_it_answers() -> None:
    kept = replica((0, 0), leo=2, hw=1)
    elected = replace(kept, epochs=assign(kept.epochs, Epoch(1), kept.log_end_offset))
    returned = truncate_by_epoch_end(replica((0, 0), leo=2, hw=2), elected)
    assert (returned.exchanges, returned.cuts) == ((exchange(0, 0, 2),), False)


def test_incident_2_the_new_leader_lost_its_unflushed_tail() -> None:
    returned, leader = replica((0, 0), leo=2, hw=2), replica((0, 0), (1, 1), leo=2, hw=1)
    by_watermark = truncate_by_high_watermark(returned, leader)
    assert (by_watermark.cuts, consequence(returned, leader, by_watermark)) == (False, "diverges")
    for name in ("kip-101", *EPOCH_RULES):
        truncation = RULES[name](returned, leader)
        assert (truncation.offset, consequence(returned, leader, truncation)) == (1, "agrees")
    assert truncate_on_fetch(returned, leader).exchanges[0] == exchange(0, 0, 1, at=2)


@pytest.mark.parametrize(
    ("last", "offset", "kept", "comes_of_it"), [(15, 16, 16, "stuck"), (20, 21, 21, "diverges"), (25, 21, 11, "hole")]
)
def test_incident_3_a_fast_double_fail_over(last: int, offset: int, kept: int, comes_of_it: str) -> None:
    follower = replica((1, 0), (2, 11), leo=last + 1, hw=11)
    follower = replace(follower, batches=(batch(0, 11), batch(11, last + 1)))
    leader = replace(replica((1, 0), (3, 21), leo=31, hw=11), batches=(batch(0, 11), batch(11, 21), batch(21, 31)))
    assert truncate_by_high_watermark(follower, leader).offset == 11
    v0 = truncate_by_end_offset(follower, leader)
    assert v0.exchanges == (exchange(2, -1, 21),)
    assert (v0.offset, v0.kept_log_end_offset, v0.cuts) == (offset, kept, last == 25)
    assert consequence(follower, leader, v0) == comes_of_it
    v1, fetch = truncate_by_epoch_end(follower, leader), truncate_on_fetch(follower, leader)
    assert v1.exchanges == (exchange(2, 1, 21),)
    assert fetch.exchanges == (exchange(2, 1, 21, at=last + 1), exchange(1, 1, 21, at=11))
    for truncation in (v1, fetch):
        assert (truncation.offset, truncation.kept_log_end_offset, truncation.cuts) == (11, 11, True)
        assert consequence(follower, leader, truncation) == "agrees"
    assert fetch.because == "epoch 1 ends at offset 21 in the leader's log and at offset 11 in the follower's"


def test_two_rounds_when_neither_side_knows_the_others_epochs() -> None:
    follower = replica((1, 0), (2, 5), (4, 7), leo=12)
    leader = replica((1, 0), (3, 5), (5, 10), leo=15)
    truncation = truncate_by_epoch_end(follower, leader)
    assert truncation.exchanges == (exchange(4, 3, 10), exchange(2, 1, 5))
    assert truncation.offset == 5
    fetched = truncate_on_fetch(follower, leader)
    assert [one.asked_offset for one in fetched.exchanges] == [12, 7, 5]
    assert fetched.offset == 5


@pytest.mark.parametrize("name", ["kip-101", *EPOCH_RULES])
def test_a_follower_without_epochs_falls_back_to_its_high_watermark(name: RuleName) -> None:
    truncation = RULES[name](replica(leo=9, hw=4), replica((3, 0), leo=9))
    assert (truncation.offset, truncation.because) == (
        4,
        "the high watermark 4 decides: the follower holds no epoch to ask about",
    )
    assert truncation.exchanges == ((exchange(-1, -1, -1),) if name == "kip-101" else ())


@pytest.mark.parametrize("name", ["kip-101", "kip-279"])
def test_an_old_idle_leader_cannot_place_the_newest_epoch(name: RuleName) -> None:
    follower = replica((0, 0), (4, 6), leo=9, hw=7)
    truncation = RULES[name](follower, replica((0, 0), leo=6))
    assert (truncation.offset, truncation.exchanges) == (7, (exchange(4, -1, -1),))
    assert truncation.because == "the high watermark 7 decides: the leader cannot place epoch 4"


def test_a_leader_answers_by_its_own_version() -> None:
    follower, leader = replica((2, 0), leo=9, hw=3), replica((5, 6), leo=12)
    old_leader = replace(leader, end_offset_rule=end_offset_for_before_kafka_7415)
    assert truncate_by_epoch_end(follower, leader).offset == 6
    assert truncate_by_epoch_end(follower, old_leader).offset == 3
    v0_leader = replace(leader, end_offset_rule=lambda *asked: offset_only(leader.end_offset_rule(*asked)))
    assert truncate_by_epoch_end(replica((2, 0), leo=4), v0_leader).exchanges == (exchange(2, -1, 6),)
    versions = [parse_kafka_version(text) for text in ("1.1.1", "2.0.0", "2.0.1", "3.9.1")]
    answers = [answer_epoch(replace(leader, end_offset_rule=end_offset_rule(v)), Epoch(2)) for v in versions if v]
    assert [answer is None for answer in answers] == [True, True, False, False]


def test_an_epoch_the_leader_never_heard_of_is_out_of_range_to_a_fetch() -> None:
    ahead, behind = replica((0, 0), (7, 4), leo=9), replica((0, 0), (7, 4), leo=6)
    leader = replica((0, 0), (3, 4), leo=7)
    cut = truncate_on_fetch(ahead, leader)
    assert (cut.offset, cut.exchanges[0]) == (7, exchange(7, -1, -1, at=9))
    assert truncate_on_fetch(behind, leader).because.endswith("it fetches again in vain")


def test_a_follower_below_the_leaders_log_start_begins_anew() -> None:
    follower, leader = replica((0, 0), leo=5), replica((0, 8), (2, 10), leo=20, start=8)
    for truncation in (reset_out_of_range(follower, leader), truncate_on_fetch(follower, leader)):
        assert (truncation.offset, truncation.kept_log_end_offset, truncation.cuts) == (8, 0, True)
    assert not reset_out_of_range(replica(leo=8), leader).cuts
    assert consequence(follower, leader, reset_out_of_range(follower, leader)) == "agrees"


def test_a_reset_compares_offsets_only_and_may_keep_a_wrong_prefix() -> None:
    follower, leader = replica((0, 0), leo=9), replica((0, 0), (1, 4), leo=7)
    reset = reset_out_of_range(follower, leader)
    assert (reset.offset, consequence(follower, leader, reset)) == (7, "diverges")


def test_divergence_is_seen_where_both_sides_know_the_epoch() -> None:
    whole, clipped = replica((0, 0), (2, 10), leo=30), replica((1, 12), (2, 20), leo=25, start=12)
    assert divergence_point(whole, clipped) == 12
    assert divergence_point(replica((2, 10), leo=30), replica((2, 10), leo=15)) is None
    assert divergence_point(replica(leo=30), clipped) is None
    assert divergence_point(replica((0, 0), leo=10), replica((0, 0), (1, 10), leo=30)) is None


def test_a_cut_inside_a_batch_takes_the_batch_and_still_moves_the_log_end() -> None:
    log = replace(replica((0, 0), leo=20, hw=18), batches=(batch(0, 10), batch(10, 20)))
    after = truncate_to(log, Offset(15))
    assert (after.log_end_offset, after.batches, after.high_watermark) == (15, (batch(0, 10),), 15)


def test_a_log_start_beyond_the_log_end_sends_a_follower_round_in_vain() -> None:
    follower, leader = replica((0, 0), (1, 50), leo=60), replica((0, 0), leo=60, start=61)
    truncation = truncate_on_fetch(follower, leader)
    assert (truncation.offset, truncation.kept_log_end_offset) == (60, 0)
    assert truncation.because.endswith("it fetches again in vain")


@st.composite
def contradictory(draw: st.DrawFn) -> ReplicaLog:
    """A replica whose checkpoints may be of other moments than its log: nothing in it need fit together."""
    start, end, watermark = (draw(st.integers(0, 40)) for _ in range(3))
    return replace(replica(leo=end, hw=watermark, start=start), epochs=draw(chains()))


@given(contradictory(), contradictory())
@settings(max_examples=cases(2000))
def test_every_rule_ends_whatever_the_checkpoints_say(follower: ReplicaLog, leader: ReplicaLog) -> None:
    for rule in RULES.values():
        assert rule(follower, leader).rule in RULES


@pytest.mark.parametrize(
    ("binary", "spoken", "rule"),
    [
        ("0.10.2.2", "0.10.2", "hw-truncation"),
        ("0.10.2.2", None, "hw-truncation"),
        ("0.11.0.0", "0.11.0-IV1", "hw-truncation"),
        ("0.11.0.0", "0.11.0-IV2", "kip-101"),
        ("1.1.1", "1.1", "kip-101"),
        ("1.1.1", "0.10.2", "hw-truncation"),
        ("2.0.0", "1.1-IV0", "kip-101"),
        ("2.0.0", "2.0-IV0", "kip-279"),
        ("2.7.2", "2.7-IV1", "kip-279"),
        ("2.8.0", "2.7-IV0", "kip-279"),
        ("2.8.0", "2.7-IV1", "truncate-on-fetch"),
        ("2.8.2", "2.8", "truncate-on-fetch"),
        ("3.9.1", "0.11.0-IV1", "hw-truncation"),
        ("3.9.1", "3.9-IV0", "truncate-on-fetch"),
        ("4.3.0", None, "truncate-on-fetch"),
        ("3.9.1", None, None),
        (None, "3.9-IV0", None),
        ("2.7.2", "2.8-IV0", None),
    ],
)
def test_the_rule_follows_from_the_binary_and_the_protocol(
    binary: str | None, spoken: str | None, rule: RuleName | None
) -> None:
    read_binary = None if binary is None else parse_kafka_version(binary)
    read_spoken = None if spoken is None else parse_protocol_version(spoken)
    assert rule_in_force(read_binary, read_spoken) == rule
