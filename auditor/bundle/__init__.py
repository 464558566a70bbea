"""`tidemark bundle`: the evidence behind findings, with every payload masked, to be handed to others."""

from __future__ import annotations

from auditor.bundle.run_bundle import run_bundle
from auditor.bundle.wanted import requested
