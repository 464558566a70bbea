"""Blocks of a log to events at the speed of compiled code; what is odd in them is left to the plain reader."""

from __future__ import annotations

from parsers.broker_log.compiled.block import BlockReader, reader_for, worthwhile

__all__ = ["BlockReader", "reader_for", "worthwhile"]
