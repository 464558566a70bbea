"""The machine: a cluster as it is created, and what one event makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from rules.protocol.leader import answer_epoch
from rules.protocol.offsets import BrokerId, Epoch
from rules.simulator import (
    configuring,
    controller,
    events,
    following,
    isr_changes,
    leading,
    lifetime,
    log_start,
    reassignment,
    reconciling,
)
from rules.simulator.events import Event
from rules.simulator.generation import Generation
from rules.simulator.log_changes import visible_part
from rules.simulator.notes import Decided
from rules.simulator.roles_taken import tell
from rules.simulator.state import Batch, Broker, Cluster, TopicSettings, note, replica_of, say


def create(
    assignment: Sequence[BrokerId],
    generations: Sequence[Generation],
    settings: TopicSettings | None = None,
    *,
    first_epoch: Epoch = Epoch(0),
    others: Sequence[BrokerId] = (),
) -> Cluster:
    """A partition just created: empty logs, all in sync, the first of the assignment leads and everyone knows.

    There may be other brokers, which hold no replica; the generations are in the order of both.
    """
    replicas = tuple(assignment)
    decided = Decided(epoch=first_epoch, version=0, leader=replicas[0], isr=frozenset(replicas), replicas=replicas)
    brokers = tuple(
        Broker(id=broker, generation=generation, holds=broker in replicas)
        for broker, generation in sorted(zip((*replicas, *others), generations, strict=True), key=lambda pair: pair[0])
    )
    cluster = Cluster(brokers=brokers, settings=settings or TopicSettings(), decided=(decided,))
    announced = controller.announce(note(cluster, decided), decided)
    # an empty log has nothing to reconcile: whoever follows fetches from the start
    fresh = tuple(
        replace(broker, stage="fetching" if broker.holds and not broker.leading else "idle")
        for broker in announced.brokers
    )
    return replace(announced, brokers=fresh, cuts=(), said=())


def step(cluster: Cluster, event: Event) -> Cluster:
    """What an event makes of a cluster; an event that nobody can act on changes nothing and says why."""
    before = replace(cluster, said=(), notes=())
    unknown = [broker for broker in events.brokers_named(event) if not cluster.has(broker)]
    if unknown:
        return say(before, f"there is no broker {unknown[0]}")
    after = _happen(before, event)
    return after if after.brokers is cluster.brokers else replace(after, shown=_shown(after))


def _happen(cluster: Cluster, event: Event) -> Cluster:
    match event:
        case events.ProduceBatch() | events.DeleteRecords() | events.DeleteSegments():
            return _touch_the_log(cluster, event)
        case events.FetchBatches() | events.Ask() | events.Answer() | events.Reconcile():
            return _follow(cluster, event)
        case events.AskEnd() | events.Wait() | events.Throttle():
            return _let_be(cluster, event)
        case events.Crash() | events.ShutDown() | events.LosePages() | events.Restart() | events.Checkpoint():
            return _live(cluster, event)
        case events.ShrinkIsr() | events.ExpandIsr() | events.CommitIsr() | events.CheckLag():
            return _change_isr(cluster, event)
        case _:
            return _control(cluster, event)


def _touch_the_log(
    cluster: Cluster, event: events.ProduceBatch | events.DeleteRecords | events.DeleteSegments
) -> Cluster:
    """What a client, or retention, does to a broker's log."""
    broker = cluster.broker(event.broker)
    match event:
        case events.ProduceBatch():
            return _produce(cluster, event)
        case events.DeleteRecords():
            return log_start.delete_records(cluster, broker, event.offset)
        case events.DeleteSegments():
            return log_start.delete_segments(cluster, broker, event.offset)


def _produce(cluster: Cluster, event: events.ProduceBatch) -> Cluster:
    for number in range(1, event.times + 1):
        name = event.name if event.times == 1 else f"{event.name}{number}"
        cluster = leading.produce(cluster, cluster.broker(event.broker), name, event.count, event.acks)
    return cluster


def _follow(cluster: Cluster, event: events.FetchBatches | events.Ask | events.Answer | events.Reconcile) -> Cluster:
    follower = cluster.broker(event.follower)
    match event:
        case events.FetchBatches():
            return following.fetch(cluster, follower, event.limit)
        case events.Ask():
            return following.ask(cluster, follower, event.limit)
        case events.Answer():
            return following.answer(cluster, follower)
        case events.Reconcile():
            owes = follower.stage == "truncating" or follower.generation.rule != "truncate-on-fetch"
            return reconciling.reconcile(cluster, follower) if owes else following.fetch(cluster, follower, event.limit)


