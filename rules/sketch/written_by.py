"""Who wrote a batch of a sketch, in braces behind its cell: `{7:0}` is producer 7 with sequence 0.

`{7.1:0}` is the same producer in its epoch 1, `{7:0t}` writes in a transaction; `{7c}` is a marker that commits it and
`{7a}` one that aborts it.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.facts.read_again import UNTOLD, Writing

_SHAPE: Final = re.compile(r"(\d+)(?:\.(\d+))?(?::(?P<sequence>\d+)(?P<transactional>t?)|(?P<marker>[ca]))")
TRANSACTIONAL: Final = 0x10
_MARKER: Final = 0x30
COMMIT: Final = 1
_TYPES: Final = {"a": 0, "c": COMMIT}


class Sender(Struct, frozen=True):
    """The producer of a batch, as the batch's header names it."""

    producer_id: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    attributes: int = 0
    control_type: int | None = None

    def after(self, records: int) -> Sender:
        """The same producer, so many records later."""
        return self if self.sequence < 0 else replace(self, sequence=(self.sequence + records) % (1 << 31))

    @property
    def written(self) -> Writing:
        """How its batch was written."""
        if self == NOBODY:
            return UNTOLD
        return self.producer_id, self.producer_epoch, self.sequence, self.attributes


NOBODY: Final = Sender()


def sender(text: str) -> Sender | None:
    """Who the text in braces names; nobody where there is none, null where it cannot be read."""
    words = _SHAPE.fullmatch(text)
    if words is None:
        return None if text else NOBODY
    marker = words["marker"]
    return Sender(
        producer_id=int(words[1]),
        producer_epoch=int(words[2] or 0),
        sequence=-1 if marker else int(words["sequence"]),
        attributes=_MARKER if marker else TRANSACTIONAL if words["transactional"] else 0,
        control_type=_TYPES.get(marker or ""),
    )
