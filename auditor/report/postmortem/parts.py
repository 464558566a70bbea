"""What the sections of the incident report share: which findings and losses they tell, and how places are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.layout import counted
from auditor.report.markdown import text
from auditor.report.model import AuditReport, Loss, PlacedAdvice, PlacedCounterfactual, PlacedHistory
from rules.finding import Finding, Severity

SHOWN: Final = 40
"""Of one kind in one section; the rest is counted."""


def grave(report: AuditReport) -> list[Finding]:
    """The findings that the report tells."""
    return [finding for finding in report.violations if finding.severity >= Severity.MEDIUM]


def billed(report: AuditReport) -> list[tuple[PlacedHistory, Loss]]:
    """Every loss with its partition."""
    return [(history, loss) for history in report.histories for loss in history.losses]


def place(placed: PlacedHistory | PlacedCounterfactual | PlacedAdvice) -> str:
    """A partition's name."""
    return text(f"{placed.topic}-{placed.partition}")


def about(finding: Finding) -> str:
    """What a finding is about."""
    return text(f"{finding.topic}-{finding.partition}") if finding.topic is not None else "the whole dump"


def capped(total: int, noun: str) -> Iterator[str]:
    """That there is more than is shown."""
    if total > SHOWN:
        yield f"- … and {counted(total - SHOWN, f'more {noun}')}: see the JSON report"
