"""How logs were written, in parts: from where one grows, what was copied, and where one was brought into line."""

from __future__ import annotations

from msgspec import Struct

from rules.history.moments import Moment
from rules.unwritten.log_turns import OwnLead, Turn
from rules.unwritten.ways import UNTOLD, Open, Ways


class GrowsFrom(Struct, frozen=True):
    """From where a log grows: its broker leads an epoch, or follows somebody, in these epochs as far as it tells."""

    leader: int
    epochs: tuple[int, ...]
    leads: bool = False


class Growth(Struct, frozen=True, kw_only=True):
    """What a follower copied between two turns."""

    broker: int
    place: int
    """Of the turn by which it had been copied."""
    leads: tuple[OwnLead, ...]
    start: int
    end: int


class Point(Struct, frozen=True, kw_only=True):
    """A follower that brought its log into line by its high watermark."""

    broker: int
    place: int
    turn: Turn
    moment: Moment
    """The line that tells it."""
    leader: int | None
    before: Ways
    """Its log before; where its end is not told, at every end that makes a difference."""
    end_known: bool


class At:
    """How far a broker has been taken through its turns; changes while it is, and lives only inside a fold."""

    def __init__(self, silent: Open | None = None) -> None:
        """At the beginning of its log nothing is known of it; of a broker that is silent nothing ever is."""
        self._silent = silent
        self._ways: Ways = UNTOLD if silent is None else silent
        self.place = 0
        self.source: GrowsFrom | None = None
        self.former: GrowsFrom | None = None
        """Whom it followed before, until its log is told to be brought into line with its new leader's."""
        self.resting = False
        self.stands = False
        """Whether its log ended so when it began to follow: it does not grow before it is brought into line."""

    @property
    def ways(self) -> Ways:
        """Its log."""
        return self._ways

    @ways.setter
    def ways(self, ways: Ways) -> None:
        self._ways = ways if self._silent is None else self._silent

    @property
    def growing(self) -> GrowsFrom | None:
        """Whence the log grows until it is next brought into line."""
        return self.source if self.former is None else self.former
