"""Fetches as rows of their table: what was said by name, and what incremental sessions left unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter

from parsers.provenance import Origin
from parsers.request_log.batches import batches_of
from parsers.request_log.call import FetchCall, line_of
from parsers.request_log.fetch_columns import RequestColumns
from parsers.request_log.folded import Folded
from parsers.request_log.gathered import Taken
from parsers.request_log.sessions import NOTHING, SessionState
from parsers.tables import from_arrow
from parsers.tables.requests import Fetch, SessionGap


def fetch_rows(
    calls: Iterable[FetchCall], origin: Origin, before: SessionState = NOTHING
) -> Iterator[Fetch | SessionGap]:
    """The rows of a range, in order, given what its sessions were before it."""
    folded = Folded(before, runs=False)
    _add(folded, list(calls))
    yield from _rows(folded.rest(), origin)


def _rows(parts: Iterable[RequestColumns], origin: Origin) -> Iterator[Fetch | SessionGap]:
    """The rows of some lines by line, gaps in front of what they leave in doubt."""
    sides: list[list[tuple[int, Fetch | SessionGap]]] = [[], []]
    for part in parts:
        for side, row_class, rows in ((sides[0], SessionGap, part.gaps), (sides[1], Fetch, part.fetches)):
            for batch in batches_of(part, origin, row_class):
                lines = [] if rows is None else rows.rows["line"].tolist()
                side.extend(zip(lines, from_arrow(batch, row_class), strict=True))
    yield from (row for _, row in merge(*sides, key=itemgetter(0)))


def fold(calls: Iterable[FetchCall]) -> SessionState:
    """What a range of a broker's log does to the sessions it touches."""
    folded = Folded()
    _add(folded, list(calls))
    for _ in folded.rest():
        pass
    return folded.sessions()


def _add(folded: Folded, calls: Sequence[FetchCall]) -> None:
    if calls:
        lines, times = [line_of(call) for call in calls], [call.time_text.encode() for call in calls]
        taken = Taken(lines, [call.start for call in calls], [call.end for call in calls], times)
        folded.add_fetches(taken)
