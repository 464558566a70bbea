"""The ISR: what a leader remembers of followers, and who leaves and enters by version."""



import pytest

from rules.protocol.isr import (
    Brokers,
    FollowerFetch,
    LeaderView,
    RemoteReplica,
    after_fetch,
    at_new_leadership,
    at_reelection,
    default_lag_time_max_ms,
    eligible_kraft,
    eligible_zookeeper,
    expand_rule,
    is_caught_up,
    is_under_min_isr,
    is_under_replicated,
    lag_kind,
    maximal_isr,
    out_of_sync,
    shrink_rule,
)
from rules.protocol.offsets import BrokerId, Offset
from rules.protocol.versions import KafkaVersion, parse_kafka_version
from tests.replaced import replace

FOLLOWER = RemoteReplica(broker=BrokerId(2))
LEADER = LeaderView(
    log_end_offset=Offset(100),
    high_watermark=Offset(80),
    epoch_start_offset=Offset(90),
    committed_isr=frozenset({BrokerId(1)}),
    followers=(),
    eligible=frozenset({BrokerId(2)}),
    lag_time_max_ms=30_000,
    time_ms=100_000,
)


def version(text: str) -> KafkaVersion:
    read = parse_kafka_version(text)
    assert read is not None
    return read


def brokers(*ids: int) -> Brokers:
    return frozenset(map(BrokerId, ids))


def fetch(offset: int, leader_end: int, time_ms: int) -> FollowerFetch:
    return FollowerFetch(
        fetch_offset=Offset(offset),
        log_start_offset=Offset(0),
        leader_log_end_offset=Offset(leader_end),
        time_ms=time_ms,
    )


def test_a_follower_at_the_leaders_end_is_caught_up_now() -> None:
    remote = after_fetch(FOLLOWER, fetch(100, 100, 7_000))
    assert (remote.log_end_offset, remote.last_caught_up_time_ms, remote.last_fetch_time_ms) == (100, 7_000, 7_000)


def test_a_follower_that_reached_the_end_of_the_fetch_before_was_caught_up_then() -> None:
    remote = after_fetch(after_fetch(FOLLOWER, fetch(50, 100, 1_000)), fetch(100, 140, 2_000))
    assert remote.last_caught_up_time_ms == 1_000
    assert after_fetch(remote, fetch(139, 180, 3_000)).last_caught_up_time_ms == 1_000
    assert after_fetch(remote, fetch(140, 180, 3_000)).last_caught_up_time_ms == 2_000


def test_a_follower_that_truncated_is_remembered_with_its_lower_end() -> None:
    assert after_fetch(after_fetch(FOLLOWER, fetch(100, 100, 1)), fetch(60, 100, 2)).log_end_offset == 60


def test_a_new_leader_knows_nothing_and_a_reelected_one_keeps_offsets() -> None:
    member = at_new_leadership(BrokerId(2), in_isr=True, time_ms=5_000)
    assert (member.log_end_offset, member.last_caught_up_time_ms) == (-1, 5_000)
    assert at_new_leadership(BrokerId(2), in_isr=False, time_ms=5_000).last_caught_up_time_ms == 0
    known = after_fetch(FOLLOWER, fetch(70, 100, 1_000))
    kept = at_reelection(known, in_isr=True, leader_log_end_offset=Offset(110), time_ms=9_000)
    assert (kept.log_end_offset, kept.last_fetch_time_ms, kept.last_caught_up_time_ms) == (70, 9_000, 9_000)
    assert kept.last_fetch_leader_log_end_offset == 110


@pytest.mark.parametrize(("text", "lag"), [("2.4.1", 10_000), ("2.5.0", 30_000), ("4.3.0", 30_000)])
def test_exactly_at_the_limit_a_follower_is_in_sync_and_a_millisecond_later_not(text: str, lag: int) -> None:
    assert default_lag_time_max_ms(version(text)) == lag
    remote = replace(FOLLOWER, last_caught_up_time_ms=1_000)
    assert is_caught_up(remote, time_ms=1_000 + lag, lag_time_max_ms=lag)
    assert not is_caught_up(remote, time_ms=1_001 + lag, lag_time_max_ms=lag)


