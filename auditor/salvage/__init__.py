"""Lost records from a copy that still stands, written to a new file on explicit request."""

from __future__ import annotations

from auditor.salvage.salvage import SalvageRequest, run_salvage
