"""Readers of what Kafka leaves on disks and in logs: one package or module a format."""

from __future__ import annotations

from typing import Final

FORMATS: Final = (
    "segment",
    "records",
    "dump_text",
    "checkpoints",
    "indexes",
    "metadata_log",
    "internal_topics",
    "broker_log",
    "request_log",
    "trace_table",
    "describe_text",
)
"""The formats that are read, from the disk outwards."""

FOUNDATIONS: Final = ("provenance", "tables", "refusal", "files", "wire")
"""What every format may stand on."""

ROOMS_ABOVE: Final = ("inventory", "writers", "spark")
"""What knows several formats: the walk over a dump, the inverse of the readers, the tables as DataFrames."""
