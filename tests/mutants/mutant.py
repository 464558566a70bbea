"""What a mutant is: a recorded sample of which exact bytes were changed, and its nearest lawful twin."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from rules.evidence import Level
from rules.finding import Finding, Severity
from tests.mutants.surgery import Copy

Change = Callable[[Copy], None]
Said = tuple[str, tuple[int, ...], int | None, int | None]
"""Severity, brokers and range of a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One rule's twins: the change that it must find, and how; and the one in which nothing is wrong for it."""

    rule: str
    sample: str
    change: Change
    said: tuple[Said, ...]
    lawful: Change
    because: str
    level: Level = "full"


def unchanged(_copy: Copy) -> None:
    """The sample as it was recorded."""


@cache
def judged(sample: str, change: Change, level: Level) -> AuditReport:
    """The audit of a changed copy."""
    with tempfile.TemporaryDirectory() as place:
        copy = Copy(sample, Path(place) / "dump")
        change(copy)
        return audit(copy.dump, AuditConfig(engine="local", level=level))


def found(report: AuditReport, rule: str) -> list[Finding]:
    """What a rule says."""
    return [finding for finding in report.violations if finding.rule == rule]


def said(report: AuditReport, rule: str) -> tuple[Said, ...]:
    """What a rule says, in short."""
    return tuple(
        (Severity(f.severity).label, f.brokers, f.start_offset, f.end_offset)
        for f in sorted(found(report, rule), key=lambda f: (f.brokers, f.start_offset or 0))
    )
