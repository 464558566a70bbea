"""What the sections of the incident report share: which findings and losses they tell, and how places are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from auditor.report.markdown import text
from auditor.report.model import (
    AuditReport,
    Loss,
    PlacedAdvice,
    PlacedAvailability,
    PlacedCounterfactual,
    PlacedHistory,
)
from auditor.report.named_places import named_places
from rules.finding import Finding, Place, Severity
from rules.words import counted

SHOWN: Final = 400
"""Of one kind in one part of the appendix; the rest is counted."""


def grave(report: AuditReport) -> list[Finding]:
    """The findings that the report tells."""
    return [finding for finding in report.violations if finding.severity >= Severity.MEDIUM]


def billed(report: AuditReport) -> list[tuple[PlacedHistory, Loss]]:
    """Every loss with its partition."""
    return [(history, loss) for history in report.histories for loss in history.losses]


def place(placed: PlacedHistory | PlacedCounterfactual | PlacedAdvice | PlacedAvailability) -> str:
    """A partition's name."""
    return text(f"{placed.topic}-{placed.partition}")


def places(several: Iterable[PlacedHistory | PlacedCounterfactual | PlacedAdvice | PlacedAvailability]) -> str:
    """The names of several partitions, neighbours by their ends."""
    named: list[Place] = [(placed.cluster_id, placed.topic, placed.partition) for placed in several]
    return text(named_places(named))


def about(finding: Finding) -> str:
    """What a finding is about."""
    return text(finding.place) if finding.place else "the whole dump"


def capped(total: int, noun: str, shown: int = SHOWN, where: str = "the JSON report") -> Iterator[str]:
    """That there is more than is shown."""
    if total > shown:
        yield f"- … and {counted(total - shown, f'more {noun}')}: see {where}"


def shortened(total: int, noun: str, shown: int) -> Iterator[str]:
    """That the body leaves out what the appendix has."""
    yield from capped(total, noun, shown, "the appendix (--appendix)")
