"""How far records are committed in two logs that differ: by the high watermarks on disk, and by what was told."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rules.evidence import Difference, PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.evidence.deleted_records import first_undeleted


class CommittedApart(Struct, frozen=True):
    """A difference, and how far each side's records are known to be committed."""

    difference: Difference
    known: tuple[tuple[Replica, int | None], ...]
    """Null of a side of which nothing tells it: no high watermark on disk, no proof."""
    start_offset: int
    """Where it begins behind what leaders had deleted of either side's records; its end if that was all."""

    @property
    def end_offset(self) -> int:
        """Offsets below this one are committed as far as both replicas know; 0 where one of them knows nothing."""
        return min(end or 0 for _, end in self.known)

    @property
    def untold(self) -> Sequence[int]:
        """The brokers of which nothing tells it."""
        return [replica.broker for replica, end in self.known if end is None]

    @property
    def unlisted(self) -> Sequence[int]:
        """Those of them whose checkpoint of high watermarks was read, and has no entry for the partition."""
        read = {replica.broker for replica, _ in self.known if "replication-offset-checkpoint" not in replica.untold}
        return [broker for broker in self.untold if broker in read]


@asked_once
def committed_apart(evidence: PartitionEvidence) -> Sequence[CommittedApart]:
    """The same of every difference; what was told is of either side where epochs tell the two apart."""
    sides = {replica.path: replica for d in evidence.differences for replica in (d.left, d.right)}
    proved = {path: evidence.committed_by_proof(replica) for path, replica in sides.items()}
    return [
        CommittedApart(
            d,
            tuple((side, _known(d, side, proved[side.path])) for side in (d.left, d.right)),
            first_undeleted(evidence, d.start_offset, d.end_offset, d.left, d.right),
        )
        for d in evidence.differences
    ]


def _known(difference: Difference, side: Replica, proved: int) -> int | None:
    claim, committed = side.high_watermark, 0 if difference.same_epoch else proved
    if claim is None:
        return committed if committed > difference.start_offset else None
    return max(committed, min(claim.offset, side.log_end_offset))