def _let_be(cluster: Cluster, event: events.AskEnd | events.Wait | events.Throttle) -> Cluster:
    if isinstance(event, events.Wait):
        return replace(cluster, time_ms=cluster.time_ms + event.milliseconds)
    if isinstance(event, events.Throttle):
        return following.throttle(cluster, event.broker, lifted=event.lifted)
    broker = cluster.broker(event.broker)
    end = answer_epoch(replica_of(broker), event.epoch)
    if end is None:
        return say(cluster, f"epoch {event.epoch}: unknown (-1, -1)")
    return say(cluster, f"epoch {event.epoch}: ends at {end.end_offset} (v0), ({end.epoch}, {end.end_offset}) (v1+)")


def _live(
    cluster: Cluster,
    event: events.Crash | events.ShutDown | events.LosePages | events.Restart | events.Checkpoint,
) -> Cluster:
    broker = cluster.broker(event.broker)
    match event:
        case events.Crash():
            return lifetime.crash(cluster, broker)
        case events.ShutDown():
            return lifetime.shut_down(cluster, broker)
        case events.LosePages():
            return lifetime.lose_pages(cluster, broker, event.offset)
        case events.Restart():
            return lifetime.restart(cluster, broker, hears=event.hears)
        case events.Checkpoint():
            return lifetime.checkpoint(cluster, broker)


def _change_isr(
    cluster: Cluster, event: events.ShrinkIsr | events.ExpandIsr | events.CommitIsr | events.CheckLag
) -> Cluster:
    named = None if isinstance(event, events.CheckLag) else event.leader
    leader = cluster.broker(named) if named is not None else _presumed(cluster)
    if leader is None or not leader.leads:
        return say(cluster, "nobody leads who could change the ISR")
    match event:
        case events.ShrinkIsr():
            return isr_changes.shrink(cluster, leader, event.member, only_proposed=event.only_proposed)
        case events.ExpandIsr():
            return isr_changes.expand(cluster, leader, event.member, only_proposed=event.only_proposed)
        case events.CommitIsr():
            return isr_changes.commit(cluster, leader) if event.accepted else isr_changes.reject(cluster, leader)
        case events.CheckLag():
            return isr_changes.check_lag(cluster, leader)


def _presumed(cluster: Cluster) -> Broker | None:
    """The leader by the controller's word, else whoever believes to lead, the latest epoch first."""
    leading_now = [broker for broker in cluster.brokers if broker.leads]
    by_epoch = sorted(leading_now, key=lambda broker: -1 if broker.heard is None else broker.heard.epoch)
    return cluster.leader or (by_epoch[-1] if by_epoch else None)


def _control(
    cluster: Cluster,
    event: events.Elect | events.ElectPreferred | events.Reassign | events.Tell | events.Fence | events.Configure,
) -> Cluster:
    match event:
        case events.Configure():
            return configuring.configure(cluster, event)
        case events.Elect():
            return controller.elect(cluster, event.chosen, unclean=event.unclean, hearers=event.hearers)
        case events.ElectPreferred():
            return controller.elect_the_preferred(cluster)
        case events.Reassign():
            return reassignment.reassign(cluster, event.target, event.hearers)
        case events.Fence():
            return controller.notice(cluster, event.broker, event.hearers)
        case events.Tell():
            return _tell(cluster, event)


def _tell(cluster: Cluster, event: events.Tell) -> Cluster:
    decided = controller.decision(cluster, event.epoch)
    if decided is None:
        return say(cluster, f"nothing was decided in epoch {event.epoch}")
    return tell(cluster, cluster.broker(event.broker), decided)


def _shown(cluster: Cluster) -> tuple[Batch, ...]:
    """What consumers could have read so far: below the high watermark of anyone who believed to lead."""
    seen = {(batch.name, batch.base_offset): batch for batch in cluster.shown}
    for broker in cluster.brokers:
        for batch in visible_part(broker.log, broker.high_watermark) if broker.leads else ():
            known = seen.get((batch.name, batch.base_offset))
            if known is None or known.count < batch.count:
                seen[batch.name, batch.base_offset] = batch
    if len(seen) == len(cluster.shown) and all(seen[b.name, b.base_offset] is b for b in cluster.shown):
        return cluster.shown
    return tuple(sorted(seen.values(), key=lambda batch: (batch.base_offset, batch.epoch)))
