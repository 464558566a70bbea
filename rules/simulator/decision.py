"""What the controller's next decision says of leader, ISR and eligible replicas, and how it is written down."""

from __future__ import annotations

from dataclasses import replace

from rules.protocol.eligible import eligible_after, keeps_eligible_replicas, last_known_leader_after
from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId, Epoch
from rules.simulator.state import Cluster, Metadata, decision_note, note


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
) -> Metadata:
    """The decision after the one in force; `lost` are brokers that came back from an unclean shutdown."""
    before = cluster.in_force
    decided = Metadata(epoch=epoch, version=before.version + 1, leader=leader, isr=isr, unclean=unclean)
    if not keeps_eligible(cluster):
        return decided
    least = min(cluster.settings.min_insync_replicas, len(cluster.assignment))
    elr = eligible_after(before.elr, before.isr, isr, min_insync_replicas=least, lost=lost)
    return replace(
        decided,
        elr=frozenset() if unclean else elr,
        last_known_leader=last_known_leader_after(before.last_known_leader, before.leader, leader, isr),
    )


def written(cluster: Cluster, decided: Metadata) -> Cluster:
    """The cluster with a decision in force, of which nobody has heard yet."""
    return note(replace(cluster, decided=(*cluster.decided, decided)), decision_note(cluster, decided))
