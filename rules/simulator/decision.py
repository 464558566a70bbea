"""What the controller's next decision says of leader, ISR and eligible replicas, and how it is written down."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.eligible import eligible_after, keeps_eligible_replicas, last_known_leader_after
from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Epoch
from rules.protocol.placement import Assignment
from rules.simulator.notes import Decided
from rules.simulator.state import Cluster, note


def keeps_eligible(cluster: Cluster) -> bool:
    """Whether the controller keeps eligible leader replicas."""
    generation = cluster.brokers[0].generation
    return generation.kraft and keeps_eligible_replicas(generation.spoken, cluster.settings.eligible_leader_replicas)


def succeeding(
    cluster: Cluster,
    *,
    epoch: Epoch,
    leader: BrokerId | None,
    isr: Brokers,
    unclean: bool = False,
    lost: Brokers = frozenset(),
) -> Decided:
    """The decision after the one in force; `lost` are brokers that came back from an unclean shutdown."""
    before = cluster.in_force
    decided = replace(
        before, epoch=epoch, version=before.version + 1, leader=leader, isr=isr, unclean=unclean, elr=frozenset(),
        last_known_leader=None,
    )  # fmt: skip
    if cluster.brokers[0].generation.kraft:
        decided = reassigned(cluster, decided)
    isr, leader = decided.isr, decided.leader
    if not keeps_eligible(cluster):
        return decided
    least = min(cluster.settings.min_insync_replicas, len(decided.replicas))
    elr = eligible_after(before.elr, before.isr, isr, min_insync_replicas=least, lost=lost)
    return replace(
        decided,
        elr=frozenset() if unclean else elr & frozenset(decided.replicas),
        last_known_leader=last_known_leader_after(before.last_known_leader, before.leader, leader, isr),
    )


def target_of(decided: Decided) -> Assignment:
    """The assignment that a reassignment under way is to end with; else the one in force."""
    return tuple(broker for broker in decided.replicas if broker not in decided.removing)


def reassigned(cluster: Cluster, decided: Decided) -> Decided:
    """A KRaft controller ends a reassignment in the very decision by which all whom it adds are in sync.

    Who is removed leaves assignment and ISR at once, which costs an epoch; a leader among them is replaced.
    """
    isr = decided.isr - decided.removing
    if not (decided.adding or decided.removing) or not isr or not decided.adding <= isr:
        return decided
    leader = decided.leader
    if leader in decided.removing:
        leader = next((broker for broker in target_of(decided) if broker in isr & cluster.alive), None)
    raised = decided.removing or leader != decided.leader
    epoch = Epoch(cluster.in_force.epoch + 1) if raised else decided.epoch
    nobody: Brokers = frozenset()
    kept = target_of(decided)
    return replace(decided, epoch=epoch, leader=leader, isr=isr, replicas=kept, adding=nobody, removing=nobody)


def written(cluster: Cluster, decided: Decided) -> Cluster:
    """The cluster with a decision in force, of which nobody has heard yet."""
    return note(replace(cluster, decided=(*cluster.decided, decided)), decided)
