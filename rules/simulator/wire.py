"""Whether a follower's request reaches a broker that answers it: alive, leading, and of the same epoch."""

from __future__ import annotations

from rules.simulator.state import Broker, Cluster, say


def reach(cluster: Cluster, follower: Broker, *, fenced: bool, what: str) -> tuple[Cluster, Broker | None]:
    """The leader that takes a follower's request; none where the cluster says why."""
    told = follower.told
    if not follower.alive or follower.leading is not None or told is None or told.leader is None:
        return say(cluster, f"broker {follower.id} follows nobody"), None
    leader = cluster.broker(told.leader)
    if not leader.alive:
        return say(cluster, f"{what} is not answered: broker {leader.id} is down"), None
    known = leader.told.epoch if leader.told else None
    if fenced and (known is None or told.epoch > known):
        return say(cluster, f"{what} of epoch {told.epoch}: broker {leader.id} answers UNKNOWN_LEADER_EPOCH"), None
    if fenced and known is not None and told.epoch < known:
        return say(cluster, f"{what} of epoch {told.epoch}: broker {leader.id} answers FENCED_LEADER_EPOCH"), None
    if leader.leading is None:
        return say(cluster, f"{what}: broker {leader.id} answers NOT_LEADER_OR_FOLLOWER"), None
    return cluster, leader
