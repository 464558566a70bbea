"""Raw segments: batch headers at memory speed, checksums, torn and zero tails, and reading on behind damage."""

from __future__ import annotations

from parsers.segment.chain import SegmentChunk, scan, scan_source, unread_chunk
from parsers.segment.columns import HEADER_SCHEMA, with_place
from parsers.segment.held_bytes import HeldSegment
from parsers.segment.links import Links
