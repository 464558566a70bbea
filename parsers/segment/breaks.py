"""Where the chain of headers breaks: what kind of break it is, where the hole begins, and where reading goes on."""

from __future__ import annotations

from msgspec import Struct

from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.segment.checksum import crc_holds
from parsers.segment.entry_header import (
    INT32,
    LENGTH_END,
    MAX_LENGTH,
    MIN_LENGTH,
    PREFIX,
    PREFIX_BYTES,
    first_offset,
    last_offset,
)
from parsers.segment.held_bytes import HeldSegment
from parsers.segment.resync import ChecksumCredit, next_batch, zeros_end
from parsers.tables import Refusal, RefusalKind


class UnreadableBytes(Struct, frozen=True, kw_only=True):
    """Bytes `[start, end)` that hold no readable batch; the chain goes on at `end`."""

    kind: RefusalKind
    start: int
    end: int
    due: int | None
    """Offset that should have come at `start`, when a batch before it tells."""


def swallowed(segment: HeldSegment, previous: int, position: int, credit: ChecksumCredit) -> UnreadableBytes | None:
    """The hole that `previous` is, when its length is a lie: its checksum fails and it covers a sound batch.

    Its end is then no place to trust, and the batch that it covers is where reading goes on.
    """
    size = position - previous
    if size > credit.left(previous):
        return None
    credit.spend(size)
    if crc_holds(segment, previous, position):
        return None
    resumed = next_batch(segment, previous + 1, position, credit)
    if resumed is None:
        return None
    return UnreadableBytes(kind="damage", start=previous, end=resumed, due=first_offset(segment, previous))


def gap(segment: HeldSegment, previous: int, position: int, credit: ChecksumCredit) -> UnreadableBytes:
    """The hole that begins at `position`, where no sound header stands; `previous` is the batch before it, or -1."""
    due = last_offset(segment, previous) + 1 if previous >= 0 else None
    # A few zeros at the end may be the first bytes of an offset: too few to be told from a torn header.
    if segment.size - position >= PREFIX_BYTES and zeros_end(segment, position) == segment.size:
        return UnreadableBytes(kind="zero_tail", start=position, end=segment.size, due=due)
    resumed = next_batch(segment, position + 1, segment.size, credit)
    if resumed is not None:
        return UnreadableBytes(kind="damage", start=position, end=resumed, due=due)
    kind: RefusalKind = "torn_tail" if _cut_short(segment, position) else "damage"
    return UnreadableBytes(kind=kind, start=position, end=segment.size, due=due)


def _cut_short(segment: HeldSegment, position: int) -> bool:
    """Whether the file ends inside the entry at `position`: too few bytes to tell, or fewer than its length says."""
    if segment.size - position < PREFIX_BYTES:
        return True
    _, length, _, magic = segment.unpack(PREFIX, position)
    possible = 0 <= magic <= 2 and MIN_LENGTH[magic] <= length <= MAX_LENGTH
    return bool(possible and position + LENGTH_END + length > segment.size)


def refusal_of(segment: HeldSegment, origin: Origin, hole: UnreadableBytes) -> Refusal:
    """The hole as a row: which batch was due, and what stood there instead."""
    where = "" if hole.due is None else f" at offset {hole.due}"
    due = f"a record batch{where}"
    expected = due if hole.kind == "damage" else f"{due} or the end of the file"
    if hole.kind == "torn_tail" and (length := _declared_length(segment, hole.start)) is not None:
        expected = f"a record batch of {LENGTH_END + length} bytes{where}"
    return refuse(origin, hole.kind, hole.start, hole.end, expected=expected, found=_found(segment, hole))


def _declared_length(segment: HeldSegment, position: int) -> int | None:
    if segment.size - position < LENGTH_END:
        return None
    (length,) = segment.unpack(INT32, position + 8)
    return int(length)


def _found(segment: HeldSegment, hole: UnreadableBytes) -> str:
    size = hole.end - hole.start
    if hole.kind == "zero_tail":
        return f"{size} zero bytes"
    if hole.kind == "torn_tail":
        return f"only {size} bytes"
    return f"{_header_words(segment, hole.start)}{_offsets_swallowed(segment, hole)}"


def _header_words(segment: HeldSegment, position: int) -> str:
    if segment.size - position < PREFIX_BYTES:
        return f"{segment.size - position} bytes"
    _, length, _, magic = segment.unpack(PREFIX, position)
    return f"length {length}, magic {magic}"


def _offsets_swallowed(segment: HeldSegment, hole: UnreadableBytes) -> str:
    """Which offsets the hole hides, as far as its neighbours tell."""
    if hole.end == segment.size:
        return "; no batch behind it"
    resumed = first_offset(segment, hole.end)
    if resumed is None:
        return f"; next batch ends at offset {last_offset(segment, hole.end)}"
    if hole.due is None or resumed < hole.due:
        return f"; next batch at offset {resumed}"
    return f"; offsets {hole.due} to {resumed - 1} cannot be read"
