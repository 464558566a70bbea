"""What findings mean to whoever runs the audit: rules, their severities, and findings that are known and accepted."""

from __future__ import annotations

from datetime import date
from typing import Final

from msgspec import Struct

from rules.finding import Severity
from rules.thresholds import Chosen


class AcceptedFinding(Struct, frozen=True, kw_only=True):
    """A finding that somebody knows and accepts for a time; it is told, and makes no run fail."""

    digits: str
    """How its fingerprint begins."""
    reason: str
    until: date
    """The last day on which it holds."""


class Policy(Struct, frozen=True, kw_only=True):
    """What findings mean to whoever runs the audit."""

    off: tuple[str, ...] = ()
    """Rules whose findings are left out, by id."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """Rules whose findings weigh more or less than their pages say."""
    thresholds: tuple[Chosen, ...] = ()
    silences: tuple[AcceptedFinding, ...] = ()


NO_POLICY: Final = Policy()
