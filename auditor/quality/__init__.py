"""Data quality of the tables: admission of evidence, before any rule judges it."""

from __future__ import annotations

import os

# Great Expectations reads it while it is being imported; nothing about a dump is told to anyone.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
