"""One partition's history as rows, expected beside told: drawn as text, picture or page, or told as a document."""

from __future__ import annotations

from auditor.timeline.run_timeline import Excerpt, evidence_of, run_timeline, timeline
