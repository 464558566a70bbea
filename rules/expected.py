"""The high watermark that each replica must have had when its disk stood still, as an interval with its reasons."""

from __future__ import annotations

from collections.abc import Iterator

from rules.evidence import PartitionEvidence, Replica, same_topic
from rules.protocol.watermarks import Bound, ExpectedHighWatermark, expected_interval
from rules.protocol.offsets import Offset
from rules.protocol.watermarks import high_watermark_at_start


def expected_high_watermark(replica: Replica, evidence: PartitionEvidence) -> ExpectedHighWatermark:
    """The interval that the disks alone prove for this replica."""
    return expected_interval(bounds(replica, evidence))


def bounds(replica: Replica, evidence: PartitionEvidence) -> Iterator[Bound]:
    """Each fact of the disks that bounds the high watermark; taking one away can only widen the interval."""
    start, end = Offset(replica.log_start_offset), Offset(max(replica.log_end_offset, replica.log_start_offset))
    if replica.high_watermark is not None:
        claimed = high_watermark_at_start(Offset(replica.high_watermark.offset), start, end)
        if replica.clean_shutdown is not None:
            because = f"broker {replica.broker} wrote its high watermark {replica.high_watermark.offset} in an orderly stop"
            yield Bound(side="low", offset=claimed, because=because)
            yield Bound(side="high", offset=claimed, because=because)
        else:
            yield _lowest_claim(replica, claimed, evidence)
    yield Bound(side="low", offset=start, because=f"no high watermark is below the log start offset {start}")
    yield Bound(side="high", offset=end, because=f"no high watermark is beyond the log end offset {end}")


def _lowest_claim(replica: Replica, claimed: Offset, evidence: PartitionEvidence) -> Bound:
    """Without an orderly stop the checkpoint is seconds old, and a newer leader may have lowered the value since, though
    not below what a replica that could lead has checkpointed."""
    peers = [r for r in evidence.current if r is not replica and same_topic(r, replica) and r.high_watermark is not None]
    lowest = min((r.high_watermark.offset for r in peers if r.high_watermark is not None), default=claimed)
    offset = max(Offset(min(claimed, lowest)), Offset(replica.log_start_offset))
    because = f"the lowest high watermark that a replica checkpointed is {offset}, and broker {replica.broker} stopped later"
    return Bound(side="low", offset=offset, because=because)
