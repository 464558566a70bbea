"""What a report comes to, for every renderer alike: what was lost, why, what to do now, and what was not seen."""

from __future__ import annotations

from auditor.report.summary.action import Action
from auditor.report.summary.conclusion import Summary, summary
from auditor.report.summary.folded_findings import FoldedFinding, Spot
from auditor.report.summary.incidents import IncidentEntry
from auditor.report.summary.totals import LossTotals, LostRange, SurvivorHolder
from auditor.report.summary.unseen import Unseen

__all__ = [
    "Action",
    "FoldedFinding",
    "IncidentEntry",
    "LossTotals",
    "LostRange",
    "Spot",
    "Summary",
    "SurvivorHolder",
    "Unseen",
    "summary",
]  # fmt: skip
