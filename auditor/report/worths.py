"""What lost offsets were worth to whoever wrote them, in words: the same in screen, bill and table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from auditor.report.model import Loss
from rules.finding import offsets_told
from rules.words import counted, it_or_them

WORTHS: Final = {
    "committed": "committed",
    "acknowledged": "acknowledged but not committed",
    "possibly acknowledged": "possibly acknowledged",
    "never committed": "never committed",
}
PERHAPS: Final = "possibly acknowledged"
RANGES_NAMED: Final = 3

Ranges = Sequence[tuple[int, int]]


def by_worth(loss: Loss) -> dict[str, Ranges]:
    """The offsets of each worth, neighbours as one range."""
    found: dict[str, list[tuple[int, int]]] = {}
    for portion in loss.portions:
        found.setdefault(portion.worth, []).append((portion.start_offset, portion.end_offset))
    return {worth: joined(ranges) for worth, ranges in found.items()}


def worths_counted(numbers: Mapping[str, int]) -> str:
    """How many offsets of each worth, in words: all committed; 38 committed, 9 possibly acknowledged."""
    parts = [(number, WORTHS[worth]) for worth, number in numbers.items() if number]
    if len(parts) == 1:
        number, words = parts[0]
        return f"all {words}" if number > 1 else words
    return ", ".join(f"{number} {words}" for number, words in parts)


def worths_placed(loss: Loss) -> str:
    """The same of one loss, with the offsets."""
    return ", ".join(f"{width(own)} {WORTHS[worth]} ({spans(own)})" for worth, own in by_worth(loss).items())


def surely_acknowledged(loss: Loss) -> bool:
    """Whether somebody was surely told of one of these records that it is written."""
    return any(portion.surely_told for portion in loss.portions)


def acknowledged(loss: Loss) -> str:
    """Which offsets; a produce answer names the first record of its batch, so that more may be meant by it."""
    sure = joined((p.start_offset, p.end_offset) for p in loss.portions if p.surely_told)
    perhaps = by_worth(loss).get(PERHAPS, ())
    return _sure_and_perhaps(spans(sure), spans(perhaps))


def at_least_and_most(sure: Ranges, start: int, end: int) -> str:
    """Which offsets surely are, and from where up to where others may be as well."""
    least, most = spans(sure), span(start, end)
    if least == most:
        return least
    return f"{least} at least, {most} at most" if sure else f"{most} at most"


def acknowledged_in_all(losses: Sequence[Loss]) -> str:
    """The same of several losses, counted."""
    portions = [portion for loss in losses for portion in loss.portions]
    sure = width((p.start_offset, p.end_offset) for p in portions if p.surely_told)
    perhaps = width((p.start_offset, p.end_offset) for p in portions if p.worth == PERHAPS)
    return _sure_and_perhaps(str(sure or ""), str(perhaps or ""))


def _sure_and_perhaps(sure: str, perhaps: str) -> str:
    parts = [*([sure] if sure else []), *([f"perhaps {perhaps}"] if perhaps else [])]
    return "; ".join(parts) or "none"


def held_by_none(offsets: int) -> str:
    """That no disk here holds a copy."""
    return f"No broker in this dump still has {it_or_them(offsets)}."


def width(ranges: Iterable[tuple[int, int]]) -> int:
    """How many offsets they hold."""
    return sum(end - start for start, end in ranges)


def span(start: int, end: int) -> str:
    """A range of offsets, or that there is none."""
    return offsets_told(start, end).partition(" ")[2] if end > start else "none"


def spans(ranges: Ranges) -> str:
    """The first ranges, and how many more there are; empty where there is none."""
    more = len(ranges) - RANGES_NAMED
    rest = f" and {counted(more, 'more range')}" if more > 0 else ""
    return ", ".join(span(*each) for each in ranges[:RANGES_NAMED]) + rest


def joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same offsets, in order, with those that touch as one range."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
