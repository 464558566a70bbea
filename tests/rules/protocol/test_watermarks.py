"""High watermarks: the laws of advance, the worked rounds, whom each version counts, and what is certain of one."""



import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.protocol.isr import Brokers, FollowerFetch, LeaderView, RemoteReplica, after_fetch
from rules.protocol.offsets import BrokerId, Offset
from rules.protocol.versions import KafkaVersion, parse_kafka_version
from rules.protocol.watermarks import (
    Bound,
    HighWatermarkRule,
    expected_interval,
    follower_high_watermark,
    high_watermark_after_truncation,
    high_watermark_after_truncation_before_2_4,
    high_watermark_at_start,
    high_watermark_rule,
    leader_high_watermark,
    next_high_watermark,
)
from tests.replaced import replace

offsets = st.integers(0, 50).map(Offset)
known_or_not = st.integers(-1, 50).map(Offset)


def version(text: str) -> KafkaVersion:
    read = parse_kafka_version(text)
    assert read is not None
    return read


def rule(text: str) -> HighWatermarkRule:
    found = high_watermark_rule(version(text))
    assert found is not None
    return found


def brokers(*ids: int) -> Brokers:
    return frozenset(map(BrokerId, ids))


def leader(*leos: int, isr: Brokers, leo: int, hw: int = 0, behind: Brokers = frozenset()) -> LeaderView:
    """Broker 1 leads; 2, 3, … follow with these log ends, all caught up within the lag but those named behind."""
    followers = tuple(
        RemoteReplica(
            broker=BrokerId(broker),
            log_end_offset=Offset(end),
            last_caught_up_time_ms=0 if BrokerId(broker) in behind else 99_000,
        )
        for broker, end in enumerate(leos, start=2)
    )
    return LeaderView(
        log_end_offset=Offset(leo),
        high_watermark=Offset(hw),
        epoch_start_offset=Offset(0),
        committed_isr=isr,
        followers=followers,
        eligible=frozenset(one.broker for one in followers),
        lag_time_max_ms=30_000,
        time_ms=100_000,
    )


def advanced(view: LeaderView, text: str = "3.9.1", min_insync: int = 1) -> int:
    return next_high_watermark(
        rule(text), view, min_insync_replicas=min_insync, replication_factor=1 + len(view.followers)
    )


@given(offsets, offsets, st.lists(known_or_not), known_or_not)
def test_counting_one_more_never_raises_a_high_watermark(
    current: Offset, log_end_offset: Offset, counted: list[Offset], one_more: Offset
) -> None:
    before = leader_high_watermark(current, log_end_offset, counted)
    assert current <= leader_high_watermark(current, log_end_offset, [*counted, one_more]) <= before
    assert before <= max(current, log_end_offset)


@given(known_or_not, offsets, st.integers(0, 20))
def test_what_a_follower_or_a_restarted_broker_holds_lies_in_its_log(hw: Offset, start: Offset, held: int) -> None:
    log_end_offset = Offset(start + held)
    assert start <= follower_high_watermark(hw, start, log_end_offset) <= log_end_offset
    assert high_watermark_at_start(hw, start, log_end_offset) == follower_high_watermark(hw, start, log_end_offset)


def test_a_record_on_the_leader_only_is_not_committed() -> None:
    assert advanced(leader(5, 5, isr=brokers(1, 2, 3), leo=6, hw=5)) == 5


def test_one_record_takes_two_rounds_to_be_visible_everywhere() -> None:
    rows = []
    log_end, high_watermark, follower_end, follower_hw = 0, 0, 0, 0
    remote = RemoteReplica(broker=BrokerId(2), log_end_offset=Offset(0))

    def note() -> None:
        rows.append((log_end, high_watermark, remote.log_end_offset, follower_end, follower_hw))

    note()
    log_end = 1
    note()
    for time_ms in (1, 2):
        seen = FollowerFetch(
            fetch_offset=Offset(follower_end),
            log_start_offset=Offset(0),
            leader_log_end_offset=Offset(log_end),
            time_ms=time_ms,
        )
        remote = after_fetch(remote, seen)
        counted = (remote.log_end_offset,)
        high_watermark = leader_high_watermark(Offset(high_watermark), Offset(log_end), counted)
        follower_end = log_end
        follower_hw = follower_high_watermark(Offset(high_watermark), Offset(0), Offset(follower_end))
        note()
    assert rows == [(0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 1, 0), (1, 1, 1, 1, 1)]


def test_the_slower_of_two_followers_holds_the_high_watermark() -> None:
    one_slow = leader(1, 0, isr=brokers(1, 2, 3), leo=1)
    assert advanced(one_slow) == 0
    assert advanced(leader(1, 1, isr=brokers(1, 2, 3), leo=1)) == 1


def test_acknowledgement_waits_for_every_member_of_the_isr() -> None:
    assert advanced(leader(5, 4, isr=brokers(1, 2, 3), leo=5), min_insync=2) == 4
    assert advanced(leader(5, 5, isr=brokers(1, 2, 3), leo=5, hw=4), min_insync=2) == 5


def test_a_returning_replica_does_not_take_the_high_watermark_back() -> None:
    assert advanced(leader(8, 3, isr=brokers(1, 2), leo=10, hw=8)) == 8


def test_after_an_election_nothing_moves_until_everyone_counted_has_fetched() -> None:
    assert advanced(leader(9, -1, isr=brokers(1, 2, 3), leo=9, hw=4)) == 4


