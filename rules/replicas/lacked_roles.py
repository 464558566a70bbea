"""Roles that brokers surely or probably had, and of which their own logs have no word: holes in these logs.

A broker names the epoch of its former role when it takes the next one. Whoever fetches names the epoch of its own role,
and is served by who leads in that epoch. And others are told whom they follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Literal

from msgspec import Struct

from rules.chronicle.chronicle import Chronicle
from rules.history.statements import Role, RoleTaken

Place = Literal["before", "amid", "after"]
"""Where a role is missing: before the first role that a broker's own log tells, between two of them, or after all."""
LackedRoles = Mapping[int, Mapping[int, Place]]


def told_roles(chronicle: Chronicle) -> Iterator[tuple[Role, int]]:
    """Every role that a broker's own log tells, with its epoch."""
    roles = (role for story in chronicle.stories.values() for _, role in story.roles)
    return ((role, role.epoch) for role in roles if role.epoch is not None and role.witness is not None)


def former_of(role: Role) -> int | None:
    """The older epoch in which a broker had a role until it took this one, by its own line."""
    former = role.former if isinstance(role, RoleTaken) else None
    return former if former is not None and role.epoch is not None and 0 <= former < role.epoch else None


def lacked_roles(chronicle: Chronicle, brokers: Collection[int], *, created_again: bool) -> LackedRoles:
    """By broker the epochs of roles that its own log lacks, and where it lacks them.

    Of some brokers that hold the partition, and of others whose logs tell of it and not that they deleted theirs.
    Where a topic was created again, lines that bear no id may be of either life, and are not here.
    """
    known = _RolesShown(chronicle, created_again)
    found: dict[int, dict[int, Place]] = {}
    left = {moment.broker for moment in chronicle.moments if moment.kind == "log-deleted"}
    for broker in sorted({*brokers, *(known.own.keys() - left)}):
        for epoch in sorted(known.shown(broker)):
            if (place := known.place(broker, epoch)) is not None:
                found.setdefault(broker, {})[epoch] = place
    return found


class _RolesShown(Struct, frozen=True, dict=True):
    """All that is told of roles, by whom it may be."""

    chronicle: Chronicle
    created_again: bool

    @cached_property
    def own(self) -> Mapping[int, Mapping[int, list[Role]]]:
        """By broker and epoch what its own log tells."""
        found: dict[int, dict[int, list[Role]]] = {}
        for role, epoch in told_roles(self.chronicle):
            found.setdefault(role.witness or 0, {}).setdefault(epoch, []).append(role)
        return found

    @cached_property
    def ordered(self) -> Mapping[int, set[int]]:
        """By broker the epochs in which others were told to follow it.

        What the controllers' record tells does not count. It reaches back to the beginning, and logs are deleted by
        age.
        """
        found: dict[int, set[int]] = {}
        for role, epoch in told_roles(self.chronicle):
            if role.leader is not None and role.leader != role.witness:
                found.setdefault(role.leader, set()).add(epoch)
        return found

    @cached_property
    def served(self) -> Mapping[int, set[int]]:
        """By broker the epochs in which it served a fetch that names its epoch."""
        found: dict[int, set[int]] = {}
        for fetch in self.chronicle.furthest_fetches.values():
            if fetch.epoch is not None and fetch.epoch >= 0 and fetch.witness is not None:
                found.setdefault(fetch.witness, set()).add(fetch.epoch)
        return found

    @cached_property
    def claimed(self) -> Mapping[int, set[int]]:
        """By broker the epochs in which it told clients that it leads itself."""
        found: dict[int, set[int]] = {}
        for m in self.chronicle.moments:
            if m.kind == "leader-told" and m.epoch is not None and m.leader == m.witness is not None:
                found.setdefault(m.witness, set()).add(m.epoch)
        return found

    @cached_property
    def followed(self) -> Mapping[int, set[int]]:
        """By broker the epochs in which it fetched, as whoever served it tells."""
        found: dict[int, set[int]] = {}
        for (broker, _), fetch in self.chronicle.furthest_fetches.items():
            if fetch.epoch is not None and fetch.epoch >= 0:
                found.setdefault(broker, set()).add(fetch.epoch)
        return found

    def shown(self, broker: int) -> set[int]:
        """Epochs in which it had a role that every log of its release would tell, and its own does not.

        Every release logs that a broker begins to lead; up to 1.1 none logs that it follows.
        """
        own = self.own.get(broker, {})
        led = self.served.get(broker, set()) | self.claimed.get(broker, set())
        epochs = self.ordered.get(broker, set()) | (led if own else set())
        if f"broker {broker}" in self.chronicle.telling_every_role:
            formers = {former_of(role) for roles in own.values() for role in roles}
            every = self.followed.get(broker, set()) | {former for former in formers if former is not None}
            epochs |= {epoch for epoch in every if not self.created_again or epoch > max(own, default=epoch)}
        return epochs - own.keys()

    def place(self, broker: int, epoch: int) -> Place | None:
        """Where its own log lacks a role; null where it never took it, or where no log here reaches so far back."""
        own = self.own.get(broker, {})
        following = min((each for each in own if each > epoch), default=None)
        if following is None:
            surely = self.served.get(broker, set()) | self.followed.get(broker, set())
            return "before" if not own else "after" if epoch in surely else None
        formers = (former_of(role) for role in own[following])
        if any(former is not None and former < epoch for former in formers):
            return None
        if any(each < epoch for each in own):
            return None if self._perhaps_down(broker, epoch, following) else "amid"
        others = (each for other, roles in self.own.items() if other != broker for each in roles)
        return "before" if min(others, default=epoch + 1) <= epoch else None

    def _perhaps_down(self, broker: int, epoch: int, following: int) -> bool:
        """Whether an order alone shows a role, and its broker started again before the next: it may have been down."""
        had = (self.served, self.claimed, self.followed)
        formers = {former_of(role) for role in self.own[broker][following]}
        shown = epoch in formers or any(epoch in epochs.get(broker, ()) for epochs in had)
        return not shown and self.chronicle.stories[f"broker {broker}"].loaded_before(following)
