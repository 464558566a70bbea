"""What each fetch does to its session, line by line: which session it is read against, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from parsers.request_log.call import SessionKey
from parsers.request_log.sessions import (
    FINAL_EPOCH,
    REFUSALS,
    SESSION_NOT_FOUND,
    Base,
    epoch_after,
    missing_between,
)
from parsers.request_log.typed import NULL

NO_SESSION, REFUSED = -1, -2
"""In place of a session's number: a fetch by itself, and one that told nothing."""
MOMENTS: Final = 3
"""A line has three: in front of it lines may be missing, it says what it says, and its answer may be missing."""
UNSEEN, LOST, WENT_BACK, REFUSED_GAP, UNANSWERED = range(5)


class Life:
    """A session from where it begins, or is first seen, to where it ends."""

    __slots__ = ("base", "broken", "doubted", "first_epoch", "next_epoch", "number")

    def __init__(self, number: int, base: Base, first_epoch: int | None, next_epoch: int) -> None:
        self.number, self.base = number, base
        self.first_epoch, self.next_epoch = first_epoch, next_epoch
        self.broken = False
        self.doubted = -1
        """The moment after which nothing that was known before it is sure."""

    def doubt(self, moment: int) -> None:
        """Whatever is known may have changed in a line that is missing."""
        self.broken, self.doubted = True, moment


_NONE: Final = Life(NO_SESSION, Base.FULL, None, 0)
_REFUSED: Final = Life(REFUSED, Base.FULL, None, 0)


class Call(NamedTuple):
    """What a fetch says of its session."""

    endpoint: str
    session: int
    epoch: int
    error: int
    answer_session: int
    answered: int


class Steps(NamedTuple):
    """What became of sessions at each line: whose it is, since when that is in doubt; and the gaps."""

    life: list[int]
    doubted: list[int]
    based: dict[int, Base]
    """The sessions whose beginnings were not seen, and what they stand upon."""
    gaps: list[tuple[int, int, int]]
    """Line, reason, and how many are missing."""


class Lives:
    """The sessions of one broker's log while it is read in order."""

    __slots__ = ("_count", "_line", "ended", "open")

    def __init__(self) -> None:
        self.open: dict[SessionKey, Life] = {}
        self.ended = False
        """Whether one has ended since this was last asked."""
        self._count = 0
        self._line = 1

    def new(self, key: SessionKey, base: Base, first_epoch: int | None, next_epoch: int) -> Life:
        """A session in the place of any that bore its id."""
        self.ended |= key in self.open
        life = self.open[key] = Life(self._count, base, first_epoch, next_epoch)
        self._count += 1
        return life

    def steps(self, calls: Iterable[tuple[SessionKey, int, int, int, int]]) -> tuple[int, Steps]:
        """What fetches do, one after the other; and the moment at which the first of them begins."""
        began, opened, full = self._line * MOMENTS, self.open.get, Base.FULL
        lives, doubted, based, gaps = told = Steps([], [], {}, [])
        for key, epoch, error, answer, answered in calls:
            life = opened(key)
            # Nearly all fetches follow one another.
            if life is not None and epoch == life.next_epoch > 0 and not error and answer and answered:
                life.next_epoch = epoch_after(epoch)
            else:
                line = len(lives)
                life = self._step(line, Call(*key, epoch, error, answer, answered), gaps, began + MOMENTS * line)
            lives.append(life.number)
            doubted.append(life.doubted)
            if life.base is not full:
                based[life.number] = life.base
        self._line += len(lives)
        return began, told

    def _step(self, line: int, call: Call, gaps: list[tuple[int, int, int]], moment: int) -> Life:
        key, session, epoch = call[:2], call.session, call.epoch
        if session == NULL or epoch in (NULL, FINAL_EPOCH, 0):
            self._close(key)
            opened = epoch == 0 and session != NULL and call.error in (NULL, 0)
            if not opened or call.answer_session in (NULL, 0):
                return _NONE
            return self.new((call.endpoint, call.answer_session), Base.FULL, None, 1)
        if call.error in REFUSALS:
            if call.error == SESSION_NOT_FOUND:
                self._close(key)
            gaps.append((line, REFUSED_GAP, NULL))
            return _REFUSED
        return self._increment(line, call, gaps, moment)

    def _close(self, key: SessionKey) -> None:
        if key[1] not in (NULL, 0):
            self.new(key, Base.CLOSED, None, 0)

    def _increment(self, line: int, call: Call, gaps: list[tuple[int, int, int]], moment: int) -> Life:
        life = self.open.get(call[:2])
        if life is None or life.base is Base.CLOSED:
            base = Base.INHERITED if life is None else Base.MISSING
            life = self.new(call[:2], base, call.epoch if life is None else None, call.epoch)
            gaps.append((line, UNSEEN, NULL))
        lost = missing_between(life.next_epoch, call.epoch)
        if lost:
            gaps.append((line, LOST if lost > 0 else WENT_BACK, lost if lost > 0 else NULL))
            life.doubt(moment)
        life.next_epoch = epoch_after(call.epoch)
        if not call.answered:
            gaps.append((line, UNANSWERED, NULL))
        if not call.answered or call.error not in (NULL, 0):
            life.doubt(moment + MOMENTS - 1)
        if call.answer_session == 0:
            self._close(call[:2])
        return life
