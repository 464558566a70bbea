"""How a log loses its beginning: a client has records deleted, retention deletes segments, a follower learns of it."""

from __future__ import annotations

from msgspec.structs import replace

from rules.protocol.epochs import truncate_from_start
from rules.protocol.offsets import Offset
from rules.simulator.log_changes import ranges
from rules.simulator.notes import OFFSET_OUT_OF_RANGE, AnsweredDeletion, MovedStart
from rules.simulator.state import Broker, Cluster, note, put, say

BY_CLIENT = "client delete records request"
BY_RETENTION = "segment deletion"
BY_LEADER = "leader offset increment"


def delete_records(cluster: Cluster, leader: Broker, offset: Offset) -> Cluster:
    """DeleteRecords: the log start moves, at most to the high watermark; what lies below it stays in its file."""
    if not leader.leads:
        return say(cluster, f"broker {leader.id} does not lead: nothing is deleted")
    if not leader.generation.binary.at_least(0, 11):
        return say(cluster, f"Kafka {leader.generation.binary} knows no DeleteRecords")
    if offset > leader.high_watermark:
        refused = AnsweredDeletion(broker=leader.id, offset=offset, error=OFFSET_OUT_OF_RANGE)
        words = f"nothing is deleted: {offset} lies beyond the high watermark {leader.high_watermark}"
        return say(note(cluster, refused), words)
    cluster = move(cluster, leader, offset, BY_CLIENT)
    starts = [known.log_start_offset for known in (leader.leading.followers if leader.leading else ())]
    low = Offset(min([cluster.broker(leader.id).log.start_offset, *(start for start in starts if start >= 0)]))
    return note(cluster, AnsweredDeletion(broker=leader.id, offset=offset, low_watermark=low))


def delete_segments(cluster: Cluster, broker: Broker, offset: Offset) -> Cluster:
    """Retention: segments that end at or below an offset are deleted, as far as all they hold is committed."""
    if not broker.alive:
        return say(cluster, f"broker {broker.id} is down")
    if not broker.log.base_offset < offset <= min(broker.high_watermark, broker.log.end_offset):
        return say(cluster, f"broker {broker.id} has no committed segments below {offset} to delete")
    kept = tuple(batch for batch in broker.log.batches if batch.end_offset > offset)
    gone = broker.log.batches[: len(broker.log.batches) - len(kept)]
    base = kept[0].base_offset if kept else offset  # a segment begins with a whole batch
    shorter = replace(broker, log=replace(broker.log, batches=kept, base_offset=base))
    cluster = move(put(cluster, shorter), shorter, base, BY_RETENTION)
    return say(cluster, f"broker {broker.id} deletes {ranges(gone)}") if gone else cluster


def move(cluster: Cluster, broker: Broker, offset: Offset, because: str) -> Cluster:
    """A log begins at a higher offset; the epoch that spans it begins there too."""
    if offset <= broker.log.start_offset:
        return cluster
    log = replace(broker.log, start_offset=offset)
    after = replace(broker, log=log, epochs=truncate_from_start(broker.epochs, offset))
    moved = MovedStart(broker=broker.id, log_start_offset=offset, because=because)
    return say(note(put(cluster, after), moved), f"the log of broker {broker.id} starts at {offset} ({because})")