def test_at_the_leaders_end_nobody_leaves_since_2_1() -> None:
    idle = replace(FOLLOWER, log_end_offset=Offset(100), last_caught_up_time_ms=10)
    assert shrink_rule(version("2.0.1"))(idle, LEADER)
    assert not shrink_rule(version("2.1.0"))(idle, LEADER)
    assert shrink_rule(version("2.1.0"))(replace(idle, log_end_offset=Offset(99)), LEADER)


def test_slow_stuck_and_bootstrapping_replicas_are_told_apart() -> None:
    slow = replace(FOLLOWER, log_end_offset=Offset(60), last_caught_up_time_ms=10, last_fetch_time_ms=99_900)
    assert lag_kind(slow, LEADER) == "slow"
    assert lag_kind(replace(slow, last_fetch_time_ms=20), LEADER) == "stuck"
    assert lag_kind(replace(slow, last_caught_up_time_ms=0), LEADER) == "bootstrapping"
    assert lag_kind(replace(slow, last_caught_up_time_ms=99_000), LEADER) == "in-sync"


@pytest.mark.parametrize(
    ("text", "enters"),
    [
        ("1.1.1", (True, True, True, True)),
        ("2.0.1", (False, True, True, True)),
        ("2.7.0", (False, True, False, True)),
        ("3.3.0", (False, True, False, False)),
    ],
)
def test_entering_the_isr_became_harder(text: str, enters: tuple[bool, ...]) -> None:
    below_epoch_start = replace(FOLLOWER, log_end_offset=Offset(85))
    ready = replace(FOLLOWER, log_end_offset=Offset(90))
    in_flight = replace(LEADER, proposed_isr=brokers(1, 3))
    barred = replace(LEADER, eligible=brokers())
    may_enter = expand_rule(version(text))
    attempts = ((below_epoch_start, LEADER), (ready, LEADER), (ready, in_flight), (ready, barred))
    assert tuple(may_enter(*attempt) for attempt in attempts) == enters
    assert not may_enter(replace(FOLLOWER, log_end_offset=Offset(79)), LEADER)
    assert not may_enter(ready, replace(LEADER, committed_isr=brokers(1, 2)))


def test_who_may_enter_is_asked_of_the_broker_since_3_3() -> None:
    def kraft(
        text: str, *, fenced: bool = False, shutting_down: bool = False, registered: int = 7, fetching: int = 7
    ) -> bool:
        return eligible_kraft(
            version(text),
            fenced=fenced,
            shutting_down=shutting_down,
            registered_epoch=registered,
            fetch_epoch=fetching,
        )

    assert kraft("3.2.0", fenced=True)
    assert not kraft("3.3.0", fenced=True)
    assert not kraft("3.3.0", shutting_down=True)
    assert kraft("3.4.0", fetching=6)
    assert not kraft("3.5.0", fetching=6)
    assert kraft("3.5.0", fetching=-1)
    assert eligible_zookeeper(version("3.3.0"), alive=False)
    assert not eligible_zookeeper(version("3.4.0"), alive=False)


def test_a_pending_change_only_widens() -> None:
    for proposed, counted in ((brokers(1, 2, 3), brokers(1, 2, 3)), (brokers(1), brokers(1, 2)), (None, brokers(1, 2))):
        assert maximal_isr(brokers(1, 2), proposed) == counted


def test_assigned_replicas_are_in_sync_or_out_of_sync() -> None:
    assigned, isr = brokers(1, 2, 3, 4, 5), brokers(1, 2, 3)
    assert out_of_sync(assigned, isr) == brokers(4, 5)
    assert is_under_replicated(assigned, isr)
    assert not is_under_replicated(isr, isr)
    assert (is_under_min_isr(isr, 3), is_under_min_isr(isr, 4)) == (False, True)
