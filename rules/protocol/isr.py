"""The in-sync replica set: what a leader knows of its followers, and who leaves and enters the ISR, by version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rules.protocol.offsets import UNKNOWN_OFFSET, BrokerId, Offset
from rules.protocol.versions import KafkaVersion, protocol

Brokers = frozenset[BrokerId]

ALTER_ISR: Final = protocol("2.7-IV2")
UNKNOWN_BROKER_EPOCH: Final = -1


class RemoteReplica(Struct, frozen=True, kw_only=True):
    """What a leader remembers of one follower. There is no remote high watermark."""

    broker: BrokerId
    log_end_offset: Offset = UNKNOWN_OFFSET
    log_start_offset: Offset = UNKNOWN_OFFSET
    last_fetch_time_ms: int = 0
    last_fetch_leader_log_end_offset: Offset = UNKNOWN_OFFSET
    last_caught_up_time_ms: int = 0
    broker_epoch: int = UNKNOWN_BROKER_EPOCH


class FollowerFetch(Struct, frozen=True, kw_only=True):
    """One Fetch that the leader accepted: epoch checked, replica assigned, read without error, not diverging."""

    fetch_offset: Offset
    log_start_offset: Offset
    leader_log_end_offset: Offset
    """The leader's log end before the read."""
    time_ms: int
    broker_epoch: int = UNKNOWN_BROKER_EPOCH


class LeaderView(Struct, frozen=True, kw_only=True):
    """One partition as its leader sees it at one moment."""

    log_end_offset: Offset
    high_watermark: Offset
    epoch_start_offset: Offset
    """The leader's log end when its epoch began."""
    committed_isr: Brokers
    proposed_isr: Brokers | None = None
    """The ISR change still in flight to the controller."""
    followers: tuple[RemoteReplica, ...]
    eligible: Brokers
    """The followers that may enter the ISR, by `eligible_zookeeper` or `eligible_kraft`."""
    lag_time_max_ms: int
    time_ms: int


ExpandRule = Callable[[RemoteReplica, LeaderView], bool]
ShrinkRule = Callable[[RemoteReplica, LeaderView], bool]


def after_fetch(remote: RemoteReplica, fetch: FollowerFetch) -> RemoteReplica:
    """The leader's memory after an accepted fetch. The log end offset is set, not raised: it falls after truncation."""
    caught_up = remote.last_caught_up_time_ms
    if fetch.fetch_offset >= fetch.leader_log_end_offset:
        caught_up = max(caught_up, fetch.time_ms)
    elif fetch.fetch_offset >= remote.last_fetch_leader_log_end_offset:
        caught_up = max(caught_up, remote.last_fetch_time_ms)
    return replace(
        remote,
        log_end_offset=fetch.fetch_offset,
        log_start_offset=fetch.log_start_offset,
        last_fetch_time_ms=fetch.time_ms,
        last_fetch_leader_log_end_offset=max(fetch.leader_log_end_offset, remote.last_fetch_leader_log_end_offset),
        last_caught_up_time_ms=caught_up,
        broker_epoch=fetch.broker_epoch,
    )


def at_new_leadership(broker: BrokerId, *, in_isr: bool, time_ms: int) -> RemoteReplica:
    """What a broker that did not lead before starts with: nothing is known, ISR members count as caught up now."""
    return RemoteReplica(broker=broker, last_caught_up_time_ms=time_ms if in_isr else 0)


def at_reelection(remote: RemoteReplica, *, in_isr: bool, leader_log_end_offset: Offset, time_ms: int) -> RemoteReplica:
    """What the same leader keeps when it leads a higher epoch: offsets stay, times begin anew."""
    time_ms = time_ms if in_isr else 0
    return replace(
        remote,
        last_fetch_time_ms=time_ms,
        last_fetch_leader_log_end_offset=leader_log_end_offset,
        last_caught_up_time_ms=time_ms,
    )


def default_lag_time_max_ms(version: KafkaVersion) -> int:
    """The default of replica.lag.time.max.ms."""
    return 30_000 if version.at_least(2, 5) else 10_000


def is_caught_up(remote: RemoteReplica, *, time_ms: int, lag_time_max_ms: int) -> bool:
    """Whether a follower was at the leader's log end recently enough; exactly at the limit it still is."""
    return time_ms - remote.last_caught_up_time_ms <= lag_time_max_ms


