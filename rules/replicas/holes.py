"""Offsets that a log does not hold although its own files say that it went over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.provenance import Span
from rules.replicas.replica import Replica


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """Missing offsets `[start, end)`, and the batches around them, as far as there are any."""

    start_offset: int
    end_offset: int
    before: Span | None = None
    after: Span | None = None
    named: str | None = None
    """The segment whose name tells one of the ends, where no batch does."""


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
