"""Records that a broker cut although they were committed, and that no bill names: nothing tells whose they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.evidence import PartitionEvidence
from rules.loss.incurred import Loss
from rules.protocol.offsets import without


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbilled:
    """A stretch of one broker's log."""

    broker: int
    start_offset: int
    end_offset: int


def unbilled(evidence: PartitionEvidence, billed: Sequence[Loss]) -> Iterator[Unbilled]:
    """Of every cut below a known high watermark what stands in no bill: its broker does not tell its epochs."""
    # What nobody was told to be written stands in no bill that is shown, and may be another epoch's.
    known = [(loss.start_offset, loss.end_offset) for loss in billed if loss.matters]
    for cut in evidence.chronicle.cuts:
        end = cut.high_watermark if cut.log_end_offset is None else min(cut.high_watermark or 0, cut.log_end_offset)
        if cut.former_epoch is None or cut.epoch is None:
            for start, after in without(cut.offset, end or 0, known):
                yield Unbilled(broker=cut.broker, start_offset=start, end_offset=after)
