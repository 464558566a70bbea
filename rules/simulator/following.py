"""What a follower does: asks, waits, appends what it is answered, takes on the high watermark."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.leader import answer_fetch
from rules.protocol.offsets import BrokerId
from rules.protocol.watermarks import follower_high_watermark
from rules.simulator.delivery import abandon, answered, reach, refused, serves
from rules.simulator.leading import accept_fetch, remote
from rules.simulator.log_changes import appended, ranges, read
from rules.simulator.log_start import BY_LEADER, move
from rules.simulator.notes import UNKNOWN_LEADER_EPOCH, TookFetch
from rules.simulator.reconciling import diverge, reconcile, reset
from rules.simulator.state import Batch, Broker, Cluster, InFlight, note, put, replica_of, say


def fetch(cluster: Cluster, follower: Broker, limit: int | None = None) -> Cluster:
    """Question and answer in one step; a follower that owes a reconciliation makes that first."""
    if follower.stage == "truncating":
        cluster = reconcile(cluster, follower)
        follower = cluster.broker(follower.id)
        if follower.stage == "truncating":
            return cluster
    asked = ask(cluster, follower, limit)
    after = asked.broker(follower.id)
    return asked if after.in_flight is None else answer(asked, after)


def ask(cluster: Cluster, follower: Broker, limit: int | None = None) -> Cluster:
    """A Fetch reaches the leader, which notes the offset; with nothing to send it lets the follower wait."""
    if follower.stage == "truncating":
        return reconcile(cluster, follower)
    fenced = follower.generation.sends_epoch_in_fetch
    cluster, leader, error = reach(cluster, follower, fenced=fenced, what=f"Fetch({follower.log.end_offset})")
    if leader is None or leader.heard is None or follower.heard is None:
        return note(cluster, *refused(follower, error))
    cluster = abandon(cluster, follower)
    assigned = remote(leader, follower.id) is not None
    if not assigned and follower.generation.binary.at_least(3, 3):
        words = f"Fetch({follower.log.end_offset}): broker {follower.id} is not of the assignment that its leader knows"
        return note(say(cluster, words), *refused(follower, UNKNOWN_LEADER_EPOCH))
    on_fetch = follower.generation.rule == "truncate-on-fetch"
    reply = answer_fetch(replica_of(leader), follower.log.end_offset, follower.last_epoch if on_fetch else None)
    readable = assigned and reply.kind == "records"  # up to 3.2 whom it does not know a leader lets wait
    batches = _readable(cluster, leader, follower, limit) if readable else ()
    in_flight = InFlight(
        kind="waiting" if reply.kind == "records" and not batches else reply.kind,
        leader=leader.id,
        leader_epoch=leader.heard.epoch,
        offset=follower.log.end_offset,
        believed_epoch=follower.heard.epoch,
        batches=batches,
        high_watermark=leader.high_watermark,
        log_start_offset=leader.log.start_offset,
        end=reply.end,
        limit=limit,
        names_epoch=fenced,
    )
    cluster = put(cluster, replace(follower, in_flight=in_flight))
    waits = in_flight.kind == "waiting"
    noted = TookFetch(leader=leader.id, follower=follower.id) if waits else answered(follower, in_flight)
    cluster = note(cluster, noted)
    counted = reply.kind == "records" or (reply.kind == "diverging" and leader.generation.counts_diverging_fetch)
    return accept_fetch(cluster, leader.id, follower, leader.log.end_offset) if counted else cluster


def _readable(cluster: Cluster, leader: Broker, follower: Broker, limit: int | None) -> tuple[Batch, ...]:
    """What a leader sends a follower now: nothing while that one is over its quota and not in the leader's ISR."""
    in_sync = leader.leading is not None and follower.id in leader.leading.committed_isr
    if follower.id in cluster.throttled and not in_sync:
        return ()
    return read(leader.log, follower.log.end_offset, limit)


def throttle(cluster: Cluster, follower: BrokerId, *, lifted: bool) -> Cluster:
    """A follower gets over its replication quota, or under it again (KIP-73)."""
    if lifted:
        cluster = replace(cluster, throttled=cluster.throttled - {follower})
        return say(cluster, f"broker {follower} is under its replication quota")
    cluster = replace(cluster, throttled=cluster.throttled | {follower})
    return say(cluster, f"broker {follower} is over its replication quota: out of sync, it is sent nothing")


def answer(cluster: Cluster, follower: Broker) -> Cluster:
    """The answer arrives: an error, a cut, or records and the leader's high watermark."""
    in_flight = follower.in_flight
    if in_flight is None or not follower.alive:
        return say(cluster, f"no answer is on its way to broker {follower.id}")
    follower = replace(follower, in_flight=None)
    cluster = put(cluster, follower)
    match in_flight.kind:
        case "diverging":
            return diverge(cluster, follower, in_flight)
        case "out-of-range":
            return reset(cluster, follower, in_flight.leader)
        case "waiting":
            return _complete(cluster, follower, in_flight)
        case "records":
            return _take(cluster, follower, in_flight)


def _complete(cluster: Cluster, follower: Broker, waiting: InFlight) -> Cluster:
    """A Fetch that waited is read again when it is answered: what came since, and the high watermark of now."""
    leader = cluster.broker(waiting.leader)
    if not serves(cluster, waiting):
        return say(cluster, f"Fetch({follower.log.end_offset}) of broker {follower.id} ends with an error")
    batches = _readable(cluster, leader, follower, waiting.limit)
    read_now = replace(
        waiting,
        batches=batches,
        high_watermark=leader.high_watermark,
        log_start_offset=leader.log.start_offset,
    )
    return _take(note(cluster, answered(follower, read_now)), follower, read_now)


def _take(cluster: Cluster, follower: Broker, records: InFlight) -> Cluster:
    asked = follower.log.end_offset
    answer = f"Fetch({asked}) answered with {ranges(records.batches) or 'nothing'}, HW {records.high_watermark}"
    cluster = say(cluster, answer)
    if records.batches and records.batches[0].base_offset < asked:
        return say(cluster, _refusal(follower.id, records))
    follower = appended(follower, records.batches)
    high_watermark = follower_high_watermark(records.high_watermark, follower.log.start_offset, follower.log.end_offset)
    follower = replace(follower, high_watermark=high_watermark)
    cluster = put(cluster, follower)
    learns = follower.generation.binary.at_least(0, 11) and records.log_start_offset <= high_watermark
    return move(cluster, follower, records.log_start_offset, BY_LEADER) if learns else cluster


def _refusal(follower: BrokerId, records: InFlight) -> str:
    first = records.batches[0]
    return f"broker {follower} cannot append a batch that begins at {first.base_offset}: it is stuck"
