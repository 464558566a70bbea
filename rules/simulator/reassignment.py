"""Reassignments: who is new joins the partition by catching up, then who is not of the target leaves it (KIP-455).

With ZooKeeper the controller takes a step at a time, each with an epoch of its own: the assignment of both, once all of
the target are in sync the target alone, then an ISR without those that were removed. In between the leader holds an ISR
with members that are not of its assignment. In KRaft the decision that takes the last new one into the ISR does it all
(`decision.reassigned`).
"""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Epoch
from rules.protocol.placement import Assignment, elect_at_reassignment
from rules.simulator.controller import Hearers, announce
from rules.simulator.decision import succeeding, target_of, written
from rules.simulator.notes import Decided
from rules.simulator.state import Cluster, say


def reassign(cluster: Cluster, target: Assignment, hearers: Hearers = None) -> Cluster:
    """A reassignment begins; it ends at once where nobody is new."""
    state, brokers = cluster.in_force, frozenset(target)
    if state.adding or state.removing:
        words = f"a reassignment to {_ids(target_of(state))} is under way: it is neither replaced nor cancelled here"
        return say(cluster, words)
    if len(brokers) != len(target) or target == state.replicas:
        return say(cluster, f"there is nothing to reassign: {_ids(target)}")
    cluster = replace(cluster, reassignment_told=None if hearers is None else frozenset(hearers))
    removing = frozenset(state.replicas) - brokers
    both = (*target, *(broker for broker in state.replicas if broker in removing))
    under_way = replace(state, replicas=both, adding=brokers - frozenset(state.replicas), removing=removing)
    if cluster.brokers[0].generation.kraft:
        return _in_one(cluster, under_way)
    cluster = say(cluster, f"reassignment from {_ids(state.replicas)} to {_ids(target)}")
    if not brokers <= state.isr:
        return _decide(cluster, replace(under_way, epoch=Epoch(state.epoch + 1)))
    return settle(replace(cluster, decided=(*cluster.decided[:-1], under_way)))


def _in_one(cluster: Cluster, under_way: Decided) -> Cluster:
    """The decision of a KRaft controller, by which a reassignment that adds nobody is over at once."""
    before = cluster.in_force
    begun = replace(cluster, decided=(*cluster.decided[:-1], under_way))
    decided = succeeding(begun, epoch=before.epoch, leader=before.leader, isr=before.isr)
    ends = f"reassignment from {_ids(before.replicas)} to {_ids(target_of(under_way))}"
    return tell_of(say(written(cluster, decided), *elected(before, decided), ends), decided)


def elected(before: Decided, decided: Decided) -> tuple[str, ...]:
    """The words for a leader that a reassignment replaces."""
    if decided.leader == before.leader:
        return ()
    chosen = "nobody" if decided.leader is None else f"broker {decided.leader}"
    return (f"election (reassignment): {chosen}; ISR {_ids(tuple(sorted(decided.isr)))}",)


def settle(cluster: Cluster) -> Cluster:
    """With ZooKeeper: when all of the target are in sync the controller ends the reassignment, in two steps or more."""
    state = cluster.in_force
    if not (state.adding or state.removing) or not frozenset(target_of(state)) <= state.isr:
        return cluster
    leader, isr = state.leader, state.isr
    if leader not in target_of(state) or leader not in cluster.alive:
        election = elect_at_reassignment(target_of(state), cluster.alive, isr)
        if election.leader is None:
            return say(cluster, f"the reassignment does not end: {election.because}")
        leader, isr = election.leader, isr & cluster.alive
        cluster = say(cluster, f"election (reassignment): broker {leader}, {election.because}")
    epoch = Epoch(state.epoch + 1)
    ended = replace(
        state, epoch=epoch, leader=leader, isr=isr, replicas=target_of(state), adding=frozenset(), removing=frozenset()
    )
    cluster = _decide(cluster, ended)
    for broker in sorted(state.removing & isr):
        last = cluster.in_force
        cluster = _decide(cluster, replace(last, epoch=Epoch(last.epoch + 1), isr=last.isr - {broker}))
    return say(cluster, f"the reassignment to {_ids(target_of(state))} is over")


def _decide(cluster: Cluster, decided: Decided) -> Cluster:
    decided = replace(decided, version=cluster.in_force.version + 1, unclean=False)
    return tell_of(written(cluster, decided), decided)


def tell_of(cluster: Cluster, decided: Decided) -> Cluster:
    """Tells a step of a reassignment to those who hear of it at once."""
    hearers: Brokers | None = cluster.reassignment_told
    return announce(cluster, decided, None if hearers is None else tuple(hearers))


def _ids(brokers: tuple[BrokerId, ...]) -> str:
    return ",".join(map(str, brokers))
