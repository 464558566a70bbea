"""How much an archive may hold: beyond it the archive is taken for a trap, and refused with the number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from auditor.report.sheet import size

MEMBERS: Final = 200_000
"""A minute or two of unpacking. Whoever has more is better served by a folder."""
TOLD_EACH: Final = 10_000
"""Members after which a person is told that unpacking goes on."""
DEPTH: Final = 32
PATH_BYTES: Final = 4096
NAME_BYTES: Final = 255
RATIO: Final = 200
"""Bytes of content for each byte of the archive. Logs in words pack best of what brokers write, by some 50."""
SPARE: Final = 256 << 20
"""Content that any archive may hold, however small it is."""
ZEROS: Final = 16 << 30
"""Zero bytes that any archive may hold: brokers allocate 10 MiB for each index, and these take no room here."""


class NotUnpacked(ValueError):
    """An archive that is not unpacked; the text says why."""


class ArchiveBudget:
    """What one archive has held so far."""

    def __init__(self, archive: Path, tell: Callable[[str], None] | None = None) -> None:
        """Nothing yet; `tell` takes a line now and then for whoever waits."""
        self._archive = archive
        self._tell = tell
        packed = archive.stat().st_size
        self._content_limit = packed * RATIO + SPARE
        self._zeros_limit = packed * RATIO + ZEROS
        self._members = self._content = self._zeros = 0

    def refuse(self, why: str) -> NoReturn:
        """Say which archive is not unpacked, and why."""
        raise NotUnpacked(f"{self._archive}: {why}. If it is what it should be, unpack it yourself and give its folder")

    def member(self, declared: int, name: str) -> None:
        """Count one more member, before any of it is read."""
        self._members += 1
        if self._members > MEMBERS:
            self.refuse(f"it holds more than {MEMBERS:,} members")
        if self._tell is not None and self._members % TOLD_EACH == 0:
            self._tell(f"unpacking {self._archive}: {self._members:,} members so far")
        if not 0 <= declared <= self._content_limit + self._zeros_limit:
            self.refuse(f"its member {name!r} claims to be of {declared} bytes")

    def content(self, count: int) -> None:
        """Count bytes that will be written."""
        self._content += count
        if self._content > self._content_limit:
            self.refuse(f"it unpacks to more than {size(self._content_limit)}, {RATIO} times its own size and more")

    def zeros(self, count: int) -> None:
        """Count zero bytes that are left as a hole."""
        self._zeros += count
        if self._zeros > self._zeros_limit:
            self.refuse(f"it unpacks to more than {size(self._zeros_limit)} of zero bytes")
