"""What the controller does: elects, notices the dead, tells the living."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs
from msgspec.structs import replace

from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Epoch
from rules.protocol.placement import (
    Election,
    elect_at_controlled_shutdown,
    elect_eligible_leader,
    elect_leader,
    elect_leader_or_unclean,
    elect_preferred,
)
from rules.simulator.decision import keeps_eligible, succeeding, written
from rules.simulator.generation import ISR_WITHOUT_NEW_EPOCH
from rules.simulator.notes import Decided
from rules.simulator.roles_taken import tell
from rules.simulator.state import Cluster, may_elect_unclean, say

Hearers = tuple[BrokerId, ...] | None
"""Who hears of a decision at once; None is everyone alive."""


def decide(
    cluster: Cluster,
    leader: BrokerId | None,
    isr: Brokers,
    hearers: Hearers = None,
    *,
    unclean: bool = False,
    lost: Brokers = frozenset(),
) -> Cluster:
    """A decision with a new epoch, told to its leader first."""
    epoch = Epoch(cluster.in_force.epoch + 1)
    decided = succeeding(cluster, epoch=epoch, leader=leader, isr=isr, unclean=unclean, lost=lost)
    return announce(written(cluster, decided), decided, hearers)


def announce(cluster: Cluster, decided: Decided, hearers: Hearers = None) -> Cluster:
    """Tells a decision to the brokers named, or to all that run."""
    reached = [
        broker.id
        for broker in cluster.brokers
        if broker.alive
        and (hearers is None or broker.id in hearers)
        and (broker.holds or broker.id in decided.replicas)
    ]
    for broker in sorted(reached, key=lambda found: found != decided.leader):
        cluster = tell(cluster, cluster.broker(broker), decided)
    return cluster


def elect(cluster: Cluster, chosen: BrokerId | None, *, unclean: bool, hearers: Hearers = None) -> Cluster:
    """Elects the broker named, or whom the rules of placement choose."""
    if chosen is not None:
        return _elect_named(cluster, chosen, unclean=unclean, hearers=hearers)
    allowed = unclean or may_elect_unclean(cluster, cluster.brokers[0])
    return _hold(cluster, _choice(cluster, allowed=allowed), "leader offline", hearers)


def _choice(cluster: Cluster, *, allowed: bool) -> Election:
    """Whom the rules of placement choose among the living."""
    state, alive = cluster.in_force, cluster.alive
    if keeps_eligible(cluster):
        clean = elect_eligible_leader(cluster.assignment, alive, state.isr, state.elr, state.last_known_leader)
        if clean.leader is not None or not allowed:
            return clean
    rule = elect_leader_or_unclean if allowed else elect_leader
    return rule(cluster.assignment, alive, state.isr)


def _elect_named(cluster: Cluster, chosen: BrokerId, *, unclean: bool, hearers: Hearers) -> Cluster:
    isr = cluster.in_force.isr
    eligible = not isr & cluster.alive and chosen in cluster.in_force.elr
    if chosen not in cluster.alive or chosen not in cluster.assignment:
        return say(cluster, f"broker {chosen} cannot be elected: it is not alive or holds no replica")
    if chosen not in isr and not eligible and not unclean:
        return say(cluster, f"broker {chosen} cannot be elected: it is not in sync")
    if eligible:
        because = "named, an eligible leader replica"
        named = Election(leader=chosen, isr=frozenset({chosen}), unclean=False, because=because)
    elif chosen not in isr:
        named = Election(leader=chosen, isr=frozenset({chosen}), unclean=True, because="named, out of sync")
    else:
        named = Election(leader=chosen, isr=isr & cluster.alive, unclean=False, because="named, in sync")
    return _hold(cluster, named, "by hand", hearers)


def elect_the_preferred(cluster: Cluster, hearers: Hearers = None) -> Cluster:
    """A preferred leader election."""
    election = elect_preferred(cluster.assignment, cluster.alive, cluster.in_force.isr)
    if election.leader is None or election.leader == cluster.in_force.leader:
        why = election.because if election.leader is None else "the preferred replica leads already"
        return say(cluster, why)
    return _hold(cluster, election, "preferred replica", hearers)


def hand_over(cluster: Cluster, broker: BrokerId) -> Cluster:
    """A broker asks to shut down: it leaves the ISR, and if it leads another one is elected."""
    state = cluster.in_force
    others = state.isr - {broker}
    if state.leader != broker:
        return decide(cluster, state.leader, others) if broker in state.isr and others else cluster
    election = elect_at_controlled_shutdown(cluster.assignment, cluster.alive, state.isr, frozenset({broker}))
    if election.leader is None:
        cluster = say(cluster, f"broker {broker} is the last in sync: {election.because}")
        return decide(cluster, None, frozenset()) if keeps_eligible(cluster) else cluster
    return _hold(cluster, structs.replace(election, isr=election.isr - {broker}), "controlled shutdown")


def notice(cluster: Cluster, broker: BrokerId, hearers: Hearers = None) -> Cluster:
    """The controller notices that a broker is gone: out of the ISR with it, and if it led another one is elected."""
    cluster = replace(cluster, fenced=cluster.fenced | {broker})
    state = cluster.in_force
    if state.leader == broker:
        return elect(cluster, None, unclean=False, hearers=hearers)
    if broker not in state.isr or state.isr == {broker}:
        return say(cluster, f"broker {broker} is gone; the ISR stays as it is")
    return _without(cluster, broker, hearers)


def _without(cluster: Cluster, broker: BrokerId, hearers: Hearers) -> Cluster:
    """The controller's own shrink costs a leader epoch, but not in KRaft since 3.6-IV0."""
    state = cluster.in_force
    generation = cluster.brokers[0].generation
    if not generation.kraft or generation.spoken < ISR_WITHOUT_NEW_EPOCH:
        return decide(cluster, state.leader, state.isr - {broker}, hearers)
    decided = succeeding(cluster, epoch=state.epoch, leader=state.leader, isr=state.isr - {broker})
    return announce(written(cluster, decided), decided, hearers)


