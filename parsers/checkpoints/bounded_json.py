"""JSON of small state files, read with bounded size, depth and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from parsers.checkpoints.decimals import integer

JSON_LIMIT: Final = 1 << 20
DEPTH_LIMIT: Final = 16

_OUTSIDE_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def read_object(data: bytes) -> Mapping[str, object] | None:
    """The object that a JSON text spells; None where it is none, too large, too deep or holds a number beyond int64."""
    if len(data) > JSON_LIMIT or _too_deep(data):
        return None
    try:
        value = json.loads(data.decode("utf-8"), parse_int=_bounded, parse_constant=_bounded)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _bounded(text: str) -> int:
    value = integer(text)
    if value is None:
        raise ValueError(text[:40])
    return value


def _too_deep(data: bytes) -> bool:
    """Whether brackets nest beyond the limit, counted before a recursive parser sees them."""
    depth = 0
    for match in _OUTSIDE_STRINGS.finditer(data):
        first = match[0][:1]
        if first in b"[{":
            depth += 1
            if depth > DEPTH_LIMIT:
                return True
        elif first in b"]}":
            depth -= 1
    return False