LagKind = Literal["in-sync", "slow", "stuck", "bootstrapping"]


def lag_kind(remote: RemoteReplica, leader: LeaderView) -> LagKind:
    """Why a follower is out of sync: never caught up, no longer fetching, or fetching without reaching the end."""
    if not shrinks(remote, leader):
        return "in-sync"
    if remote.last_caught_up_time_ms == 0:
        return "bootstrapping"
    fetching = leader.time_ms - remote.last_fetch_time_ms <= leader.lag_time_max_ms
    return "slow" if fetching else "stuck"


def shrinks_before_kafka_7152(remote: RemoteReplica, leader: LeaderView) -> bool:
    """Whether a follower must leave the ISR up to 2.0: by time alone."""
    return not is_caught_up(remote, time_ms=leader.time_ms, lag_time_max_ms=leader.lag_time_max_ms)


def shrinks(remote: RemoteReplica, leader: LeaderView) -> bool:
    """The same since 2.1.0: a follower at the leader's log end stays however long ago it fetched."""
    return remote.log_end_offset != leader.log_end_offset and shrinks_before_kafka_7152(remote, leader)


def shrink_rule(version: KafkaVersion) -> ShrinkRule:
    """Which condition a broker of this version applies when it shrinks an ISR."""
    return shrinks if version.at_least(2, 1) else shrinks_before_kafka_7152


def expands_before_kafka_7128(remote: RemoteReplica, leader: LeaderView) -> bool:
    """Whether a follower may enter the ISR up to 2.0.0: it reached the high watermark."""
    return remote.broker not in leader.committed_isr and remote.log_end_offset >= leader.high_watermark


def expands_from_epoch_start(remote: RemoteReplica, leader: LeaderView) -> bool:
    """The same from 2.0.1 and 2.1.0 to 2.6: it also reached the offset where the leader's epoch began."""
    reached_epoch = remote.log_end_offset >= leader.epoch_start_offset
    return reached_epoch and expands_before_kafka_7128(remote, leader)


def expands_one_at_a_time(remote: RemoteReplica, leader: LeaderView) -> bool:
    """The same from 2.7 to 3.2: also no other ISR change is in flight."""
    return leader.proposed_isr is None and expands_from_epoch_start(remote, leader)


def expands_if_eligible(remote: RemoteReplica, leader: LeaderView) -> bool:
    """The same since 3.3: the broker must also be one that the controller would accept."""
    return remote.broker in leader.eligible and expands_one_at_a_time(remote, leader)


def expand_rule(version: KafkaVersion) -> ExpandRule:
    """Which condition a broker of this version applies when it expands an ISR."""
    if version.at_least(3, 3):
        return expands_if_eligible
    if version.at_least(2, 7):
        return expands_one_at_a_time
    return expands_from_epoch_start if version.at_least(2, 0, 1) else expands_before_kafka_7128


def eligible_zookeeper(version: KafkaVersion, *, alive: bool) -> bool:
    """Whether a follower may enter the ISR in a ZooKeeper cluster: since 3.4 its broker must be alive."""
    return alive or not version.at_least(3, 4)


def eligible_kraft(
    version: KafkaVersion, *, fenced: bool, shutting_down: bool, registered_epoch: int, fetch_epoch: int
) -> bool:
    """The same in KRaft: since 3.3 neither fenced nor shutting down, since 3.5 fetching as the registered broker."""
    if not version.at_least(3, 3):
        return True
    same_life = fetch_epoch in (UNKNOWN_BROKER_EPOCH, registered_epoch) or not version.at_least(3, 5)
    return same_life and not fenced and not shutting_down


def maximal_isr(committed: Brokers, proposed: Brokers | None) -> Brokers:
    """Everyone who must be counted while an ISR change is in flight: an expansion counts at once, a shrink not yet."""
    return committed if proposed is None else committed | proposed


def out_of_sync(assignment: Brokers, isr: Brokers) -> Brokers:
    """The assigned replicas outside the ISR."""
    return assignment - isr


def is_under_replicated(assignment: Brokers, isr: Brokers) -> bool:
    """Whether some assigned replica is outside the ISR."""
    return bool(out_of_sync(assignment, isr))


def is_under_min_isr(isr: Brokers, min_insync_replicas: int) -> bool:
    """Whether an acks=all produce is refused at this ISR."""
    return len(isr) < min_insync_replicas