def test_a_high_watermark_moves_when_the_isr_shrinks_or_the_leader_stands_alone() -> None:
    waiting = leader(9, 4, isr=brokers(1, 2, 3), leo=9, hw=4, behind=brokers(3))
    assert advanced(waiting) == 4
    assert advanced(replace(waiting, committed_isr=brokers(1, 2))) == 9
    assert advanced(leader(4, isr=brokers(1), leo=12, hw=9, behind=brokers(2))) == 12


def test_a_follower_outside_the_isr_holds_less_than_its_leader() -> None:
    assert follower_high_watermark(Offset(5), Offset(0), Offset(3)) == 3


@pytest.mark.parametrize("text", ["0.10.2.2", "1.1.1", "2.6.3", "2.8.2", "3.4.0", "3.6.0", "3.9.1", "4.3.0"])
def test_a_member_of_the_isr_counts_however_far_behind(text: str) -> None:
    assert advanced(leader(9, 4, isr=brokers(1, 2, 3), leo=9, behind=brokers(3)), text) == 4


@pytest.mark.parametrize("text", ["0.10.2.2", "2.6.3", "3.2.0", "3.5.1", "3.6.0", "3.9.1"])
def test_a_caught_up_replica_counts_outside_the_isr_unless_it_may_not_enter_it(text: str) -> None:
    caught_up = leader(9, 4, isr=brokers(1, 2), leo=9)
    assert advanced(caught_up, text) == 4
    barred = replace(caught_up, eligible=brokers(2))
    assert advanced(barred, text) == (9 if version(text).at_least(3, 6) else 4)


@pytest.mark.parametrize(("text", "moved"), [("2.6.3", 9), ("2.8.2", 4), ("3.9.1", 4)])
def test_an_expansion_in_flight_counts_since_2_7(text: str, moved: int) -> None:
    expanding = leader(9, 4, isr=brokers(1, 2), leo=9, behind=brokers(3))
    assert advanced(replace(expanding, proposed_isr=brokers(1, 2, 3)), text) == moved


def test_a_shrink_in_flight_does_not_count_yet() -> None:
    shrinking = leader(9, 4, isr=brokers(1, 2, 3), leo=9, behind=brokers(3))
    assert advanced(replace(shrinking, proposed_isr=brokers(1, 2))) == 4


def test_at_the_leaders_log_end_is_caught_up_since_3_3() -> None:
    at_end = leader(9, isr=brokers(1), leo=9, behind=brokers(2))
    assert rule("3.2.0").counted(at_end) == brokers(1)
    assert rule("3.3.0").counted(at_end) == brokers(1, 2)


@pytest.mark.parametrize(("text", "moved"), [("3.6.2", 9), ("3.7.0", 4)])
def test_below_min_isr_a_high_watermark_rests_since_3_7(text: str, moved: int) -> None:
    alone = leader(2, isr=brokers(1), leo=9, hw=4, behind=brokers(2))
    assert advanced(alone, text, min_insync=2) == moved
    assert advanced(alone, text, min_insync=1) == 9
    assert advanced(leader(isr=brokers(1), leo=9, hw=4), text, min_insync=2) == 9


def test_nothing_is_said_of_brokers_before_0_10_2() -> None:
    assert high_watermark_rule(version("0.10.1.1")) is None


def test_a_restart_begins_at_the_checkpoint_or_at_the_log_start() -> None:
    assert high_watermark_at_start(Offset(12), Offset(3), Offset(10)) == 10
    assert high_watermark_at_start(Offset(1), Offset(3), Offset(10)) == 3
    assert high_watermark_at_start(None, Offset(3), Offset(10)) == 3


def test_a_cut_takes_the_high_watermark_along_since_2_4() -> None:
    assert high_watermark_after_truncation(Offset(8), Offset(5)) == 5
    assert high_watermark_after_truncation(Offset(3), Offset(5)) == 3
    assert high_watermark_after_truncation_before_2_4(Offset(8), Offset(5)) == 8


bounds = st.lists(
    st.builds(
        lambda side, offset, because: Bound(side=side, offset=offset, because=because),
        st.sampled_from(("low", "high")),
        offsets,
        st.text("abc", min_size=1, max_size=2),
    ),
    max_size=6,
)


@given(bounds, st.data())
def test_taking_a_fact_away_never_narrows(facts: list[Bound], data: st.DataObject) -> None:
    expected = expected_interval(facts)
    kept = [fact for fact in facts if data.draw(st.booleans())]
    assert expected_interval(kept).interval.covers(expected.interval)


@given(bounds)
def test_the_fact_named_for_a_side_is_the_one_that_sets_it(facts: list[Bound]) -> None:
    expected = expected_interval(facts)
    for side, bound in (("low", expected.low), ("high", expected.high)):
        if bound is not None:
            without = [fact for fact in facts if fact.side != side or fact.offset != bound.offset]
            assert getattr(expected_interval(without).interval, side) != bound.offset
            assert bound is next(fact for fact in facts if fact.side == side and fact.offset == bound.offset)


def test_an_expected_high_watermark_says_why() -> None:
    facts = (
        Bound(side="low", offset=Offset(0), because="log start"),
        Bound(side="low", offset=Offset(7), because="checkpoint of broker 1"),
        Bound(side="low", offset=Offset(7), because="checkpoint of broker 2"),
        Bound(side="high", offset=Offset(9), because="log end"),
    )
    expected = expected_interval(facts)
    assert (expected.interval.low, expected.interval.high, expected.interval.width) == (7, 9, 2)
    assert expected.because == ("checkpoint of broker 1", "log end")
    assert expected_interval(facts[:3]).interval.width is None
    broken = expected_interval((*facts, Bound(side="high", offset=Offset(6), because="truncated")))
    assert (broken.interval.low, broken.interval.high) == (7, 6)
    assert broken.because == ("checkpoint of broker 1", "truncated")
