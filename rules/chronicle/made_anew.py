"""Leaders' logs that were made anew before their brokers led again: nothing of what they had held went on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise, takewhile

from msgspec import Struct

from rules.chronicle.reigns import Reign
from rules.history.moments import Moment


class MadeAnew(Struct, frozen=True, kw_only=True):
    """A log that a broker made anew between two of its reigns, when nobody is told to have led between them."""

    before: Reign
    """What was written in it, and in those before it, its broker had no more."""
    made: Moment
    after: Reign
    """It began with an empty log."""


def made_anew(
    reigns: Sequence[Reign], own: Mapping[str, Sequence[Moment]], leaders: Mapping[int, int]
) -> Iterator[MadeAnew]:
    """Every such log; where another broker led between, its log is the one that goes on.

    A log that was given up to be deleted begins anew in order. Who is emptied and copies a leader's log led not next.
    """
    for before, after in pairwise(reigns):
        if before.broker != after.broker or after.start_offset != 0 or after.epoch < before.epoch:
            continue
        if any(leaders.get(epoch, before.broker) != before.broker for epoch in range(before.epoch + 1, after.epoch)):
            continue
        made = _made_between(own[before.opening.clock], before.opening, after.opening)
        if made is not None:
            yield MadeAnew(before=before, made=made, after=after)


def _made_between(own: Sequence[Moment], before: Moment, after: Moment) -> Moment | None:
    """Where the log was made anew between two roles, if it had not been given up, nor holds anything by its loading.

    A log that was made for a move between log dirs leaves the old one in use, which is loaded at the next start.
    """
    behind = dropwhile(lambda moment: moment is not before, own)
    between = [*takewhile(lambda moment: moment is not after, behind)]
    made = next((moment for moment in reversed(between) if moment.kind == "log-created"), None)
    if made is None or any(moment.kind == "log-deleted" for moment in between):
        return None
    loaded = dropwhile(lambda moment: moment is not made, between)
    return None if any(moment.kind == "log-loaded" and moment.end_offset for moment in loaded) else made
