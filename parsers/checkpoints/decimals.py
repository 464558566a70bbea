"""Decimal numbers as Kafka reads them, with bounded effort."""

from __future__ import annotations

import re
from typing import Final

INT32_MAX: Final = 2**31 - 1
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
ENTRY_LIMIT: Final = 1_000_000
"""Entries read of one small file; no broker writes so many, and each costs memory."""
REFUSAL_LIMIT: Final = 1_000
"""Refusals one small file may give; a file of nothing but damage must not fill the report."""

# Like Java's parseInt and parseLong: a sign, digits of any script, no blanks. The length bound stops hostile digits.
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}")


def integer(text: str, *, low: int = INT64_MIN, high: int = INT64_MAX) -> int | None:
    """The number that a token spells, or None where it spells none or one out of range."""
    if len(text) > 41 or not _NUMBER.fullmatch(text):
        return None
    value = int(text)
    return value if low <= value <= high else None
