"""The memory that a worker shares with its overseer: what it is at, and what it has done so far."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from typing import Final

from tests.hostile.mutators import LARGEST

COUNTS: Final = (
    "inputs",
    "dumps",
    "exceptions",
    "hangs",
    "false_cleans",
    "broken_laws",
    "peak",
    "traced",
    "kept",
    "lines",
)
_HEAD: Final = struct.Struct("<qqqd")
_COUNTS: Final = struct.Struct(f"<{len(COUNTS)}q")
_ROOM: Final = _HEAD.size + _COUNTS.size


class Shared:
    """One page of counts and one input; it outlives a worker that is killed."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _ROOM + LARGEST)
        self.counts: dict[str, int] = dict.fromkeys(COUNTS, 0)

    def begin(self, subject: int, number: int, content: bytes, now: float) -> None:
        """Say what is tried now: a target by its place (-1 for a dump), the number of the try, and its bytes."""
        self._memory[_ROOM : _ROOM + len(content)] = content
        _HEAD.pack_into(self._memory, 0, subject, number, len(content), now)

    def current(self) -> tuple[int, int, bytes, float]:
        """What is tried now."""
        subject, number, length, began = _HEAD.unpack_from(self._memory, 0)
        return subject, number, self._memory[_ROOM : _ROOM + length], began

    def rest(self) -> None:
        """Nothing is tried now."""
        _HEAD.pack_into(self._memory, 0, -2, 0, 0, 0.0)

    def publish(self) -> None:
        """Let the overseer see the counts."""
        _COUNTS.pack_into(self._memory, _HEAD.size, *self.counts.values())

    def published(self) -> Mapping[str, int]:
        """The counts as the worker told them last."""
        return dict(zip(COUNTS, _COUNTS.unpack_from(self._memory, _HEAD.size), strict=True))
