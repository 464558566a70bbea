"""What came of the expectations: plain values that know how the run ends."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from auditor.exit_codes import ExitCode
from auditor.quality.plan import Expected
from parsers.provenance import Span

Verdict = Literal["met", "failed", "not evaluated"]


class ExpectationResult(Struct, frozen=True, kw_only=True):
    """What came of one expectation."""

    expected: Expected
    verdict: Verdict
    unexpected: int | None = None
    """Rows that do not meet it; null for one about the table as a whole, and for one that was not evaluated."""
    addresses: tuple[Span, ...] = ()
    """Where the first such rows stand."""
    reason: str | None = None
    """Why it was not evaluated."""


class TableOutcome(Struct, frozen=True, kw_only=True):
    """What came of a table's expectations."""

    table: str
    rows: int
    outcomes: tuple[ExpectationResult, ...]

    def with_verdict(self, verdict: Verdict) -> tuple[ExpectationResult, ...]:
        """The outcomes that ended so."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict == verdict)


class QualityReport(Struct, frozen=True, kw_only=True):
    """What came of all expectations about a dump."""

    dump: str
    topics: tuple[str, ...]
    tables: tuple[TableOutcome, ...]

    def with_verdict(self, verdict: Verdict) -> tuple[ExpectationResult, ...]:
        """The outcomes of all tables that ended so."""
        return tuple(outcome for table in self.tables for outcome in table.with_verdict(verdict))

    @property
    def exit_code(self) -> ExitCode:
        """A failed expectation is a finding; one that could not be evaluated leaves the verdict open."""
        if self.with_verdict("failed"):
            return ExitCode.FINDINGS
        return ExitCode.UNKNOWN if self.with_verdict("not evaluated") else ExitCode.CLEAN
