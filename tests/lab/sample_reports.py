"""The local engine's report on every sample, made once for all the tests that ask for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport


@cache
def report_on(case: Path) -> AuditReport:
    """The report on the dump of a case."""
    return audit(case / "dump", AuditConfig(engine="local"))
