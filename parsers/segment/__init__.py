"""Raw segments: batch headers at memory speed, checksums, torn and zero tails, and reading on behind damage."""

from __future__ import annotations

from parsers.segment.columns import HEADER_SCHEMA, with_place
from parsers.segment.scan import SegmentChunk, scan

__all__ = ["HEADER_SCHEMA", "SegmentChunk", "scan", "with_place"]
