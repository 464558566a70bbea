"""Tables of fetches, read a stretch at a time and thinned where they are long, as busy request logs are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final

from msgspec.structs import replace

from auditor.engines.witnesses.statements_of_requests import of_fetches, of_trace
from auditor.engines.witnesses.statements_of_rows import Named
from auditor.engines.witnesses.thinned_traces import thinned_rows
from parsers.broker_log import wall_clock
from parsers.provenance import Origin
from parsers.request_log import partition_fetch
from parsers.tables import Fetch
from rules.history.trace_ends import WHOLE

GATHERED: Final = 1 << 15
"""Rows that are thinned at once; that many bound the memory of a table, however long it is."""


def of_table(fetches: Iterable[Fetch], origin: Origin, names: Mapping[str, str]) -> Iterator[Named]:
    """Statements of a table of fetches; `names` gives the topic of an id."""
    rows = iter(fetches)
    while gathered := list(islice(rows, GATHERED)):
        if len(gathered) <= WHOLE:
            yield from of_fetches(gathered, names)
            continue
        for broker, own in _by_broker(gathered).items():
            if _in_order(own):
                yield from of_trace(thinned_rows([*map(partition_fetch, own)]), replace(origin, broker=broker), names)
            else:
                yield from of_fetches(own, names)


def _by_broker(fetches: Iterable[Fetch]) -> dict[int | None, list[Fetch]]:
    found: dict[int | None, list[Fetch]] = {}
    for fetch in fetches:
        if fetch.replica is not None and fetch.partition is not None:
            found.setdefault(fetch.broker, []).append(fetch)
    return found


def _in_order(fetches: Sequence[Fetch]) -> bool:
    """Whether all have their times, and none lies before the one above it: so that what is left out lies between."""
    times = [wall_clock(fetch.time_text) if fetch.time_text else None for fetch in fetches]
    return None not in times and all(one <= other for one, other in pairwise(times))  # type: ignore[operator]
