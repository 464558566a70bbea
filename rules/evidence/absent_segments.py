"""Segments that were on a replica's disk and are not in its copy, as what stands beside them tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from parsers.provenance import Span
from rules.evidence import CRASHED, Closing, PartitionEvidence
from rules.evidence.never_cleaned import never_cleaned_from
from rules.evidence.remote_head import first_held, may_lie_remotely
from rules.evidence.starts import known_starts
from rules.facts.stretch import UnreadBytes
from rules.replicas.replica import Replica
from rules.words import listed

NAMED: Final = 3
"""Files told by name; the rest is counted."""


def with_absent_segments(evidence: PartitionEvidence) -> PartitionEvidence:
    """The evidence with the segments that its copies lack, each stretch of them as bytes that were not copied."""
    replicas = tuple(_with_absent(replica, evidence) for replica in evidence.replicas)
    same = all(after is known for after, known in zip(replicas, evidence.replicas, strict=True))
    # What was asked of the evidence meanwhile stays known where nothing is absent.
    return evidence if same else replace(evidence, replicas=replicas)


def _with_absent(replica: Replica, evidence: PartitionEvidence) -> Replica:
    if not replica.segments or replica.state == "foreign":
        return replica
    absent = (*_head(replica, evidence), *_amid(replica, evidence), *_tail(replica, evidence))
    if not absent:
        return replica
    log = replica.log
    unread = sorted((*log.unread, *absent), key=lambda stretch: stretch.expected_offset or 0)
    return replace(replica, log=structs.replace(log, unread=tuple(unread), unread_count=log.unread_count + len(absent)))


def ends_unread(follower: Replica, leader: Replica) -> tuple[str, str]:
    """That logs go on in files that were not read, where the one is to follow the other; and what would tell it."""
    unended = [replica for replica in (follower, leader) if not replica.end_known]
    whose = listed([f"broker {replica.broker}'s log" for replica in unended])
    files = _unread_segments(unended)
    asked = f"where broker {follower.broker} will truncate its log when it follows broker {leader.broker}"
    unread = f"The end of {whose} is not known, because not all files could be read: {_few(files)}"
    which = "that file" if len(files) == 1 else "these files"
    return f"it is not known {asked}. {unread}", f"a readable copy of {which}"


def unread_files(replicas: Sequence[Replica]) -> str:
    """The segments and epoch files of replicas that could not be read, or are not here."""
    unread = [r for r in replicas if r.epoch_file.state == "unreadable"]
    return _few([*_unread_segments(replicas), *(f"broker {r.broker}'s leader-epoch-checkpoint" for r in unread)])


def _unread_segments(replicas: Sequence[Replica]) -> list[str]:
    return [unread.span.source for replica in replicas for unread in replica.unopened]


def _few(files: Sequence[str]) -> str:
    return listed([*files[:NAMED], f"{len(files) - NAMED} more"] if len(files) > NAMED else files)


def perhaps_absent(replica: Replica, evidence: PartitionEvidence) -> str | None:
    """The segment that may not have been copied where the log ends at a snapshot of producers; null where none may.

    The broker may as well have stopped there once, and the copy may be of an earlier moment than what stands beside it.
    """
    end = replica.log_end_offset
    ended = not replica.may_be_live or evidence.copied in CRASHED or _went_on(replica, end)
    return None if ended or end not in {*_snapshots(replica)} else f"{replica.path}/{end:020d}.log"


def _head(replica: Replica, evidence: PartitionEvidence) -> Iterator[UnreadBytes]:
    """What comes before the first segment, where the replica's own files or its broker's log have it begin earlier.

    Where nobody tells that the log start moved so far, segments were not copied or are gone.
    """
    first = first_held(replica)
    known = min(known_starts(replica, evidence), key=lambda start: start.offset, default=None)
    if replica.state != "current" or known is None or known.offset >= first:
        return
    if not may_lie_remotely(replica, first, evidence) and not _is_deleted(replica, known.offset, first, evidence):
        yield _absent(replica, known.offset, first, f"the segment of offset {known.offset}, where {known.teller}")


def _is_deleted(replica: Replica, begins: int, first: int, evidence: PartitionEvidence) -> bool:
    """Whether the log start was moved so far, by what waits for its deletion or by the broker's word.

    What the cleaner replaced waits for its deletion too. Without a clean shutdown the epoch file may be older than the
    last move, of which others tell as well.
    """
    live = replica.clean_shutdown is None
    if not evidence.compacted and any(leftover.base_offset <= begins for leftover in replica.leftovers):
        return True
    moves = (moment for moment in evidence.moments if moment.kind == "log-start-moved")
    starts = [move.log_start_offset or 0 for move in moves if live or move.broker == replica.broker]
    starts += [peer.file_chain[0].start_offset for peer in evidence.current if live and peer.file_chain]
    return max(starts, default=0) >= first


def _amid(replica: Replica, evidence: PartitionEvidence) -> Iterator[UnreadBytes]:
    """What is missing between two segments, from where one began to the name of the later one."""
    cleaned = (never_cleaned_from(evidence) if evidence.compacted else 0) if replica.log.gaps else None
    if cleaned is None:
        return
    begun = {*_snapshots(replica), *_named_by_peers(replica, evidence), *_saved(replica, evidence)}
    bases = [each.base_offset for each in replica.segments]
    begun -= {*bases, *(leftover.base_offset for leftover in replica.leftovers)}
    for step in replica.log.gaps:
        start = max(step.expected, cleaned)
        following = next((base for base in bases if start < base <= step.found), None)
        if start in begun and following is not None and not replica.unseen(start, step.found):
            yield _absent(replica, start, following, "the segment after the one before the gap")


def _tail(replica: Replica, evidence: PartitionEvidence) -> Iterator[UnreadBytes]:
    """The segment that must begin where the copy ends, if the copy shows that there was one.

    A snapshot of producers is written where a segment begins or the broker stops. Where the log ends just there, and
    the replica knows of more, a file is missing: no page was lost out of one, though a crash may take a file's name.
    After a clean shutdown it may be missing where the last file is full, and no peer shows how logs are cut there.
    A high watermark alone is no word of it.
    """
    end = replica.log_end_offset
    unended = not replica.end_known or replica.log.unread or replica.segments[-1].base_offset >= end
    if unended or _stopped_at(replica, end) or _went_on(replica, end):
        return
    written = max(_written_beside(replica), _end_told(replica, evidence))
    if end >= max(written, _saved_watermark(replica)):
        return
    begun = {*_snapshots(replica), *_cleaned_up_to(replica), *_saved(replica, evidence)}
    untold = _without_snapshots(replica, evidence)
    if replica.clean_shutdown is not None:
        begun.update(_named_by_peers(replica, evidence))
        further = written > end and _is_full(replica)
        untold = untold or (further and not _gone_over(replica, end, evidence))
    elif evidence.copied not in CRASHED and _may_have_stopped_there(replica, end, evidence):
        return
    if end in begun or untold:
        yield _absent(replica, end, None, "the segment after the last one here")


def _stopped_at(replica: Replica, end: int) -> bool:
    """Whether its broker wrote at a clean shutdown that the log ends there."""
    flushed = replica.recovery_point
    return replica.clean_shutdown is not None and flushed is not None and flushed.offset == end


def _without_snapshots(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the copy lacks the snapshots of producers, of which its broker wrote one where its last segment begins.

    It wrote one at a clean shutdown too, which is missed where other copies have such files. Nothing tells then where
    a later segment began.
    """
    begun = replica.segments[0].base_offset < replica.segments[-1].base_offset
    stopped = replica.clean_shutdown is not None and replica.state == "current"
    due = begun or (stopped and any(other.snapshot_offsets for other in evidence.replicas))
    return due and not replica.snapshot_offsets and replica.last_epoch >= 0


