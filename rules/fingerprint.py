"""What makes a finding of one report the same as one of another, in digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final

OF_ITS_ID: Final = 40
"""So many digits depend on the topic's id, where it is known."""


def fingerprint(named: Sequence[object], topic_id: str | None) -> str:
    """The digits of what is named; those of two topics of one name begin otherwise, and end alike."""
    digits = _digest(named)
    return digits if topic_id is None else _digest((digits, topic_id))[:OF_ITS_ID] + by_name(digits)


def by_name(digits: str) -> str:
    """What they have of the topic's name alone: the same where a copy does not tell the topic's id."""
    return digits[OF_ITS_ID:]


def _digest(key: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()
