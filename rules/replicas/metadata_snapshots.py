"""Snapshots of the metadata log: what their names assert, and what came of holding them against the log."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from parsers.provenance import Span
from rules.words import counted


class SnapshotSeen(Struct, frozen=True, kw_only=True):
    """A snapshot that some node keeps; its name says that all before its end was committed in its epoch."""

    broker: int
    end_offset: int
    epoch: int
    standing: Literal["alike", "differs", "torn", "open", "unread"]
    log_epoch: int | None = None
    """The epoch of the last record that it replaces, as the log has it that it was held against."""
    log_broker: int = -1
    """Whose log that was; where others make up for its beginning, whose reaches furthest."""
    differences: tuple[str, ...] = ()
    count: int = 0
    span: Span

    @property
    def words(self) -> str:
        """The first difference, and how many more there are."""
        more = f"; the snapshot and the log differ in {counted(self.count - 1, 'more point')}"
        return self.differences[0] + more * (self.count > 1)
