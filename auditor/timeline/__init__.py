"""One partition's history as rows, expected beside told: drawn as text, or told as a document."""

from __future__ import annotations

from auditor.timeline.draw import evidence_of, run_timeline, timeline

__all__ = ["evidence_of", "run_timeline", "timeline"]
