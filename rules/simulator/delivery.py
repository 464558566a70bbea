"""Requests between brokers: whether one reaches a broker that answers it, and what the broker writes of its answer."""

from __future__ import annotations

from msgspec.structs import replace

from rules.simulator.notes import (
    FENCED_LEADER_EPOCH,
    NO_ERROR,
    NOT_LEADER_OR_FOLLOWER,
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_LEADER_EPOCH,
    AnsweredFetch,
)
from rules.simulator.state import Broker, Cluster, InFlight, note, say

Refused = int
"""The error code of a broker that is up and does not serve; 0 where nobody answers."""


def reach(cluster: Cluster, follower: Broker, *, fenced: bool, what: str) -> tuple[Cluster, Broker | None, Refused]:
    """The leader that takes a follower's request; none where the cluster says why."""
    heard = follower.heard
    if not follower.alive or follower.leading is not None or heard is None or heard.leader is None:
        return say(cluster, f"broker {follower.id} follows nobody"), None, NO_ERROR
    leader = cluster.broker(heard.leader)
    if not leader.alive:
        return say(cluster, f"{what} is not answered: broker {leader.id} is down"), None, NO_ERROR
    known = leader.heard.epoch if leader.heard else None
    if fenced and (known is None or heard.epoch > known):
        words = f"{what} of epoch {heard.epoch}: broker {leader.id} answers UNKNOWN_LEADER_EPOCH"
        return say(cluster, words), None, UNKNOWN_LEADER_EPOCH
    if fenced and known is not None and heard.epoch < known:
        words = f"{what} of epoch {heard.epoch}: broker {leader.id} answers FENCED_LEADER_EPOCH"
        return say(cluster, words), None, FENCED_LEADER_EPOCH
    if leader.leading is None:
        return say(cluster, f"{what}: broker {leader.id} answers NOT_LEADER_OR_FOLLOWER"), None, NOT_LEADER_OR_FOLLOWER
    return cluster, leader, NO_ERROR


def answered(follower: Broker, in_flight: InFlight) -> AnsweredFetch:
    """What the leader writes of the answer to a Fetch."""
    return AnsweredFetch(
        leader=in_flight.leader,
        follower=follower.id,
        offset=in_flight.offset,
        last_epoch=follower.last_epoch,
        believed_epoch=in_flight.believed_epoch,
        log_start_offset=follower.log.start_offset,
        leader_log_start_offset=in_flight.log_start_offset,
        error=OFFSET_OUT_OF_RANGE if in_flight.kind == "out-of-range" else NO_ERROR,
        high_watermark=None if in_flight.kind == "out-of-range" else in_flight.high_watermark,
        diverging=in_flight.end if in_flight.kind == "diverging" else None,
        records=sum(batch.count for batch in in_flight.batches),
        waited=in_flight.kind == "waiting",
    )


def refused(follower: Broker, error: Refused) -> tuple[AnsweredFetch, ...]:
    """What a broker writes of a Fetch that it turns away."""
    heard = follower.heard
    if not error or heard is None or heard.leader is None:
        return ()
    return (
        AnsweredFetch(
            leader=heard.leader,
            follower=follower.id,
            offset=follower.log.end_offset,
            last_epoch=follower.last_epoch,
            believed_epoch=heard.epoch,
            log_start_offset=follower.log.start_offset,
            error=error,
        ),
    )


def serves(cluster: Cluster, waiting: InFlight) -> bool:
    """Whether the leader at which a Fetch waits still leads the epoch in which it took it.

    A Fetch that names no epoch waits on while its leader goes on from epoch to epoch.
    """
    return _took(cluster.broker(waiting.leader), waiting)


def _took(leader: Broker, waiting: InFlight) -> bool:
    if waiting.kind != "waiting" or leader.heard is None or leader.leading is None or not leader.alive:
        return False
    if waiting.names_epoch:
        return leader.heard.epoch == waiting.leader_epoch
    return leader.leading.since_epoch <= waiting.leader_epoch


def abandon(cluster: Cluster, follower: Broker) -> Cluster:
    """A follower will not hear the answer for which it waits: the leader answers, and writes it down, all the same."""
    waiting = follower.in_flight
    if waiting is None or not serves(cluster, waiting):
        return cluster
    leader = cluster.broker(waiting.leader)
    now = replace(waiting, high_watermark=leader.high_watermark, log_start_offset=leader.log.start_offset)
    return note(cluster, answered(follower, now))


def let_go(cluster: Cluster, leader: Broker, *, deposed: bool = True) -> Cluster:
    """A broker whose term is over answers those that waited at it with an error; if it leads on, who named an epoch."""
    for follower in cluster.brokers:
        waiting = follower.in_flight
        over = waiting is not None and waiting.leader == leader.id and _took(leader, waiting)
        if waiting is not None and over and (deposed or waiting.names_epoch):
            error = FENCED_LEADER_EPOCH if waiting.names_epoch else NOT_LEADER_OR_FOLLOWER
            cluster = note(cluster, replace(answered(follower, waiting), error=error, high_watermark=None))
    return cluster
