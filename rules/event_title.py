"""What happened in an event of many partitions: whose elections cost what was lost, each told of no more than that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rules.finding import Change, Place, capital
from rules.loss.incurred import Loss
from rules.words import numbered

TITLES: Final[Mapping[Change, tuple[str, str]]] = {
    "unclean election": ("No known loss", "{brokers} {were} elected from outside the in-sync replicas."),
    "opening below committed records": ("Committed records left out", "{brokers} began to lead without {them}."),
    "loss of acknowledged records": (
        "Acknowledged records left out", "{brokers} led before, and the next leader did not have them.",
    ),
}
"""An event by the first of these that it shows, each may follow from those before it: its head where no bill gives one,
and what happened."""
_ELECTED: Final = TITLES["unclean election"][1]
_LED: Final = TITLES["opening below committed records"][1]
_NOWHERE: Final = "No replica here holds {them}, though they were written."


def by_brokers(told: str, brokers: Iterable[int | None], them: str = "them") -> str:
    """The sentence of these brokers; a leader that nothing names is a later one."""
    known = sorted(broker for broker in brokers if broker is not None and broker >= 0)
    who = capital(numbered("broker", known)) if known else "A later leader"
    return told.format(brokers=who, were="were" if len(known) > 1 else "was", them=them)


def by_losses(losses: Mapping[Place, Sequence[Loss]], unclean: Collection[tuple[Place, object]]) -> str:
    """Who left out what is billed, unclean elections first; an election that cost nothing of it is not named."""
    leaders: dict[str, set[int | None]] = {}
    for place, own in losses.items():
        for loss in own:
            how = _NOWHERE if loss.next_epoch is None else _ELECTED if (place, loss.next_epoch) in unclean else _LED
            leaders.setdefault(how, set()).add(loss.next_leader)
    ways = [how for how in (_ELECTED, _LED, _NOWHERE) if how in leaders]
    return " ".join(by_brokers(how, leaders[how], "the rest" if n else "them") for n, how in enumerate(ways))
