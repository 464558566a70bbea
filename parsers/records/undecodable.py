"""The one way out of a decoder: what should have stood there, and what stood there instead."""

from __future__ import annotations

from parsers.tables import RefusalKind


class Undecodable(Exception):
    """Raised inside this package only; `decode_entry` turns it into a refusal."""

    def __init__(self, expected: str, found: str | bytes, kind: RefusalKind = "undecodable") -> None:
        super().__init__(expected)
        self.expected = expected
        self.found = found
        self.kind: RefusalKind = kind


def too_large(limit: int) -> Undecodable:
    """The refusal of a stream that grows past the limit."""
    return Undecodable(f"at most {limit} bytes after decompression", "a stream that holds more", "too_large")
