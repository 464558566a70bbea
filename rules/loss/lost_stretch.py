"""A stretch of records that ceased to count: of which epochs they may be, and who left them out."""

from __future__ import annotations

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.history.statements import Produced, RoleTaken
from rules.words import epoch_or_range


class LeftOut(Struct, frozen=True, kw_only=True):
    """A stretch of one epoch's records that ceased to count, and who opened the epoch after it."""

    epoch: int
    leader: int | None
    next_epoch: int
    next_leader: int | None
    start: int
    end: int
    because: str
    oldest: int | None = None
    """The oldest epoch that they may be of, where nothing tells that the replica had any of this one there."""
    reached: bool = False
    """Whether a leader had them in this epoch all the same: what it proved to be committed then, they are."""
    known_end: int = 0
    """Up to where the replica that cut them, or whoever tells of what no log holds, knew them to be committed."""
    reopening: RoleTaken | None = None
    """Its leader's word that it took the same epoch once more: what it wrote since bears the same number."""
    anew: bool = False
    """Whether the next leader had them at first, and opened its epoch once more with a log that ended before them."""
    latest_epoch: int | None = None
    """The newest epoch that they may be of, where their epoch is not sure."""
    held_by_none: bool = False
    """Whether no leader left them out: they stand in no log here that should hold them (`held_by_none`)."""

    @property
    def older(self) -> bool:
        """Whether the records may be of older epochs than the one that they are billed by."""
        return self.oldest is not None

    @property
    def first(self) -> int:
        """The oldest epoch that the records may be of."""
        return self.epoch if self.oldest is None else min(self.oldest, self.epoch)

    @property
    def newest(self) -> int:
        """The newest epoch that the records may be of."""
        return self.epoch if self.latest_epoch is None else self.latest_epoch

    @property
    def epochs(self) -> tuple[int, int, int | None, int]:
        """Of which epochs the records may be, and which one left them out."""
        return self.epoch, self.newest, self.oldest, self.next_epoch

    @property
    def whose(self) -> str:
        """Those epochs in words."""
        return epoch_or_range(self.first, self.newest)

    @property
    def extent(self) -> Extents:
        """Its offsets."""
        return Extents.of([(self.start, self.end)])

    def in_time(self, answer: Produced) -> bool:
        """Whether an answer is of what went: not of what was written since its epoch was opened once more."""
        again = self.reopening
        if again is None or again.time is None or answer.time is None or answer.clock != again.clock:
            return True
        return answer.time < again.time
