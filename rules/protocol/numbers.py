"""Numbers as Kafka reads them from texts."""

from __future__ import annotations

from typing import Final

MOST_DIGITS: Final = 18
"""More than any setting has that a broker starts with, and few enough for 64 bits."""


def whole_number(text: str | None) -> int | None:
    """What a text says where it must be a number that is not negative; None of any other."""
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        return None
    return int(text)
