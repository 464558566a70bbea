"""Reigns by the leaders' own logs: each an identity of its own, whatever number its epoch bears."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from rules.history.moments import STARTING, Moment, gives_role, leads
from rules.history.statements import Role


class Reign(Struct, frozen=True, kw_only=True):
    """A leader epoch that a broker opened, as its own log tells it: by broker and count, not by number.

    The number may stand for another reign too: ZooKeeper was put back, or the topic was created again.
    """

    broker: int
    count: int
    """How many epochs the broker had opened before, by its own log."""
    epoch: int
    """What it is called."""
    opening: Role
    """The role with which it began."""
    lead: tuple[int, ...]
    """The epochs that its broker had led without a break, this one last."""
    start_offset: int | None
    """Where the log ended when that lead began."""
    end_offset: int | None
    """Where the log ended when its broker took another role next; null where that role does not tell."""
    said: tuple[Moment, ...]
    """What its broker wrote in it, in that order."""
    told_throughout: bool
    """Whether one file tells its beginning and a later role, so that nothing between the two went unwritten."""

    @property
    def identity(self) -> tuple[int, int]:
        """The same for the same reign, and for no other one of the partition's life."""
        return self.broker, self.count


class _Draft:
    """A reign while its broker's log is read; lives only inside `reigns`."""

    def __init__(self, opening: Role, lead: tuple[int, ...], start_offset: int | None) -> None:
        """With what is told of the lead that it is part of."""
        self.opening, self.lead, self.start_offset = opening, lead, start_offset
        self.roles: list[Role] = [opening]
        self.said: list[Moment] = []
        self.later: list[Role] = []


def reigns(moments: Iterable[Moment]) -> Iterator[Reign]:
    """Every reign that its own leader tells of, broker by broker in the order in which its log was written."""
    own = (moment for moment in moments if moment.witness is not None and moment.clock == f"broker {moment.witness}")
    for _, statements in groupby(own, key=lambda moment: moment.clock):
        for count, draft in enumerate(_drafts(statements)):
            yield _reign(draft, count)


def _drafts(statements: Iterable[Moment]) -> Sequence[_Draft]:
    found: list[_Draft] = []
    current: _Draft | None = None
    for moment in statements:
        if gives_role(moment) and moment.epoch is not None:
            again = current is not None and current.opening.epoch == moment.epoch and leads(moment)
            for draft in found[:-1] if again else found:
                draft.later.append(moment)
            current = _opened(moment, current)
            if current is not None and not again:
                found.append(current)
        elif moment.kind in STARTING:
            current = None
        elif current is not None:
            current.said.append(moment)
    return found


def _opened(role: Role, current: _Draft | None) -> _Draft | None:
    """The reign after a role is taken: the same one where it is told again, none where another broker leads."""
    if not leads(role):
        return None
    if current is None:
        return _Draft(role, (role.epoch or 0,), role.offset)
    if current.opening.epoch == role.epoch:
        current.roles.append(role)
        current.start_offset = role.offset if current.start_offset is None else current.start_offset
        return current
    return _Draft(role, (*current.lead, role.epoch or 0), current.start_offset)


def _reign(draft: _Draft, count: int) -> Reign:
    begun, gone_on = ({role.span.source for role in roles} for roles in (draft.roles, draft.later))
    return Reign(
        broker=draft.opening.witness or 0,
        count=count,
        epoch=draft.opening.epoch or 0,
        opening=draft.opening,
        lead=draft.lead,
        start_offset=draft.start_offset,
        end_offset=_end_offset(draft),
        said=tuple(draft.said),
        told_throughout=not begun.isdisjoint(gone_on),
    )


def _end_offset(draft: _Draft) -> int | None:
    """By the words of its next role. One that leads again some epochs later may have followed and written in between.

    Older releases log at TRACE alone that they follow.
    """
    following = draft.later[0] if draft.later else None
    if following is None or (leads(following) and following.epoch != (draft.opening.epoch or 0) + 1):
        return None
    ends = (role.offset for role in draft.later if role.epoch == following.epoch and role.offset is not None)
    return next(ends, None)
