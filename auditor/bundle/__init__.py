"""`tidemark bundle`: the evidence behind findings, with every payload masked, to be handed to others."""

from __future__ import annotations

from auditor.bundle.command import BundleRequest, run_bundle

__all__ = ["BundleRequest", "run_bundle"]