def _went_on(replica: Replica, end: int) -> bool:
    """Whether an index of the last segment leads behind its end: the records stood in that file, not in a later one."""
    faults = (*replica.indexes.of_kind("offset"), *replica.indexes.of_kind("time"))
    last = replica.segments[-1].base_offset
    return any(f.segment_base_offset == last and f.offset is not None and f.offset >= end for f in faults)


def _may_have_stopped_there(replica: Replica, end: int, evidence: PartitionEvidence) -> bool:
    """Whether a snapshot may be of an earlier stop, since which the log went on in its segment after it was copied.

    So it is where its broker loaded the log with that end, or where peers went over it and none began a segment.
    """
    loads = (moment for moment in evidence.moments if moment.kind == "log-loaded" and moment.broker == replica.broker)
    if any(load.end_offset == end for load in loads):
        return True
    begun = any(each.base_offset == end for peer in evidence.followers_of(replica) for each in peer.segments)
    return not begun and _gone_over(replica, end, evidence)


def _gone_over(replica: Replica, end: int, evidence: PartitionEvidence) -> bool:
    """Whether a peer holds the records on both sides of an offset."""
    return any(peer.holds(end - 1, end + 1) for peer in evidence.followers_of(replica))


def _snapshots(replica: Replica) -> Iterator[int]:
    return (claim.offset for claim in replica.snapshot_offsets)


