"""Offsets that a log does not hold although its own files say that it went over them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from parsers.provenance import Span
from rules.evidence import PartitionEvidence
from rules.protocol.versions import EPOCHS_SINCE_MAGIC
from rules.replicas.replica import Replica


class Hole(Struct, frozen=True, kw_only=True):
    """Missing offsets `[start, end)`, and the batches around them, as far as there are any."""

    start_offset: int
    end_offset: int
    before: Span | None = None
    after: Span | None = None
    named: str | None = None
    """The segment whose name tells one of the ends, where no batch does."""

    @property
    def where(self) -> str:
        """The place in its log, in words."""
        if self.before is None:
            return "at the beginning of its log"
        return "in the middle of its log" if self.after is not None else "below the name of its last segment"


def holes(replica: Replica) -> Iterator[Hole]:
    """Where the offsets of neighbouring batches do not meet, and where those of the segments' names and batches do not.

    A segment is named after the first offset in it. A later one's name never lies beyond the batch that follows unless
    the batches before it end too early as well: only the first and the last name tell what batches do not.
    """
    yield from _before_the_first_batch(replica)
    for step in replica.log.gaps:
        yield Hole(start_offset=step.expected, end_offset=step.found, before=step.before, after=step.after)
    yield from _behind_the_last_batch(replica)


def _before_the_first_batch(replica: Replica) -> Iterator[Hole]:
    log = replica.log
    first = log.epochs[0].first if log.epochs else None
    # Unreadable bytes at the beginning, or a first batch that does not tell where it begins, leave nothing to say.
    unread = any(unread.expected_offset is None for unread in log.unread)
    untold = first is not None and (log.first_offset is None or any(f.span == first for f in log.header_faults))
    if not replica.segments or unread or untold:
        return
    end = replica.log_end_offset if log.first_offset is None else log.first_offset
    if end > replica.log_start_offset:
        yield Hole(
            start_offset=replica.log_start_offset,
            end_offset=end,
            after=first,
            named=replica.segments[0].source,
        )


def _behind_the_last_batch(replica: Replica) -> Iterator[Hole]:
    log = replica.log
    if log.end_offset is None or any(unread.next_offset is None for unread in log.unread):
        return
    last = replica.segments[-1] if replica.segments else None
    if last is not None and last.base_offset > log.end_offset:
        before = log.epochs[-1].last if log.epochs else None
        yield Hole(start_offset=log.end_offset, end_offset=last.base_offset, before=before, named=last.source)


def has_it_too(peer: Replica, hole: Hole) -> bool:
    """Whether a peer has this hole too; of more holes than are kept, those beyond count as had."""
    # What lies beyond a peer's own log end it cannot testify to: only the part of the hole before that counts.
    end = min(hole.end_offset, peer.log_end_offset)
    if end <= max(hole.start_offset, peer.log_start_offset):
        return True
    beyond_kept = peer.log.gap_count > len(peer.log.gaps) and end > peer.log.gaps[-1].found
    return beyond_kept or any(
        other.start_offset <= hole.start_offset and end <= other.end_offset for other in holes(peer)
    )


def lies_before_the_last_segment(replica: Replica, hole: Hole) -> bool:
    """Whether the last segment follows it: the copy may have taken that one later than those before."""
    last = replica.segments[-1].source if replica.segments else None
    behind = hole.named if hole.after is None else hole.after.source
    return hole.before is not None and hole.before.source != behind == last


def is_empty(replica: Replica, hole: Hole) -> bool:
    """Whether there is nothing where the offsets are missing, rather than bytes that could not be read."""
    unreadable = any(
        unread.expected_offset == hole.start_offset and unread.next_offset == hole.end_offset
        for unread in replica.log.unread
    )
    return not unreadable and not replica.unseen(hole.start_offset, hole.end_offset)


def unlawful_holes(evidence: PartitionEvidence) -> Iterator[tuple[Replica, Hole]]:
    """Every hole that neither a move of the log start nor a conversion explains."""
    for replica in evidence.current:
        for hole in holes(replica):
            lawful = hole.end_offset <= replica.log_start_offset or _converted(replica, evidence)
            if not lawful and is_empty(replica, hole):
                yield replica, hole


def _converted(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the replica holds converted batches, from which control batches were dropped."""
    legacy = any(magic < EPOCHS_SINCE_MAGIC for magic in replica.log.magics)
    return legacy and any(other.log.control_batches for other in evidence.current if other is not replica)
