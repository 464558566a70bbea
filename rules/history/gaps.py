"""Where a trace of requests is not whole: what nobody saw there cannot be said not to have happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules.history.moments import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceGap:
    """From the first to the last place that could not be read in one log of a broker's answers."""

    broker: int
    source: str
    start: int
    end: int


def holed(gaps: Iterable[TraceGap], broker: int, rows: Iterable[Moment]) -> bool:
    """Whether answers of a broker may be missing among, or before, these rows of its logs."""
    last: dict[str, int] = {}
    for row in rows:
        last[row.span.source] = max(last.get(row.span.source, -1), row.span.start)
    return any(gap.start <= last.get(gap.source, -1) for gap in gaps if gap.broker == broker)
