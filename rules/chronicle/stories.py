"""What befell a broker's replica, by that broker's own log: the roles it took, and what became of its log between."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from rules.history.moments import DISTURBED, ROLE_KINDS, Moment, gives_role
from rules.history.statements import Role, RoleTaken

TURNS: Final = (*ROLE_KINDS, *DISTURBED)
"""What a broker writes when something befalls its replica that no answer tells of."""
_ENDING: Final = ("follower-starts", "log-loaded", "log-created")
"""After these a broker does not lead any more, until it takes a role again."""

Placed = tuple[int, Moment]
"""A statement with its place among all."""
PlacedRole = tuple[int, Role]


class Story:
    """What befell the replica of one clock's broker, in its order."""

    def __init__(self) -> None:
        self.turns: list[Placed] = []
        self.opened: dict[int | None, int] = {}
        """Where among the turns each epoch was opened first: after a restart a broker may open it again."""
        self._openings: dict[int | None, RoleTaken] = {}
        """The lines by which they were."""
        self.roles: list[PlacedRole] = []
        """Every role, by a line or by an order."""
        self._breaks = [0]
        """How many of the first so many turns ended a reign."""
        self._loads: list[int] = []
        """Where among all statements the log was loaded, or another one was created in its place."""

    def put(self, placed: Placed) -> None:
        """One statement more; answers are no part of it."""
        moment = placed[1]
        if gives_role(moment):
            self.roles.append((placed[0], moment))
        if moment.kind not in TURNS:
            return
        if moment.kind == "leader-starts":
            self.opened.setdefault(moment.epoch, len(self.turns))
            self._openings.setdefault(moment.epoch, moment)
        if moment.kind in ("log-loaded", "log-created"):
            self._loads.append(placed[0])
        self._breaks.append(self._breaks[-1] + (moment.kind in _ENDING))
        self.turns.append(placed)

    def unbroken(self, before: int, epoch: int) -> bool:
        """Whether its broker went from leading one epoch to leading another without anything between."""
        start, end = self.opened.get(before), self.opened.get(epoch)
        return start is not None and end is not None and self._breaks[max(start, end)] == self._breaks[start]

    def opening(self, epoch: int) -> RoleTaken | None:
        """The line by which its broker opened an epoch."""
        return self._openings.get(epoch)

    def following(self, epoch: int) -> Moment | None:
        """What befell it next after it had opened an epoch."""
        place = self.opened.get(epoch)
        return None if place is None or place + 1 >= len(self.turns) else self.turns[place + 1][1]

    def loaded_after(self, epochs: Sequence[int], answered: int | None) -> int | None:
        """The place among all statements at which the log was loaded next after the first sign of some epochs.

        That is where the first of them was opened, or where its broker answered in them first, whichever is before:
        a role that a broker takes again after a restart looks like an opening where the true one is not told.
        """
        opened = [self.turns[self.opened[epoch]][0] for epoch in epochs if epoch in self.opened]
        begun = min([*opened, *(() if answered is None else (answered,))], default=None)
        if begun is None:
            return None
        place = bisect_left(self._loads, begun)
        return self._loads[place] if place < len(self._loads) else None

    def opened_before(self, epoch: int, place: int | None) -> RoleTaken | None:
        """The line by which its broker opened an epoch, unless that stands behind a place among all statements."""
        opened = self.opened.get(epoch)
        if opened is None or (place is not None and self.turns[opened][0] > place):
            return None
        return self._openings[epoch]

    def roles_around(self, place: int) -> tuple[Role | None, Role | None]:
        """The role before a place among all statements, and the next one after it."""
        before = bisect_left(self.roles, place, key=_place)
        after = bisect_right(self.roles, place, key=_place)
        last = self.roles[before - 1][1] if before else None
        return last, self.roles[after][1] if after < len(self.roles) else None

    def loaded_before(self, epoch: int) -> bool:
        """Whether the log was loaded between the first role of an epoch and the role before that one."""
        index = next((index for index, (_, role) in enumerate(self.roles) if role.epoch == epoch), 0)
        before, after = (self.roles[index - 1][0], self.roles[index][0]) if index else (0, 0)
        return bisect_left(self._loads, before) < bisect_left(self._loads, after)

    def deposed(self) -> Iterator[tuple[RoleTaken, RoleTaken, Moment | None]]:
        """The leader's roles that a follower's role of a newer epoch followed at once; that role, and the next turn."""
        for index, (before, after) in enumerate(pairwise(moment for _, moment in self.turns)):
            if before.kind != "leader-starts" or after.kind != "follower-starts":
                continue
            if before.epoch is not None and after.epoch is not None and after.epoch > before.epoch:
                behind = self.turns[index + 2][1] if index + 2 < len(self.turns) else None
                yield before, after, behind


NO_STORY: Final = Story()


def stories(moments: Iterable[Moment]) -> dict[str, Story]:
    """By clock what befell the replica of its broker."""
    found: dict[str, Story] = {}
    for placed in enumerate(moments):
        if placed[1].kind in TURNS or gives_role(placed[1]):
            found.setdefault(placed[1].clock, Story()).put(placed)
    return found


def _place(placed: Placed) -> int:
    return placed[0]
