"""The Spark engine: the same functions as the local one, run where the bytes lie."""

from __future__ import annotations

from auditor.floors import require_address_space

# Said before a worker loads what would abort it: it could tell nobody why.
require_address_space()
