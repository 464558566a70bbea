"""Where a trace of requests is not whole: what nobody saw there cannot be said not to have happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from parsers.provenance import Span
from rules.history.moments import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceGap:
    """From the first to the last place that could not be read in one log of a broker's answers.

    Behind a log that ends too early it is empty, and tells since when lines are missing.
    """

    broker: int
    source: str
    start: int
    end: int
    since: int | None = None
    """When the last line of a log that ends too early was written, on its broker's clock."""
    told_by: Span | None = None
    """Who tells that it ends too early; null where lines are missing amid the log."""


def ends_unseen(gaps: Iterable[TraceGap], broker: int, until: int | None) -> bool:
    """Whether a broker gave answers, up to when it took another role, that its log no longer tells."""
    own = (gap for gap in gaps if gap.broker == broker and gap.told_by is not None)
    return any(until is None or gap.since is None or until > gap.since for gap in own)


def holed(gaps: Iterable[TraceGap], broker: int, rows: Iterable[Moment]) -> bool:
    """Whether answers of a broker may be missing among, or before, these rows of its logs."""
    last: dict[str, int] = {}
    for row in rows:
        last[row.span.source] = max(last.get(row.span.source, -1), row.span.start)
    return any(gap.start <= last.get(gap.source, -1) for gap in gaps if gap.broker == broker)
