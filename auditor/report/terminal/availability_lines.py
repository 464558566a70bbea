"""Availability on a terminal: how long each partition was exposed, and its states, a table where the page has room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.availability import CLOCKS, HEADS, alike_accounts, rest_told, state_cells, states_shown
from auditor.report.model import PlacedAvailability
from auditor.report.named_places import named_places
from auditor.report.sheet import Sheet, table

WHEN: Final = HEADS.index("epoch")
"""The columns before it say when a state was."""


def availability_lines(accounts: Sequence[PlacedAvailability], page: Sheet) -> Iterator[str]:
    """Every partition that was exposed for a time; those that were alike once."""
    if not accounts:
        return
    yield ""
    yield page.paint("availability over time", "strong")
    yield from page.wrapped(CLOCKS, 0, "faint")
    clusters = sorted({placed.cluster_id or "" for placed in accounts})
    for cluster in clusters:
        own = [placed for placed in accounts if (placed.cluster_id or "") == cluster]
        yield from _of_a_cluster(own, f"{cluster or 'unknown cluster'}/" if len(clusters) > 1 else "", page)


def _of_a_cluster(accounts: Sequence[PlacedAvailability], cluster: str, page: Sheet) -> Iterator[str]:
    for alike in alike_accounts(accounts, states_shown):
        account = alike.places[0].availability
        places = [(placed.cluster_id, placed.topic, placed.partition) for placed in alike.places]
        yield from page.wrapped(f"{cluster}{named_places(places)}", 0, "", 2)
        for sentence in alike.sentences:
            yield from page.wrapped(sentence, 2, "", 2)
        yield from _states([state_cells(row) for row in alike.rows], page)
        if account.rows and (rest := rest_told(account)):
            yield from page.wrapped(rest, 2, "faint")


def _states(cells: Sequence[Sequence[str]], page: Sheet) -> Iterator[str]:
    """The states as a table, or when and what below each other where that would be wider than the page."""
    heads, *rows = table(HEADS, cells, indent=2)
    if max(map(len, (heads, *rows))) <= page.columns:
        yield from (page.paint(heads, "faint"), *rows) if rows else ()
        return
    for cell in cells:
        said = [f"{head} {value}" for head, value in zip(HEADS, cell, strict=True)]
        yield from page.wrapped("; ".join(said[:WHEN]), 2, "", 2)
        yield from page.wrapped("; ".join(said[WHEN:]), 4, "", 2)
