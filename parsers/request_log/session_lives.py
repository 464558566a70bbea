"""What each fetch does to its session, line by line: which session it is read against, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from parsers.request_log.sessions import (
    FINAL_EPOCH,
    LAST_EPOCH,
    REFUSALS,
    SESSION_NOT_FOUND,
    Base,
    SessionKey,
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


Call: TypeAlias = tuple[SessionKey, int, int, int, int]
"""What a fetch says of its session: which it is, its epoch, the error, the answer's session, whether there is one."""
Gaps: TypeAlias = list[tuple[int, int, int]]


class Steps(NamedTuple):
    """What became of sessions at each line: whose it is, since when that is in doubt; and the gaps."""

    life: list[int]
    doubted: list[int]
    based: dict[int, Base]
    """The sessions whose beginnings were not seen, and what they stand upon."""
    gaps: Gaps
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

    def steps(self, calls: Iterable[Call]) -> tuple[int, Steps]:
        """What fetches do, one after the other; and the moment at which the first of them begins."""
        began, opened, full = self._line * MOMENTS, self.open.get, Base.FULL
        lives, doubted, based, gaps = steps = Steps([], [], {}, [])
        for key, epoch, error, answer, answered in calls:
            life = opened(key)
            # Nearly all fetches follow one another.
            if life is not None and 0 < epoch == life.next_epoch < LAST_EPOCH and not error and answer and answered:
                life.next_epoch = epoch + 1
            else:
                line = len(lives)
                life = self._step((key, epoch, error, answer, answered), (line, began + MOMENTS * line), gaps)
            lives.append(life.number)
            doubted.append(life.doubted)
            if life.base is not full:
                based[life.number] = life.base
        self._line += len(lives)
        return began, steps

    def _step(self, call: Call, place: tuple[int, int], gaps: Gaps) -> Life:
        """What a fetch does to its session, at a line and its moment."""
        key, epoch, error, answer, answered = call
        endpoint, session = key
        if session == NULL or epoch in (NULL, FINAL_EPOCH, 0):
            self._close(key)
            opened = epoch == 0 and session != NULL and error in (NULL, 0)
            if not opened or answer in (NULL, 0):
                return _NONE
            return self.new((endpoint, answer), Base.FULL, None, 1)
        if error in REFUSALS:
            if error == SESSION_NOT_FOUND:
                self._close(key)
            gaps.append((place[0], REFUSED_GAP, NULL))
            return _REFUSED
        life = self._increment(key, epoch, place, gaps)
        if not answered:
            gaps.append((place[0], UNANSWERED, NULL))
        if not answered or error not in (NULL, 0):
            life.doubt(place[1] + MOMENTS - 1)
        if answer == 0:
            self._close(key)
        return life

    def _close(self, key: SessionKey) -> None:
        if key[1] not in (NULL, 0):
            self.new(key, Base.CLOSED, None, 0)

    def _increment(self, key: SessionKey, epoch: int, place: tuple[int, int], gaps: Gaps) -> Life:
        """The session that goes on with an epoch, and what is missing of it before."""
        life = self.open.get(key)
        if life is None or life.base is Base.CLOSED:
            base = Base.INHERITED if life is None else Base.MISSING
            life = self.new(key, base, epoch if life is None else None, epoch)
            gaps.append((place[0], UNSEEN, NULL))
        lost = missing_between(life.next_epoch, epoch)
        if lost:
            gaps.append((place[0], LOST if lost > 0 else WENT_BACK, lost if lost > 0 else NULL))
            life.doubt(place[1])
        life.next_epoch = epoch_after(epoch)
        return life