def _cleaned_up_to(replica: Replica) -> tuple[int, ...]:
    """Where a segment begins that the cleaner has not touched: it cleans none that its broker writes to."""
    return () if replica.cleaner_offset is None else (replica.cleaner_offset.offset,)


def _saved(replica: Replica, evidence: PartitionEvidence) -> Iterator[int]:
    """Where its broker tells that it wrote one."""
    saved = (moment for moment in evidence.moments if moment.kind == "producer-state-saved")
    return (moment.offset for moment in saved if moment.broker == replica.broker and moment.offset is not None)


def _named_by_peers(replica: Replica, evidence: PartitionEvidence) -> Iterator[int]:
    """Where segments of its peers begin, or began, and those put aside: most logs are cut into segments alike.

    A snapshot amid a peer's log was written when its broker stopped.
    """
    for peer in evidence.followers_of(replica):
        yield from (each.base_offset for each in peer.segments)
        yield from (leftover.base_offset for leftover in peer.leftovers)
        yield from (offset for offset in _snapshots(peer) if not peer.holds(offset - 1, offset + 1))


def _saved_watermark(replica: Replica) -> int:
    """How far the replica's log went, by its high watermark.

    A cut puts the segments that it takes aside. It leaves the high watermark's checkpoint, and rewrites the others.
    """
    cut = any(leftover.base_offset >= replica.log_end_offset for leftover in replica.leftovers)
    alone = replica.watermark_alone_is_wrong(stopped=replica.clean_shutdown is not None)
    return 0 if cut or alone or replica.high_watermark is None else replica.high_watermark.offset


def _end_told(replica: Replica, evidence: PartitionEvidence) -> int:
    """How far its log went at last by all that tells of its clean shutdown; a log that ends before may hide a cut.

    All of that is of the log in use, not of one that was put aside.
    """
    if replica.state != "current":
        return 0
    closed = (each for each in evidence.closings if isinstance(each, Closing) and each.broker == replica.broker)
    return max((each.log_end.low.offset for each in closed if each.log_end.low is not None), default=0)


def _is_full(replica: Replica) -> bool:
    """Whether the last segment is as large as one that was full."""
    *before, last = (segment.size for segment in replica.segments)
    return bool(before) and last >= min(before)


def _written_beside(replica: Replica) -> int:
    """How far its log went by what its broker wrote of it alone; by its epochs where no recovery point is here."""
    claims = (replica.recovery_point, *replica.snapshot_offsets)
    begun = replica.file_chain if replica.recovery_point is None else ()
    offsets = (*(c.offset for c in claims if c is not None), *(entry.start_offset for entry in begun))
    return max(offsets, default=0)


def _absent(replica: Replica, start: int, end: int | None, expected: str) -> UnreadBytes:
    """A stretch of the log that no file of the copy holds."""
    return UnreadBytes(
        kind="not_copied",
        expected_offset=start,
        next_offset=end,
        expected=expected,
        found="no such file",
        span=Span(source=f"{replica.path}/{start:020d}.log", start=0, end=0),
    )
