"""What a leader does: appends, counts its followers, moves the high watermark, answers producers, changes the ISR."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.acknowledgement import Acks, admit_produce, answer_produce
from rules.protocol.isr import (
    FollowerFetch,
    LeaderView,
    RemoteReplica,
    after_fetch,
    eligible_kraft,
    eligible_zookeeper,
)
from rules.protocol.offsets import BrokerId, Offset
from rules.protocol.watermarks import next_high_watermark
from rules.simulator.log_changes import appended, first_and_last
from rules.simulator.notes import (
    NOT_ENOUGH_REPLICAS,
    NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    NOT_LEADER_OR_FOLLOWER,
    AnsweredProduce,
    TookProduce,
)
from rules.simulator.state import Batch, Broker, Cluster, SentBatch, lag_limit, note, put, say


def view(cluster: Cluster, leader: Broker) -> LeaderView:
    """The partition as a leader sees it now."""
    held = leader.leading
    if held is None:
        raise ValueError(f"broker {leader.id} does not lead")
    return LeaderView(
        log_end_offset=leader.log.end_offset,
        high_watermark=leader.high_watermark,
        epoch_start_offset=held.epoch_start_offset,
        committed_isr=held.committed_isr,
        proposed_isr=held.proposed_isr,
        followers=held.followers,
        eligible=frozenset(known.broker for known in held.followers if _eligible(cluster, leader, known)),
        lag_time_max_ms=lag_limit(cluster, leader),
        time_ms=cluster.time_ms,
    )


def _eligible(cluster: Cluster, leader: Broker, known: RemoteReplica) -> bool:
    gone = known.broker in cluster.fenced
    if not leader.generation.kraft:
        return eligible_zookeeper(leader.generation.binary, alive=not gone)
    return may_join(cluster, leader, known.broker, known.broker_epoch)


def may_join(cluster: Cluster, leader: Broker, member: BrokerId, life: int) -> bool:
    """Whether a KRaft controller takes a broker that fetched in some life into the ISR."""
    return eligible_kraft(
        leader.generation.binary,
        fenced=member in cluster.fenced,
        shutting_down=False,
        registered_epoch=cluster.broker(member).life,
        fetch_epoch=life,
    )


def produce(cluster: Cluster, leader: Broker, name: str, count: int, acks: Acks) -> Cluster:
    """A producer's batch reaches a broker; one that does not believe to lead turns it away."""
    held, heard = leader.leading, leader.heard
    if not leader.alive or held is None or heard is None:
        failed = _with_sent(cluster, leader, name, count, acks, answer="failed" if leader.alive else "untold")
        if leader.alive:
            failed = note(failed, _turned_away(leader.id, acks, count, NOT_LEADER_OR_FOLLOWER))
        return say(failed, f"{name}: broker {leader.id} {'does not lead' if leader.alive else 'does not answer'}")
    least = cluster.settings.min_insync_replicas
    if not admit_produce(acks, isr_size=len(held.committed_isr), min_insync_replicas=least):
        refused = _with_sent(cluster, leader, name, count, acks, answer="refused")
        refused = note(refused, _turned_away(leader.id, acks, count, NOT_ENOUGH_REPLICAS))
        return say(refused, f"{name} refused: {len(held.committed_isr)} in sync, {least} asked for")
    batch = Batch(base_offset=leader.log.end_offset, count=count, epoch=heard.epoch, name=name)
    leader = appended(leader, (batch,))
    waiting = _with_sent(put(cluster, leader), leader, name, count, acks, answer="waiting")
    if acks == "0":
        written = AnsweredProduce(broker=leader.id, acks=acks, count=count, base_offset=batch.base_offset)
        waiting = note(waiting, written)
    elif acks == "all":
        waiting = note(waiting, TookProduce(broker=leader.id, name=name))
    return advance(waiting, leader.id)


def _turned_away(broker: BrokerId, acks: Acks, count: int, error: int) -> AnsweredProduce:
    return AnsweredProduce(broker=broker, acks=acks, count=count, error=error)


def _with_sent(cluster: Cluster, leader: Broker, name: str, count: int, acks: Acks, *, answer: str) -> Cluster:
    sent = SentBatch(
        name=name,
        count=count,
        broker=leader.id,
        epoch=leader.heard.epoch if leader.heard else cluster.in_force.epoch,
        acks=acks,
        required_offset=leader.log.end_offset,
        answer="none" if acks == "0" else answer,  # type: ignore[arg-type]
    )
    return replace(cluster, produces=(*cluster.produces, sent))


