"""Where times fall from one line of a log to the next: its clock was set back, or its lines are not as written.

A broker's lines of all partitions are looked at together. What is told of one partition may be too little to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from rules.history.moments import Moment

LEAST_MS: Final = 250
"""Threads that write at once put lines in another order than they dated them: by some 30 ms at most, as recorded."""
MOST_FALLS: Final = 8
"""Falls of one file that are told one by one: in a file with more of them no line tells what came before it."""
BROKERS: Final = "broker "
"""What the clock of a broker begins with."""
CACHED_MS: Final = 1000
"""One thread may print the second that another has cached: log4j 1 lets threads share it."""
NEAR: Final = 8
"""Lines before and behind one that waited, by which it is known that its file was written without a pause."""
_TABLES: Final = (".csv", ".json", ".jsonl", ".ndjson")
"""Fetches as somebody else wrote them down, in whatever order."""


class TimesFall(Struct, frozen=True, kw_only=True):
    """A line that is older than one before it in its file, by more than threads that write at once may cause."""

    clock: str
    before: int
    """The newest time before it."""
    after: int
    line: Span


Falls = Mapping[str, Sequence[TimesFall]]
"""By clock, in the order of files and lines."""


def dated_lines(moment: Moment) -> bool:
    """Whether it stands where its broker wrote it, with the time at which it did."""
    in_log = moment.clock.startswith(BROKERS) and not moment.span.source.endswith(_TABLES)
    return in_log and moment.time is not None


def falls_in(moments: Iterable[Moment]) -> tuple[TimesFall, ...]:
    """The falls within each file that statements are of, whatever partition they are about."""
    files: dict[tuple[str, str], dict[int, Moment]] = {}
    for moment in moments:
        if dated_lines(moment):
            files.setdefault((moment.clock, moment.span.source), {})[moment.span.start] = moment
    return tuple(fall for lines in files.values() for fall in _of_file([lines[place] for place in sorted(lines)]))


def _of_file(lines: Sequence[Moment]) -> list[TimesFall]:
    newest, found = lines[0].time or 0, list[TimesFall]()
    for place, line in enumerate(lines):
        at = line.time or 0
        if newest - at > LEAST_MS:
            if _alone(lines, place, newest):
                continue
            found.append(TimesFall(clock=line.clock, before=newest, after=at, line=line.span))
            newest = at
        newest = max(newest, at)
    return found[: MOST_FALLS + 1]


def _alone(lines: Sequence[Moment], place: int, newest: int) -> bool:
    """Whether one line alone is older, so that it was no clock: a thread waited with it, or printed a wrong second.

    A clock that was set back would have to go on, until the next line, for as long as it was set back. Of less than a
    second nobody could tell that; of more no other pause near it may be as long.
    """
    times = [line.time or 0 for line in lines[max(0, place - NEAR) : place + NEAR + 1] if line is not lines[place]]
    at, behind = lines[place].time or 0, lines[place + 1 : place + NEAR + 1]
    if not behind or any((line.time or 0) < newest - LEAST_MS for line in behind):
        return False
    return newest - at < CACHED_MS or max(later - time for time, later in pairwise(times)) < newest - at


def by_clock(falls: Iterable[TimesFall]) -> Falls:
    """The falls of each clock, each told once."""
    found: dict[str, list[TimesFall]] = {}
    for fall in sorted(set(falls), key=lambda fall: (fall.clock, fall.line.source, fall.line.start)):
        found.setdefault(fall.clock, []).append(fall)
    return found


def falls_of_files(falls: Iterable[TimesFall]) -> dict[str, list[TimesFall]]:
    """The falls by the file that shows them."""
    found: dict[str, list[TimesFall]] = {}
    for fall in falls:
        found.setdefault(fall.line.source, []).append(fall)
    return found


def in_words(falls: Sequence[TimesFall]) -> str:
    """What falls of one clock tell, as half a sentence: how far the times go back, and when.

    Not why: a clock that was set back looks like a thread that had to wait before it wrote the line that it had dated.
    """
    clock = falls[0].clock
    files = falls_of_files(falls)
    most = max(files.values(), key=len)
    if len(most) > 1:
        times = f"more than {MOST_FALLS}" if len(most) > MOST_FALLS else f"{len(most)}"
        return f"the times in {clock}'s log {most[0].line.source} go back {times} times"
    first = max(falls, key=lambda fall: fall.before - fall.after)
    when = datetime.fromtimestamp(first.before // 1000, UTC)
    seconds = (first.before - first.after) / 1000
    return f"the times in {clock}'s log {first.line.source} go back by {seconds:.1f} s at {when:%Y-%m-%d %H:%M:%S}"
