"""The answers of one lead in the order in which its leader logged them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rules.history.rotated import FileOrder, Place
from rules.replay.leads.by_clock_and_epoch import Served


def in_log_order(rows: Iterable[Served]) -> Iterator[tuple[Served, bool]]:
    """Answers one by one; of a run of equal ones the first and the last.

    Where in its millisecond the last was logged is not told. It is walked over before all others: whoever was answered
    then may have asked anew already.
    """
    answers = tuple(rows)
    files = FileOrder((row.span.source, row.time) for row in answers)
    placed: list[tuple[int, int, Place, int, Served, bool]] = []
    for row in answers:
        time = row.time if row.time is not None else 0
        place = files.place(row.span.source)
        placed.append((time, 1, place, row.span.start, row, False))
        if row.count > 1:
            until = row.last_time if row.last_time is not None else time
            placed.append((until, 0 if until > time else 1, place, row.span.start, row, True))
    for entry in sorted(placed, key=lambda p: p[:4]):
        yield entry[4], entry[5]
