"""What a broker tells of its replica on its own clock, found without looking through all of it again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from rules.history.log_cuts import DECISIONS
from rules.history.moments import ROLE_KINDS, Moment, first_role, gives_role
from rules.history.statements import LogEvent, RoleTaken
from rules.replay.leads.by_clock_and_epoch import OWN_LOG_KINDS

OWN_WORDS: Final = (*ROLE_KINDS, *OWN_LOG_KINDS, "truncated", "truncation-kept", "log-reset")
"""What a broker writes into the logs that would tell of its restarts too."""
CUTS: Final = ("truncated", "log-reset")
TAKES_UP: Final = (*ROLE_KINDS, *DECISIONS, *CUTS, "truncation-kept")
"""What a broker writes when it takes up a role; releases of old tell a follower's by its first decision alone."""


class OwnWords:
    """One broker's statements about itself, in the order of its clock; lives only inside `replay`."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        self.moments = [m for m in moments if m.term is not None]
        self.undated = list(_before_any_role(moments))
        """Restarts before any role that it tells: in which epoch up to their term, if they have one, is not known."""
        self.silent = not any(m.kind in OWN_WORDS for m in moments)
        """Whether its own logs are not there: nothing but these would tell of a restart."""
        self.has_cut = any(m.kind in CUTS for m in self.moments)
        self.between = [m for m in self.moments if m.kind == "log-loaded" and m.latest_term is not None]
        """Restarts of which it is not known in which of several epochs they came."""
        self.first_role = first_role(self.moments)
        self.turn_before: list[Moment | None] = []
        """For every place the role or the restart before it."""
        self.of_term: dict[int | None, list[int]] = {}
        self.opened = [m for m in self.moments if m.kind == "leader-starts"]
        self.furthest = list(accumulate((opening.epoch or 0 for opening in self.opened), max))
        """The highest epoch that it had opened by then."""
        self.loads = [m for m in self.moments if m.kind == "log-loaded"]
        self.lowest = list(accumulate((load.term or 0 for load in reversed(self.loads)), min))[::-1]
        """The lowest term of a restart from there on."""
        turn: Moment | None = None
        for place, moment in enumerate(self.moments):
            self.turn_before.append(turn)
            self.of_term.setdefault(moment.term, []).append(place)
            if gives_role(moment) or moment.kind == "log-loaded":
                turn = moment

    def leads_after(self, epoch: int) -> RoleTaken | None:
        """The first later epoch that it tells to have opened."""
        place = bisect_right(self.furthest, epoch)
        return self.opened[place] if place < len(self.opened) else None

    def load_before(self, epoch: int) -> LogEvent | None:
        """Its last restart in a term below an epoch."""
        place = bisect_left(self.lowest, epoch)
        return self.loads[place - 1] if place else None

    def grew_untold(self, place: int, load: LogEvent) -> bool:
        """Whether the log is longer than when it was loaded before, though its broker tells no role in between.

        Releases that log no follower's role leave open whom it followed, and what it was told.
        """
        last = self.turn_before[place]
        return isinstance(last, LogEvent) and (last.end_offset or 0) < (load.end_offset or 0)

    def perhaps_in(self, epoch: int) -> Iterator[LogEvent]:
        """The restarts that may have come in an epoch, or since: in which one they did is not known."""
        yield from (load for load in self.undated if load.term is None or epoch <= load.term)
        yield from (load for load in self.between if (load.term or 0) < epoch <= (load.latest_term or 0))

    def in_terms(self, epochs: Sequence[int], since: int) -> Iterator[Moment]:
        """What it tells in some terms, from a place on."""
        places = sorted(place for epoch in epochs for place in self.of_term.get(epoch, ()) if place >= since)
        return (self.moments[place] for place in places)


def _before_any_role(moments: Iterable[Moment]) -> Iterator[LogEvent]:
    """The restarts before a broker tells of any role, and those in no known term at all."""
    taken = False
    for moment in moments:
        taken = taken or (moment.kind in TAKES_UP and moment.term is not None and moment.term >= 0)
        if moment.kind == "log-loaded" and (moment.term is None or (moment.term >= 0 and not taken)):
            yield moment
