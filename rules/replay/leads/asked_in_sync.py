"""What `min.insync.replicas` may have been at any time of a lead: it is set while brokers run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Final

from msgspec import Struct

from rules.history.clocks import Clocks
from rules.history.moments import Moment
from rules.protocol.numbers import whole_number
from rules.replay.leads.served_leads import ServedLead
from rules.settings import MIN_IN_SYNC, TakenOver

TAKES_OVER_MS: Final = 1_000
"""A broker prints a changed setting first, and goes by it next, in the same thread: no more than its pause between."""

OverTime = Callable[[int, str, Moment, Clocks], Iterable[TakenOver]]
"""The values of a setting that were in force for the partition on a broker, on a statement's clock."""


def nothing_over_time(_broker: int, _name: str, _of: Moment, _clocks: Clocks) -> Iterable[TakenOver]:
    """The same of a dump that tells no settings."""
    return ()


class AskedSince(Struct, frozen=True, kw_only=True):
    """Which values are possible from a time on; null is one that nobody tells."""

    since: float
    values: frozenset[int | None]


class AskedInSync(Struct, frozen=True, kw_only=True):
    """What a lead's leader may have asked for over time, the first from ever on."""

    spans: tuple[AskedSince, ...] = (AskedSince(since=-inf, values=frozenset({None})),)
    watched: bool = False
    """Whether a change would be told, also of a value that nobody tells."""

    def steady(self, since: int | None, until: int | None) -> bool:
        """Whether it surely was the same all the time between two."""
        held = self._held(since, until)
        return len(held) == 1 and (self.watched or None not in held)

    def between(self, since: int | None, until: int | None) -> frozenset[int]:
        """Every value that may have been in force at some time between two; none where one may that nobody tells."""
        held = self._held(since, until)
        numbers = frozenset(value for value in held if value is not None)
        return numbers if len(numbers) == len(held) else frozenset()

    def _held(self, since: int | None, until: int | None) -> frozenset[int | None]:
        """The same with null for one that nobody tells; null times are open."""
        if len(self.spans) == 1:
            return self.spans[0].values
        first = -inf if since is None else since - TAKES_OVER_MS
        last = inf if until is None else max(first, until)
        ends = [*(span.since for span in self.spans[1:]), inf]
        held = (s.values for s, end in zip(self.spans, ends, strict=True) if end > first and s.since <= last)
        return frozenset().union(*held)


def asked_in_sync(lead: ServedLead, over_time: OverTime, clocks: Clocks) -> AskedInSync:
    """The settings of a lead; what its leader does not tell itself it may not have taken over yet."""
    of = lead.opening or next(iter(lead.rows), None)
    steps = () if of is None else tuple(over_time(lead.leader, MIN_IN_SYNC, of, clocks))
    opened = None if lead.opening is None else lead.opening.time
    begun = -inf if opened is None else opened
    spans: list[AskedSince] = []
    for each, end in zip(steps, [*(later.since for later in steps[1:]), inf], strict=False):
        if end <= begun:
            continue
        values = frozenset(map(whole_number, each.values))
        if spans and not each.own:
            values |= spans[-1].values
        if not spans or values != spans[-1].values:
            spans.append(AskedSince(since=each.since if spans else -inf, values=values))
    watched = bool(steps) and all(each.watched for each in steps)
    return AskedInSync(spans=tuple(spans), watched=watched) if spans else AskedInSync()
