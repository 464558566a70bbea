"""`tidemark diff`: two reports held beside each other, finding by finding."""

from __future__ import annotations

from auditor.diff.run_diff import run_diff
