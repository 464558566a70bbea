"""Lines of the sections that dump indexes and producer snapshots: known by their shape, and read no further."""

from __future__ import annotations

import re
from typing import Final

_N: Final = rb"-?\d{1,19}"
_OPEN: Final = rb"(?:None|OptionalLong\.empty|Some\(%(n)b\)|OptionalLong\[%(n)b\])" % {b"n": _N}
_LONGEST: Final = 4096


def _shape(*texts: bytes) -> re.Pattern[bytes]:
    """A pattern of texts in which `n` is a number, and `open` where a transaction began if one is open."""
    return re.compile(b"|".join(texts) % {b"n": _N, b"open": _OPEN})


_SHAPES: Final = {
    ".index": _shape(rb"offset: %(n)b position: %(n)b"),
    ".timeindex": _shape(rb"timestamp: %(n)b offset: %(n)b"),
    ".txnindex": _shape(
        rb"version: \d{1,5} producerId: %(n)b firstOffset: %(n)b lastOffset: %(n)b lastStableOffset: %(n)b"
    ),
    ".snapshot": _shape(
        rb"producerId: %(n)b producerEpoch: %(n)b coordinatorEpoch: %(n)b currentTxnFirstOffset: %(open)b"
        rb"(?: lastTimestamp: %(n)b)? ?"
        rb"(?:(?:cachedMetadata: \w+\(.{0,1000}?)?(?:BatchMetadata\()?firstSe(?:quence: |q=)%(n)b,?"
        rb" lastSe(?:quence: |q=)%(n)b,?(?: firstOffset=%(n)b,)? lastOffset[:=] ?%(n)b,?"
        rb"(?: offsetDelta: %(n)b)?,? timestamp[:=] ?%(n)b\)*| ?cachedMetadata: \w+\(\))? ?",
        # 0.11
        rb"producerId: %(n)b producerEpoch: %(n)b lastSequence: %(n)b lastOffset: %(n)b offsetDelta: %(n)b"
        rb" lastTimestamp: %(n)b coordinatorEpoch: %(n)b currentTxnFirstOffset: %(open)b",
    ),
}
SUFFIXES: Final = frozenset(_SHAPES)


def is_entry(head: bytes, suffix: str) -> bool:
    """Whether a line is an entry of a file of that kind."""
    return len(head) <= _LONGEST and _SHAPES[suffix].fullmatch(head) is not None
