"""In which epoch a follower brought its log into line: its cuts and its roles, each in the order of its broker's log.

Up to 2.5 a broker's order is written down when it has been followed, so that a cut may stand before its role or behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rules.history.moments import ROLE_KINDS
from rules.unwritten.log_turns import Turn

ROLES: Final = ("follows", "leads", "rests")
MOST_EPOCHS: Final = 8
"""Of so many epochs one can be found that fits; of more nothing is said."""
_NEW_LIFE: Final = ("loads", "begins", "ends")


def epochs_of_cuts(turns: Sequence[Turn], leaders: Mapping[int, int]) -> Mapping[int, tuple[int, ...]]:
    """By the place of each cut the epochs whose role it can have been for; none where no role tells."""
    found: dict[int, tuple[int, ...]] = {}
    cut: int | None = None
    role: Turn | None = None
    again = False
    last: Turn | None = None
    for place, turn in enumerate(turns):
        if turn.kind in _NEW_LIFE:
            cut = role = last = None
        elif turn.kind in ("cuts", "keeps"):
            if role is not None and follows(role, turn.leader, leaders):
                found[place] = (role.epoch or 0,)
                cut, role = (place if again else None), None
            else:
                cut = place
        elif turn.kind in ROLES:
            if cut is not None and not _is_line(turn) and follows(turn, turns[cut].leader, leaders):
                found[cut] = tuple(dict.fromkeys((*found.get(cut, ()), turn.epoch or 0)))
                cut, role = None, None
            else:
                # A new epoch of the same leader need not be a reason to cut, up to 2.0.
                again = not _is_line(turn) and last is not None and _same_leader(last, turn, leaders)
                cut, role = None, turn
            last = turn
    return found


def _is_line(turn: Turn) -> bool:
    """Whether its broker wrote it down as it took the role, and so before any cut; an order is told when it is over."""
    return turn.moment is not None and turn.moment.kind in ROLE_KINDS


def _same_leader(last: Turn, turn: Turn, leaders: Mapping[int, int]) -> bool:
    return follows(last, followed(turn, leaders), leaders) and last.epoch != turn.epoch


def between_roles(
    turns: Sequence[Turn], place: int, leader: int, leaders: Mapping[int, int], last: int | None
) -> tuple[int, ...]:
    """Where no role tells it: every epoch between the roles that are told which that leader can have been given.

    Where no later role bounds them the last epoch of all does, while that leader led it to the end of what is told.
    """
    known = [turn.epoch for turn in turns[:place] if turn.kind in ROLES and turn.epoch is not None]
    later = [turn.epoch for turn in turns[place:] if turn.kind in ROLES and turn.epoch is not None]
    between = range(max(known, default=0), min(later, default=0 if last is None else last + 1))
    found = tuple(epoch for epoch in between if leaders.get(epoch, leader) == leader)
    return found if len(found) <= MOST_EPOCHS else ()


def follows(turn: Turn, leader: int | None, leaders: Mapping[int, int]) -> bool:
    """Whether a turn is the role of a leader's follower, or may be: 2.6 to 3.4 do not name the leader in its line."""
    whom = followed(turn, leaders)
    return turn.kind == "follows" and turn.epoch is not None and whom in (None, leader)


def followed(turn: Turn, leaders: Mapping[int, int]) -> int | None:
    """Whom a broker follows in a role; where its line does not name it, who led the epoch."""
    return turn.leader if turn.leader is not None else leaders.get(-1 if turn.epoch is None else turn.epoch)
