"""A setting of the topic that is changed while brokers run: who takes it over, and what the controller decides then."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rules.simulator.controller import Hearers, announce
from rules.simulator.decision import keeps_eligible, succeeding, written
from rules.simulator.events import MIN_IN_SYNC, UNCLEAN, Configure
from rules.simulator.notes import Configured, ConfiguredTopic
from rules.simulator.state import Cluster, note, say


def configure(cluster: Cluster, event: Configure) -> Cluster:
    """The controller keeps the new value; whoever runs goes by it at once, and weighs nothing because of it."""
    settings = cluster.settings
    if event.min_insync_replicas is not None:
        settings = replace(settings, min_insync_replicas=event.min_insync_replicas)
    if event.unclean_leader_election is not None:
        settings = replace(settings, unclean_leader_election=event.unclean_leader_election)
    own = {**dict(cluster.configured or _made_with(cluster)), event.name: event.value}
    after = replace(cluster, settings=settings, configured=tuple(own.items()))
    after = note(after, ConfiguredTopic(name=event.name, value=event.value))
    alive = (broker for broker in after.brokers if broker.alive)
    noted = note(after, *(Configured(broker=broker.id, settings=after.configured) for broker in alive))
    said = say(noted, f"{event.name} is {event.value} from now on")
    return said if event.min_insync_replicas is None else _without_eligible(said, event.hearers)


def _made_with(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """What the topic has of its own since its creation: its record holds that, where a record is kept of it."""
    if not cluster.brokers[0].generation.kraft:
        return
    yield MIN_IN_SYNC, str(cluster.settings.min_insync_replicas)
    if cluster.settings.unclean_leader_election is not None:
        yield UNCLEAN, str(cluster.settings.unclean_leader_election).lower()


def _without_eligible(cluster: Cluster, hearers: Hearers) -> Cluster:
    """Who was eligible under another min.insync.replicas is so no longer (KIP-966)."""
    state = cluster.in_force
    if not keeps_eligible(cluster) or not state.elr:
        return cluster
    same = succeeding(cluster, epoch=state.epoch, leader=state.leader, isr=state.isr, unclean=False)
    decided = replace(same, elr=frozenset())
    return announce(say(written(cluster, decided), "nobody is eligible beside the ISR now"), decided, hearers)
