"""Where a trace of requests is not whole: what nobody saw there cannot be said not to have happened."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.provenance import Span


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

