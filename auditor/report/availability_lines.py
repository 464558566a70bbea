"""Availability on a terminal: how long each partition was exposed, and its states, a table where the page has room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.report.availability import CLOCKS, HEADS, rest_told, state_cells, states_shown, told_of
from auditor.report.model import PlacedAvailability
from auditor.report.sheet import Sheet, table


def availability_lines(told: Sequence[PlacedAvailability], page: Sheet) -> Iterator[str]:
    """Every partition that was exposed for a time."""
    if not told:
        return
    yield ""
    yield page.paint("availability over time", "strong")
    yield from page.wrapped(CLOCKS, 0, "faint")
    clusters = len({placed.cluster_id for placed in told}) > 1
    for placed in told:
        account = placed.availability
        cluster = f"{placed.cluster_id or 'unknown cluster'}/" if clusters else ""
        yield from page.wrapped(f"{cluster}{placed.topic}-{placed.partition}")
        for sentence in told_of(account):
            yield from page.wrapped(sentence, 2, "", 2)
        yield from _states([state_cells(row) for row in states_shown(account)], page)
        if account.rows and (rest := rest_told(account)):
            yield from page.wrapped(rest, 2, "faint")


def _states(cells: Sequence[Sequence[str]], page: Sheet) -> Iterator[str]:
    """The states as a table, or one paragraph each where that would be wider than the page."""
    heads, *rows = table(HEADS, cells, indent=2)
    if max(map(len, (heads, *rows))) <= page.columns:
        yield from (page.paint(heads, "faint"), *rows) if rows else ()
        return
    for cell in cells:
        said = (f"{head} {value}" for head, value in zip(HEADS, cell, strict=True))
        yield from page.wrapped("; ".join(said), 2, "", 2)
