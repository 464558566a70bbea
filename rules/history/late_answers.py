"""Answers that were written when their broker had gone on into another role: what they tell is of the one before.

A line of a request log is written when its answer is sent, which may be a while after the request was handled. A role
is told when it is taken, or when the order for it is answered.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeGuard

from rules.history.moments import Moment, gives_role, leads
from rules.history.statements import Answered, PartitionState

NO_EPOCH: Final = -1
ROUNDED_MS: Final = 2
"""A time reckoned back from a line, in whole milliseconds, is up to so much too early."""


class _Roles(NamedTuple):
    """The roles that a broker tells, in their order: from when on each may have been in force, and surely was."""

    perhaps: list[int]
    surely: list[int]
    leads: list[int | None]
    """The epoch that it leads in each of them."""
    first: int
    """The epoch of the first of them."""

    def led_within(self, since: int, until: int) -> list[int]:
        """The epochs that it led at any time from one to another; none where it had told no role before."""
        first = bisect_right(self.surely, since - 1) - 1
        last = bisect_left(self.perhaps, until)
        return [] if first < 0 else [epoch for epoch in self.leads[first:last] if epoch is not None]

    def older_than_any(self, moment: Answered, begun: int | None) -> bool:
        """Whether an answer was handled before the first of them, and not in order between it and what is told first.

        `begun` is when its file begins: what was handled before may be of a role that stood there.
        """
        handled = moment.taken_in
        if handled is None or moment.time is None or handled + ROUNDED_MS >= self.perhaps[0]:
            return False
        return moment.time >= self.surely[0] or begun is None or handled < begun


def handled_in(in_order: Sequence[Moment]) -> Mapping[int, tuple[int, int]]:
    """By the place of each answer that names no epoch, the first and last that it can be of, as far as times tell."""
    roles, begun = _roles(in_order), _begun(in_order)
    found: dict[int, tuple[int, int]] = {}
    for place, moment in enumerate(in_order):
        if not _is_unnamed(moment) or moment.clock not in roles or moment.taken_in is None:
            continue
        until = moment.taken_in if moment.answered is None else max(moment.taken_in, moment.answered)
        led = roles[moment.clock].led_within(moment.taken_in, until + ROUNDED_MS)
        if led:
            found[place] = led[0], led[-1]
        elif roles[moment.clock].older_than_any(moment, begun.get(moment.span.source)):
            found[place] = NO_EPOCH, roles[moment.clock].first - 1
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
    return answer and (moment.epoch is None or moment.epoch < 0)


def _roles(in_order: Iterable[Moment]) -> Mapping[str, _Roles]:
    found: dict[str, _Roles] = {}
    newest: dict[str, int] = {}
    for moment in in_order:
        if not gives_role(moment) or moment.time is None or moment.epoch is None:
            continue
        if moment.epoch <= newest.get(moment.clock, -1):
            continue
        newest[moment.clock] = moment.epoch
        roles = found.setdefault(moment.clock, _Roles([], [], [], moment.epoch))
        ordered = moment.arrived if isinstance(moment, PartitionState) else None
        began = moment.time if ordered is None else ordered
        roles.perhaps.append(max(began, roles.perhaps[-1]) if roles.perhaps else began)
        roles.surely.append(moment.time)
        roles.leads.append(moment.epoch if leads(moment) else None)
    return found
