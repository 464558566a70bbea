"""The local engine's report on every sample, made once for all the tests that ask for it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport

LONG: Final = ("clean_1_1", "clean_2_8", "clean_4x")
"""Healthy clusters that were recorded for long; clean_mixed stands for them where only the fast tests run."""


def is_short(case: Path) -> bool:
    """Whether a recording is read in no time."""
    return case.name not in LONG


TYPICAL: Final = ("acks_one_lost", "bit_rot_payload", "clean_mixed", "fast_failover_kip101", "migrated")
"""Recordings of which no two tell the like: how things are told is shown on these where only the fast tests run."""


def is_typical(case: Path) -> bool:
    """Whether a recording stands for others where how a report is told is asked, and not what it says."""
    return case.name in TYPICAL


@cache
def report_on(case: Path) -> AuditReport:
    """The report on the dump of a case, at the level that its truth asks for, and told how it was copied."""
    truth = case / "truth.json"
    told = json.loads(truth.read_text(encoding="utf-8")) if truth.exists() else {}
    copied = told.get("copied", "")
    return audit(case / "dump", AuditConfig(engine="local", level=told.get("level", "full"), copied=copied))
