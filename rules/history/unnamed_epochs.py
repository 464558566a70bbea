"""Of which epochs an answer can be that names none: by when it was handled, and by the controllers' own record.

A line of a request log is written when its answer is sent, which may be a while after the request was handled. A role
is told when it is taken, or when the order for it is answered: a late answer is of the role before. Of a broker whose
log of roles is not here, the record tells which epochs it led.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple, TypeGuard

from rules.history.moments import Moment, gives_role, is_metadata, leads
from rules.history.statements import Answered, PartitionState, RoleTaken

Epochs = tuple[int, int]
"""The first and the last that an answer can be of."""
NO_EPOCH: Final = -1
ROUNDED_MS: Final = 2
"""A time reckoned back from a line, in whole milliseconds, is up to so much too early."""


class FirstRole(NamedTuple):
    """The first role that a broker tells."""

    place: int
    epoch: int
    newest_before: int
    """The newest epoch that it may have led before: that very one, where it may only have been started again."""


class _Roles(NamedTuple):
    """The roles that a broker tells, in their order: from when on each may have been in force, and surely was."""

    perhaps: list[int]
    surely: list[int]
    leads: list[int | None]
    """The epoch that it leads in each of them."""
    newest_before: int
    """The newest epoch that it may have led before the first of them."""

    def led_within(self, since: int, until: int) -> list[int]:
        """The epochs that it led at any time from one to another; none where it had told no role before."""
        first = bisect_right(self.surely, since - 1) - 1
        last = bisect_left(self.perhaps, until)
        return [] if first < 0 else [epoch for epoch in self.leads[first:last] if epoch is not None]

    def newest_by(self, time: int) -> int:
        """The newest epoch that it may have led by a time, be it before the first of them."""
        last = bisect_left(self.perhaps, time)
        return max([self.newest_before, *(epoch for epoch in self.leads[:last] if epoch is not None)])

    def older_than_any(self, moment: Answered, begun: int | None) -> bool:
        """Whether an answer was handled before the first of them, and not in order between it and what is told first.

        `begun` is when its file begins: what was handled before may be of a role that stood there.
        """
        handled = moment.taken_in
        if handled is None or moment.time is None or handled + ROUNDED_MS >= self.perhaps[0]:
            return False
        return moment.time >= self.surely[0] or begun is None or handled < begun


def possible_epochs(in_order: Sequence[Moment], first: Mapping[str, FirstRole]) -> Mapping[int, Epochs]:
    """By the place of each answer that names no epoch those that it can be of, where times or the record bound them."""
    return {**_handled_in(in_order, first), **_answered_in(in_order, first)}


def _handled_in(in_order: Sequence[Moment], first: Mapping[str, FirstRole]) -> Mapping[int, Epochs]:
    """By the place of each answer that names no epoch, the first and last that it can be of, as far as times tell."""
    roles, begun = _roles(in_order, first), _begun(in_order)
    found: dict[int, Epochs] = {}
    for place, moment in enumerate(in_order):
        if not _is_unnamed(moment) or moment.clock not in roles or moment.taken_in is None:
            continue
        until = moment.taken_in if moment.answered is None else max(moment.taken_in, moment.answered)
        led = roles[moment.clock].led_within(moment.taken_in, until + ROUNDED_MS)
        if led:
            found[place] = led[0], led[-1]
        elif roles[moment.clock].older_than_any(moment, begun.get(moment.span.source)):
            found[place] = NO_EPOCH, roles[moment.clock].newest_by(until)
    return found


def _begun(in_order: Iterable[Moment]) -> Mapping[str, int]:
    """When each file tells something first."""
    begun: dict[str, int] = {}
    for moment in in_order:
        if moment.time is not None:
            begun[moment.span.source] = min(moment.time, begun.get(moment.span.source, moment.time))
    return begun


def _is_unnamed(moment: Moment) -> TypeGuard[Answered]:
    answer = isinstance(moment, Answered) and moment.error in (None, 0)
    return answer and not _names(moment)


def _roles(in_order: Iterable[Moment], first: Mapping[str, FirstRole]) -> Mapping[str, _Roles]:
    found: dict[str, _Roles] = {}
    newest: dict[str, int] = {}
    for moment in in_order:
        if not gives_role(moment) or moment.time is None or moment.epoch is None:
            continue
        if moment.epoch <= newest.get(moment.clock, -1):
            continue
        newest[moment.clock] = moment.epoch
        roles = found.setdefault(moment.clock, _Roles([], [], [], first[moment.clock].newest_before))
        ordered = moment.arrived if isinstance(moment, PartitionState) else None
        began = moment.time if ordered is None else ordered
        roles.perhaps.append(max(began, roles.perhaps[-1]) if roles.perhaps else began)
        roles.surely.append(moment.time)
        roles.leads.append(moment.epoch if leads(moment) else None)
    return found


def newest_named(in_order: Sequence[Moment]) -> Mapping[int, Epochs]:
    """By the place of each answer that names no epoch, the newest that its broker had been named and had answered.

    It is of none before the first one, and may be of the second: it was taken in before that one was answered.
    """
    named: dict[str, list[tuple[int, int]]] = {}
    found: dict[int, Epochs] = {}
    for place, moment in enumerate(in_order):
        if moment.time is None or not _is_answer(moment):
            continue
        own = named.setdefault(moment.clock, [])
        if _names(moment):
            if not moment.doubtful and (not own or (moment.epoch or 0) > own[-1][1]):
                own.append((moment.time, moment.epoch or 0))
        elif own and isinstance(moment, Answered):
            taken_in = -1 if moment.taken_in is None else moment.taken_in
            before = [epoch for time, epoch in own if time <= taken_in]
            found[place] = max(before, default=NO_EPOCH), own[-1][1]
    return found


# --- by the record --------------------------------------------------------------------------------------------------


def led_by_record(moments: Sequence[Moment]) -> Mapping[int, tuple[int, ...]]:
    """The epochs that each broker led, where the metadata log tells of every epoch; nothing where it leaves one out."""
    states = [m for m in moments if is_metadata(m) and m.epoch is not None and m.leader is not None]
    epochs = {m.epoch for m in states}
    if epochs != set(range(len(epochs))):
        return {}
    led: dict[int, set[int]] = {}
    for state in states:
        if state.leader is not None and state.epoch is not None and state.leader >= 0:
            led.setdefault(state.leader, set()).add(state.epoch)
    return {broker: tuple(sorted(own)) for broker, own in led.items()}


def _answered_in(in_order: Sequence[Moment], first: Mapping[str, FirstRole]) -> Mapping[int, Epochs]:
    """By the place of each answer without an epoch, before any role that its broker tells: which epochs it can be of.

    Only who leads answers, in an epoch that the record gives it. Between two fetches of which the epochs are named an
    answer is of neither an older nor a newer one.
    """
    led = led_by_record(in_order)
    asked = [
        place for place, m in enumerate(in_order)
        if led and _is_answer(m) and (m.clock not in first or place < first[m.clock].place)
    ]  # fmt: skip
    newest = _newest_before(in_order, asked)
    oldest: dict[str, float] = {clock: role.newest_before for clock, role in first.items()}
    found: dict[int, Epochs] = {}
    for place in reversed(asked):
        moment = in_order[place]
        if _names(moment):
            oldest[moment.clock] = min(moment.epoch or 0, oldest.get(moment.clock, inf))
            continue
        own = led.get(-1 if moment.witness is None else moment.witness, ())
        possible = [e for e in own if newest[place] <= e <= oldest.get(moment.clock, inf)]
        if possible:
            found[place] = possible[0], possible[-1]
    return found


def first_roles(in_order: Sequence[Moment]) -> Mapping[str, FirstRole]:
    """By clock the first role that its broker tells.

    Who opens an epoch may have led in it before, and have been started again, unless the line names an older one.
    """
    found: dict[str, FirstRole] = {}
    for place, moment in enumerate(in_order):
        if gives_role(moment) and moment.epoch is not None and moment.clock not in found:
            went_on = isinstance(moment, RoleTaken) and moment.former is not None
            newest = moment.epoch if leads(moment) and not went_on else moment.epoch - 1
            found[moment.clock] = FirstRole(place, moment.epoch, newest)
    return found


def _newest_before(in_order: Sequence[Moment], places: Sequence[int]) -> Mapping[int, int]:
    newest: dict[str, int] = {}
    found: dict[int, int] = {}
    for place in places:
        moment = in_order[place]
        found[place] = newest.get(moment.clock, 0)
        if _names(moment):
            newest[moment.clock] = max(moment.epoch or 0, found[place])
    return found


def _is_answer(moment: Moment) -> bool:
    """Whether only a leader gives it; what is doubtful or an error may be anybody's."""
    answer = isinstance(moment, Answered)
    return answer and moment.error in (None, 0) and moment.clock == f"broker {moment.witness}"


def _names(moment: Moment) -> bool:
    return moment.epoch is not None and moment.epoch >= 0
