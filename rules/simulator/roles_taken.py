"""A broker is told what the controller decided, and becomes leader or follower by it."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.isr import RemoteReplica, at_new_leadership, at_reelection
from rules.simulator.delivery import abandon, let_go
from rules.simulator.leading import advance, dismiss_producers
from rules.simulator.notes import NO_ERROR, STALE_CONTROLLER_EPOCH, Created, Decided, Dropped, Heard, TookRole
from rules.simulator.reconciling import begin
from rules.simulator.state import Broker, Cluster, Leading, note, put, say


def tell(cluster: Cluster, broker: Broker, decided: Decided) -> Cluster:
    """Delivers a decision; one that is no news to the broker is ignored."""
    heard = broker.heard
    if not broker.alive:
        return say(cluster, f"broker {broker.id} is down and learns nothing")
    old = heard is not None and decided.epoch < heard.epoch
    error = STALE_CONTROLLER_EPOCH if old else NO_ERROR
    after = _heard(cluster, broker, decided)  # the order is answered when it has been followed
    if broker.id not in decided.replicas:
        return after
    return note(after, Heard(broker=broker.id, decided=decided, error=error))


def _heard(cluster: Cluster, broker: Broker, decided: Decided) -> Cluster:
    heard = broker.heard
    if heard is not None and decided.epoch < heard.epoch:
        return say(cluster, f"broker {broker.id} ignores epoch {decided.epoch}: it knows epoch {heard.epoch}")
    if broker.id not in decided.replicas:
        return _give_up(cluster, broker, decided)
    if not broker.holds:
        broker = replace(broker, holds=True)
        cluster = note(put(cluster, broker), Created(broker=broker.id))
    if heard is not None and decided.epoch == heard.epoch:
        return _same_epoch(cluster, broker, decided, heard)
    if decided.leader == broker.id:
        return _lead(cluster, broker, decided)
    return _follow(cluster, broker, decided)


def _same_epoch(cluster: Cluster, broker: Broker, decided: Decided, heard: Decided) -> Cluster:
    """An ISR change without a new epoch concerns the leader alone."""
    if decided.version <= heard.version:
        return cluster
    broker = replace(broker, heard=decided)
    if broker.leading is None:
        return put(cluster, broker)
    known = {remote.broker: remote for remote in broker.leading.followers}
    followers = tuple(known.get(other, RemoteReplica(broker=other)) for other in decided.replicas if other != broker.id)
    leading = replace(broker.leading, followers=followers, committed_isr=decided.isr, proposed_isr=None)
    return advance(put(cluster, replace(broker, leading=leading)), broker.id)


def _give_up(cluster: Cluster, broker: Broker, decided: Decided) -> Cluster:
    """A broker that is not of the assignment stops; when it is out of the ISR too its replica is deleted."""
    if broker.leading is not None:
        cluster = dismiss_producers(let_go(cluster, broker), broker.id, crashed=False)
    cluster = abandon(cluster, broker)
    stopped = replace(broker, heard=decided, leading=None, stage="idle", in_flight=None)
    if broker.id in decided.isr or not broker.holds:
        return say(put(cluster, stopped), f"broker {broker.id} is of the assignment no more, and stops")
    empty = Broker(
        id=broker.id, generation=broker.generation, holds=False, life=broker.life, heard=decided, stage="idle"
    )
    cluster = note(put(cluster, empty), Dropped(broker=broker.id))
    return say(cluster, f"broker {broker.id} is of the assignment no more, and deletes its replica")


def _lead(cluster: Cluster, broker: Broker, decided: Decided) -> Cluster:
    before, generation, start = broker, broker.generation, broker.log.end_offset
    leading = Leading(
        followers=_remembered(cluster, broker, decided),
        committed_isr=decided.isr,
        epoch_start_offset=start,
        since_epoch=decided.epoch if before.leading is None else before.leading.since_epoch,
    )
    epochs = broker.epochs
    if generation.enters_at_election:
        epochs = generation.assign(epochs, decided.epoch, start)
    # up to 2.3 a high watermark could stand beyond the log end; a new leader that could not find it fell to its start
    lost = broker.high_watermark > start
    broker = replace(
        broker,
        heard=decided,
        leading=leading,
        epochs=epochs,
        stage="idle",
        in_flight=None,
        high_watermark=broker.log.start_offset if lost else broker.high_watermark,
    )
    cluster = note(let_go(abandon(cluster, before), before, deposed=False), _took_role(before, broker, decided))
    led = say(put(cluster, broker), f"broker {broker.id} leads epoch {decided.epoch} from offset {start}")
    return advance(led, broker.id)


def _took_role(before: Broker, after: Broker, decided: Decided) -> TookRole:
    return TookRole(
        broker=before.id,
        leads=decided.leader == before.id,
        decided=decided,
        log_end_offset=before.log.end_offset,
        high_watermark=after.high_watermark,
    )


def _remembered(cluster: Cluster, broker: Broker, decided: Decided) -> tuple[RemoteReplica, ...]:
    known = {remote.broker: remote for remote in broker.leading.followers} if broker.leading else {}
    return tuple(
        at_reelection(
            known[other],
            in_isr=other in decided.isr,
            leader_log_end_offset=broker.log.end_offset,
            time_ms=cluster.time_ms,
        )
        if other in known
        else at_new_leadership(other, in_isr=other in decided.isr, time_ms=cluster.time_ms)
        for other in decided.replicas
        if other != broker.id
    )


def _follow(cluster: Cluster, broker: Broker, decided: Decided) -> Cluster:
    before = broker.heard
    other_leader = before is None or before.leader != decided.leader or broker.leading is not None
    raised_by = decided.epoch - before.epoch if before is not None else decided.epoch
    was_leader = broker.leading is not None
    if decided.leader is not None or broker.generation.kraft:
        cluster = note(cluster, _took_role(broker, broker, decided))
    if was_leader:
        cluster = let_go(cluster, broker)
    broker = replace(broker, heard=decided, leading=None)
    if was_leader:
        cluster = dismiss_producers(cluster, broker.id, crashed=False)
    if decided.leader is None:
        return put(abandon(cluster, broker), replace(broker, stage="idle", in_flight=None))
    if not broker.generation.reconciles(other_leader, raised_by):
        return put(cluster, broker)
    cluster = abandon(cluster, broker)
    broker = replace(broker, in_flight=None)
    return begin(put(cluster, broker), broker)
