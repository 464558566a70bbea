"""What happened in an event of many partitions: whose elections cost what was lost, each told of no more than that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rules.finding import NO_BEARING, Bearings, Change, Finding, Place, capital
from rules.loss.incurred import Loss
from rules.words import listed, numbered

TITLES: Final[Mapping[Change, tuple[str, str]]] = {
    "unclean election": ("No known loss", "{brokers} {were} elected from outside the ISR."),
    "opening below committed records": ("Committed records left out", "{brokers} became {leader} without them."),
    "loss of acknowledged records": (
        "Acknowledged records left out", "{brokers} led before, and the next leader did not have them.",
    ),
}
"""An event by the first of these that it shows, each may follow from those before it: its head where no bill gives one,
and what happened."""
NAMED: Final = 2
"""Partitions of one leader that are named, where there are more than one beside them."""
_ELECTED: Final = TITLES["unclean election"][1]
_LED: Final = TITLES["opening below committed records"][1]
_NOWHERE: Final = "No replica here holds them, though they were written."


def title_giver(findings: Sequence[Finding], costly: Collection[int | None], bearings: Bearings) -> Finding:
    """The first finding, unless that is a change of leaders which cost nothing of what is lost, and another one did.

    What is lost went when one of the costly epochs was opened.
    """
    changes = [f for f in findings if bearings.get(f.rule, NO_BEARING).change is not None]
    cost = [f for f in changes if f.values().get("next_epoch", f.values().get("epoch")) in costly]
    idle = bool(costly) and findings[0] in changes and findings[0] not in cost
    return cost[0] if idle and cost else findings[0]


def led_without(first: Finding, gone: Sequence[Loss], bearings: Bearings) -> str:
    """Who led without what its own log had lost before; nothing where the first finding is a change of leaders."""
    led = {(loss.next_leader, loss.next_epoch, loss.reused_end > loss.start_offset) for loss in gone}
    if len(led) != 1 or bearings.get(first.rule, NO_BEARING).change is not None:
        return ""
    ((leader, epoch, reused),) = led
    if leader is None or epoch is None or first.brokers != (leader,):
        return ""
    others = ", and others were written there" if reused else ""
    return f" Broker {leader} led epoch {epoch} without them{others}."


def by_brokers(template: str, brokers: Iterable[int | None]) -> str:
    """The sentence of these brokers; a leader that nothing names is a later one."""
    known = sorted(broker for broker in brokers if broker is not None and broker >= 0)
    return _said(template, capital(numbered("broker", known)) if known else "An unknown broker", len(known))


def _said(template: str, who: str, brokers: int) -> str:
    several = brokers > 1
    return template.format(brokers=who, were="were" if several else "was", leader="leaders" if several else "leader")


def by_losses(losses: Mapping[Place, Sequence[Loss]], unclean: Collection[tuple[Place, object]]) -> str:
    """Who left out what is billed, unclean elections first; an election that cost nothing of it is not named."""
    leaders: dict[str, dict[int | None, set[Place]]] = {}
    for place, own in losses.items():
        for loss in own:
            how = _NOWHERE if loss.next_epoch is None else _ELECTED if (place, loss.next_epoch) in unclean else _LED
            leaders.setdefault(how, {}).setdefault(loss.next_leader, set()).add(place)
    ways = [how for how in (_ELECTED, _LED, _NOWHERE) if how in leaders]
    each = [set(places) for how in ways for places in leaders[how].values()]
    parts = {place for places in each for place in places if sum(place in others for others in each) > 1}
    return " ".join(_each_where(how, leaders[how], parts, alone=len(each) == 1) for how in ways)


def _each_where(
    template: str, leaders: Mapping[int | None, Collection[Place]], parts: Collection[Place], *, alone: bool
) -> str:
    """The sentence of these brokers; unless there is but one, each with its partitions, some of them in part."""
    if alone:
        return by_brokers(template, leaders)
    if template == _NOWHERE:
        where = _named(set().union(*leaders.values()), parts)
        return f"No replica here holds those of {where}, though they were written."
    known = sorted(broker for broker in leaders if broker is not None and broker >= 0)
    who = [f"broker {broker} ({_named(leaders[broker], parts)})" for broker in known]
    subject = capital(listed(who)) if who else f"An unknown broker ({_named(leaders[None], parts)})"
    return _said(template, subject, len(known))


def _named(places: Collection[Place], parts: Collection[Place]) -> str:
    ordered = sorted(places, key=lambda place: (place[1] or "", place[2] or 0))
    whole = [place for place in ordered if place not in parts]
    each, every = ("part of ", "") if whole else ("", "parts of " if ordered[1:] else "part of ")
    names = [f"{each * (place in parts)}{place[1]}-{place[2]}" for place in ordered]
    if len(names) <= NAMED + 1:
        return f"{every}{listed(names)}"
    return f"{every}{', '.join(names[:NAMED])} and {len(names) - NAMED} more partitions"
