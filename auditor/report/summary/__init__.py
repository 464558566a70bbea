"""What a report comes to, for every renderer alike: what was lost, why, what to do now, and what was not seen."""

from __future__ import annotations

from auditor.report.summary.actions import Action
from auditor.report.summary.conclusion import Summary, summary
from auditor.report.summary.folded_findings import Entry, Spot
from auditor.report.summary.incidents import IncidentEntry
from auditor.report.summary.totals import Holder, LossTotals, LostRange
from auditor.report.summary.unseen import Unseen

__all__ = [
    "Action", "Entry", "Holder", "IncidentEntry", "LossTotals", "LostRange", "Spot", "Summary", "Unseen", "summary",
]  # fmt: skip