def advance(cluster: Cluster, broker: BrokerId) -> Cluster:
    """A leader looks at its high watermark, and answers the producers that it satisfies."""
    leader = cluster.broker(broker)
    if leader.leading is None:
        return cluster
    high_watermark = next_high_watermark(
        leader.generation.high_watermark_rule,
        view(cluster, leader),
        min_insync_replicas=cluster.settings.min_insync_replicas,
        replication_factor=len(leader.heard.replicas if leader.heard else cluster.assignment),
    )
    return answer_producers(put(cluster, replace(leader, high_watermark=high_watermark)), broker)


def answer_producers(cluster: Cluster, broker: BrokerId) -> Cluster:
    """Whoever waits at a leader and can be answered now, is."""
    leader = cluster.broker(broker)
    if leader.leading is None or all(sent.answer != "waiting" for sent in cluster.produces):
        return cluster
    isr_size = len(leader.leading.committed_isr)
    answered: list[SentBatch] = []
    outcomes: dict[str, list[str]] = {}
    notes: list[AnsweredProduce] = []
    for sent in cluster.produces:
        if sent.answer == "waiting" and sent.broker == broker:
            answer = answer_produce(
                sent.acks,
                sent.required_offset,
                high_watermark=leader.high_watermark,
                isr_size=isr_size,
                min_insync_replicas=cluster.settings.min_insync_replicas,
            )
            if answer in ("acknowledged", "refused-after-append"):
                outcomes.setdefault(answer, []).append(sent.name)
                notes.append(_written(sent, leader.log.start_offset, in_full=answer == "acknowledged"))
            sent = replace(sent, answer=answer)  # noqa: PLW2901 - the same request, answered
        answered.append(sent)
    said = (f"{first_and_last(names)} {answer.replace('-', ' ')}" for answer, names in outcomes.items())
    return say(note(replace(cluster, produces=tuple(answered)), *notes), *said)


def _written(sent: SentBatch, log_start_offset: Offset, *, in_full: bool) -> AnsweredProduce:
    if not in_full:
        return _turned_away(sent.broker, sent.acks, sent.count, NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    base = Offset(sent.required_offset - sent.count)
    return AnsweredProduce(
        broker=sent.broker,
        acks=sent.acks,
        count=sent.count,
        name=sent.name,
        base_offset=base,
        log_start_offset=log_start_offset,
    )


def dismiss_producers(cluster: Cluster, broker: BrokerId, *, crashed: bool) -> Cluster:
    """Who still waits at a broker that leads no longer is told so, or learns nothing when the broker crashed."""
    waiting = [sent for sent in cluster.produces if sent.answer == "waiting" and sent.broker == broker]
    if not waiting:
        return cluster
    produces = tuple(
        replace(sent, answer="untold" if crashed else "failed") if sent in waiting else sent
        for sent in cluster.produces
    )
    if not crashed:
        refusals = (_turned_away(broker, sent.acks, sent.count, NOT_LEADER_OR_FOLLOWER) for sent in waiting)
        cluster = note(cluster, *refusals)
    outcome = "its producer is told nothing" if crashed else "its producer is told that the leader changed"
    return say(replace(cluster, produces=produces), f"{first_and_last([sent.name for sent in waiting])}: {outcome}")


def remote(leader: Broker, follower: BrokerId) -> RemoteReplica | None:
    """What a leader remembers of a follower."""
    followers = leader.leading.followers if leader.leading else ()
    return next((found for found in followers if found.broker == follower), None)


def accept_fetch(cluster: Cluster, broker: BrokerId, follower: Broker, read_at: Offset) -> Cluster:
    """A leader notes where a follower fetches, and looks at the high watermark when that is news."""
    leader = cluster.broker(broker)
    known = remote(leader, follower.id)
    if leader.leading is None or known is None:
        return cluster
    fetch = FollowerFetch(
        fetch_offset=follower.log.end_offset,
        log_start_offset=follower.log.start_offset,
        leader_log_end_offset=read_at,
        time_ms=cluster.time_ms,
        broker_epoch=follower.life,
    )
    learnt = after_fetch(known, fetch)
    followers = tuple(learnt if found.broker == follower.id else found for found in leader.leading.followers)
    after = put(cluster, replace(leader, leading=replace(leader.leading, followers=followers)))
    news = learnt.log_end_offset != known.log_end_offset
    return advance(after, broker) if news or not leader.generation.binary.at_least(2, 5) else after
