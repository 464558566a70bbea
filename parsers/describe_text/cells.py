"""The cells of a tool's output: numbers, ids, and what is none of them."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_TOPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]{22}")
_I32: Final = range(-(1 << 31), 1 << 31)


class UnreadableLine(ValueError):
    """A line that belongs to an output but cannot be read."""


def ids(value: str | None) -> str | None:
    """Broker ids as printed, without blanks; null where the version prints none or does not know."""
    if value is None or value == "N/A":
        return None
    named = [i32(each.strip()) for each in value.split(",")] if value.strip() else []
    if any(broker < 0 for broker in named):
        raise UnreadableLine
    return ",".join(map(str, named))


def topic_id(value: str | None) -> str | None:
    """A topic's id; null where the release prints none, or the topic has none."""
    if value is None or value in ("", "-"):
        return None
    if _TOPIC_ID.fullmatch(value) is None:
        raise UnreadableLine
    return value


def i32(value: str) -> int:
    """A number of 32 bits."""
    number = i64(value)
    if number not in _I32:
        raise UnreadableLine
    return number


def i64(value: str) -> int:
    """A number of at most 18 digits."""
    if _NUMBER.fullmatch(value) is None:
        raise UnreadableLine
    return int(value)


def dash_or_i64(value: str) -> int | None:
    """A number, or nothing for a dash."""
    return None if value == "-" else i64(value)
