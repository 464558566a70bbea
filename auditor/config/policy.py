"""What findings mean to whoever runs the audit: rules, their severities, and findings that are known and accepted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from rules.finding import Severity
from rules.thresholds import Chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """A finding that somebody knows and accepts for a time; it is told, and makes no run fail."""

    digits: str
    """How its fingerprint begins."""
    reason: str
    until: date
    """The last day on which it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What findings mean to whoever runs the audit."""

    off: tuple[str, ...] = ()
    """Rules whose findings are left out, by id."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """Rules whose findings weigh more or less than their pages say."""
    thresholds: tuple[Chosen, ...] = ()
    silences: tuple[AcceptedFinding, ...] = ()


NO_POLICY: Final = Policy()