def register(cluster: Cluster, broker: BrokerId, *, in_order: bool) -> Cluster:
    """A broker registers for another life. After a crash it is trusted no longer: neither in sync nor eligible."""
    state = cluster.in_force
    lost: Brokers = frozenset() if in_order else frozenset({broker})
    if broker not in state.isr and not lost & state.elr:
        return cluster
    isr = state.isr - {broker}
    if lost:
        cluster = say(cluster, f"broker {broker} comes back from an unclean shutdown: neither in sync nor eligible now")
    if state.leader == broker:
        election = elect_eligible_leader(cluster.assignment, cluster.alive, isr, state.elr - lost)
        return decide(cluster, election.leader, election.isr, lost=lost)
    decided = succeeding(cluster, epoch=state.epoch, leader=state.leader, isr=isr, lost=lost)
    return announce(written(cluster, decided), decided)


def _hold(cluster: Cluster, election: Election, trigger: str, hearers: Hearers = None) -> Cluster:
    members = ", ".join(map(str, sorted(election.isr)))
    kind = f"{'unclean election' if election.unclean else 'election'} ({trigger})"
    if election.leader is None:
        cluster = say(cluster, f"{kind}: nobody, {election.because}; the partition is offline")
        return cluster if cluster.in_force.leader is None else decide(cluster, None, election.isr, hearers)
    cluster = say(cluster, f"{kind}: broker {election.leader}, {election.because}; ISR {members}")
    return decide(cluster, election.leader, election.isr, hearers, unclean=election.unclean)


def decision(cluster: Cluster, epoch: int | None) -> Decided | None:
    """The latest decision, or the latest of an epoch."""
    found: Iterable[Decided] = (
        decided for decided in reversed(cluster.decided) if epoch is None or decided.epoch == epoch
    )
    return next(iter(found), None)
