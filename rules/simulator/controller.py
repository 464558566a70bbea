"""What the controller does: elects, notices the dead, tells the living."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Epoch
from rules.protocol.placement import (
    Assignment,
    Election,
    elect_at_controlled_shutdown,
    elect_at_reassignment,
    elect_leader,
    elect_leader_or_unclean,
    elect_preferred,
)
from rules.simulator.generation import ISR_WITHOUT_NEW_EPOCH
from rules.simulator.roles import tell
from rules.simulator.state import Cluster, Metadata, decision_note, may_elect_unclean, note, say

Told = tuple[BrokerId, ...] | None
"""Who hears of a decision at once; None is everyone alive."""


def decide(cluster: Cluster, leader: BrokerId | None, isr: Brokers, told: Told = None) -> Cluster:
    """A decision with a new epoch, told to its leader first."""
    before = cluster.in_force
    decided = Metadata(epoch=Epoch(before.epoch + 1), version=before.version + 1, leader=leader, isr=isr)
    return announce(_written(cluster, decided), decided, told)


def _written(cluster: Cluster, decided: Metadata) -> Cluster:
    return note(replace(cluster, decided=(*cluster.decided, decided)), decision_note(cluster, decided))


def announce(cluster: Cluster, decided: Metadata, told: Told = None) -> Cluster:
    """Tells a decision to the brokers named, or to all that run."""
    reached = [broker.id for broker in cluster.brokers if broker.alive and (told is None or broker.id in told)]
    for broker in sorted(reached, key=lambda found: found != decided.leader):
        cluster = tell(cluster, cluster.broker(broker), decided)
    return cluster


def elect(cluster: Cluster, chosen: BrokerId | None, *, unclean: bool, told: Told = None) -> Cluster:
    """Elects the broker named, or whom the rules of placement choose."""
    if chosen is not None:
        return _elect_named(cluster, chosen, unclean=unclean, told=told)
    allowed = unclean or may_elect_unclean(cluster, cluster.brokers[0])
    rule = elect_leader_or_unclean if allowed else elect_leader
    return _hold(cluster, rule(cluster.assignment, cluster.alive, cluster.in_force.isr), "leader offline", told)


def _elect_named(cluster: Cluster, chosen: BrokerId, *, unclean: bool, told: Told) -> Cluster:
    isr = cluster.in_force.isr
    if chosen not in cluster.alive or chosen not in cluster.assignment:
        return say(cluster, f"broker {chosen} cannot be elected: it is not alive or holds no replica")
    if chosen not in isr and not unclean:
        return say(cluster, f"broker {chosen} cannot be elected: it is not in sync")
    if chosen not in isr:
        named = Election(leader=chosen, isr=frozenset({chosen}), unclean=True, because="named, out of sync")
    else:
        named = Election(leader=chosen, isr=isr & cluster.alive, unclean=False, because="named, in sync")
    return _hold(cluster, named, "by hand", told)


def elect_the_preferred(cluster: Cluster, told: Told = None) -> Cluster:
    """A preferred leader election."""
    election = elect_preferred(cluster.assignment, cluster.alive, cluster.in_force.isr)
    if election.leader is None or election.leader == cluster.in_force.leader:
        why = election.because if election.leader is None else "the preferred replica leads already"
        return say(cluster, why)
    return _hold(cluster, election, "preferred replica", told)


def reassign(cluster: Cluster, target: Assignment) -> Cluster:
    """The last step of a reassignment: the target holds the replicas, and a leader outside it is replaced."""
    kept = cluster.in_force.isr & frozenset(target)
    leader = cluster.in_force.leader
    election = elect_at_reassignment(target, cluster.alive, cluster.in_force.isr)
    if leader is not None and leader in target and leader in cluster.alive:
        election = Election(leader=leader, isr=kept, unclean=False, because="the leader is of the new assignment too")
    election = replace(election, isr=election.isr & frozenset(target))
    return _hold(replace(cluster, assignment=target), election, "reassignment")


def hand_over(cluster: Cluster, broker: BrokerId) -> Cluster:
    """A broker asks to shut down: it leaves the ISR, and if it leads another one is elected."""
    state = cluster.in_force
    others = state.isr - {broker}
    if state.leader != broker:
        return decide(cluster, state.leader, others) if broker in state.isr and others else cluster
    election = elect_at_controlled_shutdown(cluster.assignment, cluster.alive, state.isr, frozenset({broker}))
    if election.leader is None:
        return say(cluster, f"broker {broker} is the last in sync: {election.because}")
    return _hold(cluster, replace(election, isr=election.isr - {broker}), "controlled shutdown")


def notice(cluster: Cluster, broker: BrokerId, told: Told = None) -> Cluster:
    """The controller notices that a broker is gone: out of the ISR with it, and if it led another one is elected."""
    cluster = replace(cluster, fenced=cluster.fenced | {broker})
    state = cluster.in_force
    if state.leader == broker:
        return elect(cluster, None, unclean=False, told=told)
    if broker not in state.isr or state.isr == {broker}:
        return say(cluster, f"broker {broker} is gone; the ISR stays as it is")
    return _without(cluster, broker, told)


def _without(cluster: Cluster, broker: BrokerId, told: Told) -> Cluster:
    """The controller's own shrink costs a leader epoch, but not in KRaft since 3.6-IV0."""
    state = cluster.in_force
    generation = cluster.brokers[0].generation
    if not generation.kraft or generation.spoken < ISR_WITHOUT_NEW_EPOCH:
        return decide(cluster, state.leader, state.isr - {broker}, told)
    decided = replace(state, version=state.version + 1, isr=state.isr - {broker})
    return announce(_written(cluster, decided), decided, told)


def _hold(cluster: Cluster, election: Election, trigger: str, told: Told = None) -> Cluster:
    members = ", ".join(map(str, sorted(election.isr)))
    kind = f"{'unclean election' if election.unclean else 'election'} ({trigger})"
    if election.leader is None:
        cluster = say(cluster, f"{kind}: nobody, {election.because}; the partition is offline")
        return cluster if cluster.in_force.leader is None else decide(cluster, None, election.isr, told)
    cluster = say(cluster, f"{kind}: broker {election.leader}, {election.because}; ISR {members}")
    return decide(cluster, election.leader, election.isr, told)


def decision(cluster: Cluster, epoch: int | None) -> Metadata | None:
    """The latest decision, or the latest of an epoch."""
    found: Iterable[Metadata] = (
        decided for decided in reversed(cluster.decided) if epoch is None or decided.epoch == epoch
    )
    return next(iter(found), None)
