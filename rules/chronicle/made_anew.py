"""Leaders' logs that were made anew before their brokers led again: nothing of what they had held went on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import dropwhile, pairwise, takewhile
from operator import is_not

from msgspec import Struct

from rules.chronicle.reigns import Reign
from rules.history.moments import Moment


class MadeAnew(Struct, frozen=True, kw_only=True):
    """A log that a broker made anew between two of its reigns, when nobody is told to have led between them."""

    broker: int
    before: int
    """What was written in this epoch, and in those before it, its broker had no more."""
    begun: int | None
    """Where that epoch began; null where nothing tells."""
    made: Moment
    after: int
    """This epoch began with an empty log."""
    leads: Moment | None
    """The role in which its broker led again; null where no line of its own tells it."""


def led_throughout(broker: int, before: int, after: int, leaders: Mapping[int, int]) -> bool:
    """Whether nobody else is told to have led between two epochs of a broker."""
    return all(leaders.get(epoch, broker) == broker for epoch in range(before + 1, after))


def made_anew(
    reigns: Sequence[Reign], own: Mapping[str, Sequence[Moment]], leaders: Mapping[int, int]
) -> Iterator[MadeAnew]:
    """Every such log; where another broker led between, its log is the one that goes on.

    A log that was given up to be deleted begins anew in order. Who is emptied and copies a leader's log led not next.
    """
    for before, after in pairwise(reigns):
        if before.broker != after.broker or after.start_offset != 0 or after.epoch < before.epoch:
            continue
        if not led_throughout(before.broker, before.epoch, after.epoch, leaders):
            continue
        behind = dropwhile(partial(is_not, before.opening), own[before.opening.clock])
        made = made_in([*takewhile(partial(is_not, after.opening), behind)])
        if made is not None:
            yield MadeAnew(
                broker=before.broker, before=before.epoch, begun=before.opening.offset, made=made, after=after.epoch,
                leads=after.opening,
            )  # fmt: skip


def made_in(between: Sequence[Moment]) -> Moment | None:
    """Where a broker tells that a log was made anew, if it had not been given up, nor holds anything by its loading.

    A log that was made for a move between log dirs leaves the old one in use, which is loaded at the next start.
    """
    made = next((moment for moment in reversed(between) if moment.kind == "log-created"), None)
    if made is None or any(moment.kind == "log-deleted" for moment in between):
        return None
    loaded = dropwhile(lambda moment: moment is not made, between)
    return None if any(moment.kind == "log-loaded" and moment.end_offset for moment in loaded) else made
