"""One replica's log as cells of a sketch: what stands at each offset of a window, in the marks of `rules.sketch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rules.evidence import Difference, Replica
from rules.facts.stretch import EpochRun, OffsetStep
from rules.protocol.steps import StepLimit

PLAIN_CHARACTERS: Final = 16
"""Cells up to this wide are written out, longer ones as runs."""
TIMES: Final = "\u00d7"
_ONE_DIGIT: Final = 9

Range = tuple[int, int]
Letters = Mapping[Range, str]
"""Offsets at which contents differ and epochs do not, and the letter that tells this replica's apart."""


def first_offset(replica: Replica) -> int:
    """Where the replica's batches begin."""
    begins = replica.log.epochs[0].start_offset if replica.log.epochs else replica.log_end_offset
    return begins if replica.log.first_offset is None else replica.log.first_offset


def points(replica: Replica, letters: Letters) -> Iterator[int]:
    """Offsets at which the drawing of a replica may change."""
    yield from (replica.log_start_offset, replica.log_end_offset, first_offset(replica))
    if replica.high_watermark:
        yield replica.high_watermark.offset
    for run in replica.log.epochs:
        yield from (run.start_offset, run.end_offset)
    for step in (*replica.log.gaps, *replica.log.overlaps):
        yield from (step.expected, step.found)
    for start, end in (*_flaws(replica), *_damage(replica), *letters):
        yield from (start, end)


def marks(replica: Replica, offset: int) -> str:
    """The log start and the high watermark, where they stand at this offset."""
    start = "<" if replica.log_start_claim and replica.log_start_offset == offset > 0 else ""
    watermark = "|" if replica.high_watermark and replica.high_watermark.offset == offset else ""
    return start + watermark


def cell(replica: Replica, start: int, end: int, letters: Letters) -> str:
    """What the log holds over offsets between which nothing changes."""
    if end <= first_offset(replica) or start >= replica.log_end_offset:
        return ""
    if _within(_damage(replica), start):
        return _times("#", end - start)
    if any(step.expected <= start < step.found for step in replica.log.gaps):
        return _times(".", end - start)
    run = next((run for run in replica.log.epochs if run.start_offset <= start < run.end_offset), None)
    if run is None:
        return _times(".", end - start)
    word = epoch_word(run) + next((letter for (a, b), letter in letters.items() if a <= start < b), "")
    flaw = _within(_flaws(replica), start)
    return f"({_times(word, end - start)}){flaw}" if flaw and end - start > 1 else _times(word + flaw, end - start)


def in_physical_order(replica: Replica, low: int, high: int) -> str:
    """A log whose offsets go back: its pieces as they lie in the files, each with the offset at which it begins."""
    steps: Sequence[OffsetStep] = sorted(
        (*replica.log.gaps, *replica.log.overlaps), key=lambda step: (step.after.source, step.after.start)
    )
    begins = [first_offset(replica), *(step.found for step in steps)]
    ends = [*(step.expected for step in steps), replica.log_end_offset]
    drawn: list[str] = []
    for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        start, stop = max(begin, low), min(end, high)
        runs = list(replica.log.epochs) if place == 0 else list(reversed(replica.log.epochs))
        if start < stop:
            drawn.append(f"@{start}:" + "".join(_piece(runs, start, stop)))
    return " ".join(drawn)


def _piece(runs: Sequence[EpochRun], start: int, stop: int) -> Iterator[str]:
    bound = StepLimit(2 * len(runs) + 2, "drawing a log")
    while start < stop:
        bound.step()
        run = next((run for run in runs if run.start_offset <= start < run.end_offset), None)
        end = stop if run is None else min(stop, run.end_offset)
        yield _times(epoch_word(run) if run else ".", end - start)
        start = end


def epoch_word(run: EpochRun) -> str:
    """The digit of an epoch, or its mark where one digit cannot say it."""
    if run.epoch < 0:
        return "-"
    return str(run.epoch) if run.epoch <= _ONE_DIGIT else f"[{run.epoch}]"


def tail(replica: Replica) -> str:
    """What stands behind the last batch and is none."""
    kinds = {unread.kind for unread in replica.log.unread if unread.next_offset is None}
    return ("~" if kinds - {"zero_tail"} else "") + ("_" if "zero_tail" in kinds else "")


def _times(word: str, count: int) -> str:
    return word * count if len(word) * count <= PLAIN_CHARACTERS else f"{word}{TIMES}{count}"


def _flaws(replica: Replica) -> dict[Range, str]:
    flaws = {(fault.base_offset, fault.end_offset): "!" for fault in replica.log.checksum_faults}
    broken = {(u.span.source, u.span.start) for zoom in replica.zooms for u in zoom.undecodable}
    for zoom in replica.zooms if broken else ():
        for batch in zoom.batches:
            if (batch.span.source, batch.span.start) in broken:
                flaws[batch.base_offset, batch.end_offset] = "?"
    for unread in replica.log.undecodable:
        if unread.expected_offset is not None and unread.next_offset is not None:
            flaws[unread.expected_offset, unread.next_offset] = "?"
    return flaws


def _damage(replica: Replica) -> dict[Range, str]:
    return {
        (unread.expected_offset, unread.next_offset): "#"
        for unread in replica.log.unread
        if unread.expected_offset is not None and unread.next_offset is not None
    }


def _within(ranges: Mapping[Range, str], offset: int) -> str:
    return next((mark for (start, end), mark in ranges.items() if start <= offset < end), "")


def letters_of(replicas: Sequence[Replica], differences: Sequence[Difference]) -> list[dict[Range, str]]:
    """For each replica the letters of contents that differ where epochs do not; those that agree share a letter."""
    found: list[dict[Range, str]] = [{} for _ in replicas]
    blind = [d for d in differences if d.same_epoch or d.left_epochs == d.right_epochs]
    borders = sorted({border for d in blind for border in (d.start_offset, d.end_offset)})
    for start, end in pairwise(borders):
        apart = [(d.left, d.right) for d in blind if d.start_offset <= start and end <= d.end_offset]
        given: list[str] = []
        for index, replica in enumerate(replicas if apart else ()):
            alike = (given[k] for k in range(index) if not _apart(replicas[k], replica, apart))
            letter = next(alike, "abcdefghijklmnopqrstuvw"[len(set(given)) % 23])
            given.append(letter)
            found[index][start, end] = letter
    return found


def _apart(one: Replica, two: Replica, apart: Sequence[tuple[Replica, Replica]]) -> bool:
    return any({id(one), id(two)} == {id(left), id(right)} for left, right in apart)
