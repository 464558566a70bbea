"""The high watermark that each replica must have had when its disk stood still, as an interval with its reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import METADATA_TOPIC, Closing, PartitionEvidence, Replica, same_topic
from rules.protocol.offsets import Offset
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval, high_watermark_at_start

_OUT_OF_USE: Final = {
    "deleted": "the copy waits for its deletion, so no high watermark applies to it",
    "foreign": "the folder holds another log than its name says, so no high watermark applies to it",
    "stray": "the copy belongs to no replica any more, so no high watermark applies to it",
}


def expected_high_watermark(replica: Replica, evidence: PartitionEvidence) -> ExpectedHighWatermark:
    """The interval that disks and replay prove for this replica; where they contradict each other, the replay's."""
    known, shown = tuple(replayed_bounds(replica, evidence)), tuple(bounds(replica, evidence))
    joined = expected_interval((*known, *shown))
    if joined.low is None or joined.high is None or joined.low.offset <= joined.high.offset:
        return joined
    # A log that was cut by a foreign hand bounds nothing either.
    return expected_interval(known)


def expected_log_end(replica: Replica, evidence: PartitionEvidence) -> ExpectedHighWatermark:
    """How far the log must have gone by the replay, of which nothing is known without logs up to a clean shutdown."""
    closing = _closing(replica, evidence)
    return expected_interval(()) if closing is None else closing.log_end


def replayed_bounds(replica: Replica, evidence: PartitionEvidence) -> Iterator[Bound]:
    """What the replay proves of the high watermark at a clean shutdown, and of no other end."""
    closing = _closing(replica, evidence)
    if closing is not None:
        yield from (b for b in (closing.high_watermark.low, closing.high_watermark.high) if b is not None)


def _closing(replica: Replica, evidence: PartitionEvidence) -> Closing | None:
    if replica.state != "current":
        return None
    return next((c for c in evidence.closings if isinstance(c, Closing) and c.broker == replica.broker), None)


def bounds(replica: Replica, evidence: PartitionEvidence) -> Iterator[Bound]:
    """Each fact of the disks that bounds the high watermark; taking one away can only widen the interval."""
    start, end = Offset(replica.log_start_offset), Offset(max(replica.log_end_offset, replica.log_start_offset))
    if replica.state in _OUT_OF_USE:
        yield Bound(side="low", offset=start, because=_OUT_OF_USE[replica.state])
        yield Bound(side="high", offset=end, because=_OUT_OF_USE[replica.state])
        return
    if evidence.topic == METADATA_TOPIC:
        yield from _of_quorum(replica, evidence)
    else:
        yield from _of_checkpoint(replica, evidence)
    yield Bound(side="low", offset=start, because=f"no high watermark is below the log start offset {start}")
    if replica.end_known:
        yield Bound(side="high", offset=end, because=f"no high watermark is beyond the log end offset {end}")


def _of_checkpoint(replica: Replica, evidence: PartitionEvidence) -> Iterator[Bound]:
    if replica.high_watermark is None:
        return
    start, end = Offset(replica.log_start_offset), Offset(max(replica.log_end_offset, replica.log_start_offset))
    stated = Offset(replica.high_watermark.offset)
    # Where the log ends is not known, the claim stands as it was written.
    claimed = high_watermark_at_start(stated, start, end if replica.end_known else max(end, stated))
    if replica.clean_shutdown is not None:
        because = f"broker {replica.broker} wrote high watermark {stated} at a clean shutdown"
        yield Bound(side="low", offset=claimed, because=because)
        yield Bound(side="high", offset=claimed, because=because)
        return
    why = _never_lowered(replica, evidence, stated)
    if why is not None:
        yield Bound(side="low", offset=claimed, because=f"broker {replica.broker} wrote high watermark {stated}, {why}")


def _never_lowered(replica: Replica, evidence: PartitionEvidence, stated: Offset) -> str | None:
    """Why a high watermark that was written before the end can only have risen since; None where it may have fallen.

    Within one leader's term it never falls. A newer leader may have known less and have passed that on, but not to a
    replica that still holds what following that leader would first have cut.
    """
    epoch = replica.last_known_epoch
    chain = replica.file_chain or replica.log_chain
    began = next((entry.start_offset for entry in chain if entry.epoch == epoch), None)
    if began is None or stated <= began:
        return None
    newer = [
        (entry.epoch, entry.start_offset)
        for other in evidence.current
        if other is not replica and same_topic(other, replica)
        for entry in other.file_chain or other.log_chain
        if entry.epoch > epoch
    ]
    if not newer:
        return f"in the term of epoch {epoch}, the newest that any replica here knows: no leader lowers it in its term"
    first, cut = min(newer)
    if cut < replica.log_end_offset:
        return f"and its log still goes on to {replica.log_end_offset}: it never followed epoch {first}, begun at {cut}"
    return None


def _of_quorum(replica: Replica, evidence: PartitionEvidence) -> Iterator[Bound]:
    """Bounds from the voters that quorum-state names; the metadata log has no high watermark on disk."""
    voters = _voters(evidence)
    ends = {r.broker: Offset(r.log_end_offset) for r in evidence.current if r.broker in voters and r.end_known}
    if voters == {replica.broker} == ends.keys():
        because = f"broker {replica.broker} is the only voter, so its log end {ends[replica.broker]} is committed"
        yield Bound(side="low", offset=ends[replica.broker], because=because)
    elif len(voters) == 1 and ends and replica.clean_shutdown is not None and replica.end_known:
        low = Offset(min(replica.log_end_offset, *ends.values()))
        because = f"the only voter serves only what is committed, and broker {replica.broker} shut down cleanly"
        yield Bound(side="low", offset=low, because=because)
    needed = len(voters) // 2 + 1 - (len(voters) - len(ends))
    # Copies of running nodes are moments apart: an observer's may show more than its voters' did before.
    if voters and needed >= 1 and not evidence.copied_live:
        majority = sorted(ends.values(), reverse=True)[needed - 1]
        names = ", ".join(map(str, sorted(voters)))
        because = f"a majority of the voters {names} holds no more than the offsets below {majority}"
        yield Bound(side="high", offset=max(majority, Offset(replica.log_start_offset)), because=because)


def _voters(evidence: PartitionEvidence) -> frozenset[int]:
    """The quorum's voters where all replicas that name any name the same."""
    voters = {frozenset(replica.voters) for replica in evidence.current if replica.voters}
    return min(voters) if len(voters) == 1 else frozenset()
