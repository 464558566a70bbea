"""What a report comes to, for every renderer alike: what was lost, why, what to do now, and what was not seen."""

from __future__ import annotations

from auditor.report.summary.action import Action
from auditor.report.summary.conclusion import Summary, summary
from auditor.report.summary.totals import LossTotals, LostRange
