"""The epochs that answers are of whose broker's log of roles is not here, by the controllers' own record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from rules.history.moments import ROLE_KINDS, Moment, gives_role, is_metadata


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


def sure_terms(moments: Sequence[Moment]) -> frozenset[tuple[str, int]]:
    """Witnesses and the terms that their own words open, or the record gives them: what they say next is no older."""
    told = {(m.clock, m.epoch) for m in moments if m.kind in ROLE_KINDS and m.epoch is not None}
    recorded = {(f"broker {broker}", epoch) for broker, own in led_by_record(moments).items() for epoch in own}
    return frozenset(told | recorded)


def given_terms(moments: Sequence[Moment]) -> frozenset[tuple[str, int]]:
    """The same, and the terms that orders give to the brokers that took them, though no line of theirs opens them."""
    ordered = {(m.clock, m.epoch) for m in moments if gives_role(m) and m.epoch is not None}
    return sure_terms(moments) | ordered


class EarliestTerms:
    """The oldest epoch in which the values of a statement can have been learnt."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        self._sure = sure_terms(moments)
        self._taken = {(m.clock, m.epoch) for m in moments if gives_role(m) and m.epoch is not None}

    def of(self, moment: Moment) -> int:
        """By its own word, or by the role that its writer had taken; 0 where neither bounds it.

        Nobody answers a request of a newer epoch than its own.
        """
        if moment.kind in _NAMING_THEIRS and moment.epoch is not None and moment.epoch >= 0:
            return moment.epoch
        place = moment.clock, -1 if moment.term is None else moment.term
        known = place in self._taken or (moment.latest_term is None and place in self._sure)
        return place[1] if known else 0


_NAMING_THEIRS: Final = ("fetched", "produced", "consumed", "described")


def answered_in(in_order: Sequence[Moment]) -> Mapping[int, tuple[int, int]]:
    """By the place of each answer without an epoch, before any role that its broker tells: which epochs it can be of.

    Only who leads answers, in an epoch that the record gives it. Between two fetches of which the epochs are named an
    answer is of neither an older nor a newer one.
    """
    led = led_by_record(in_order)
    told = _first_roles(in_order) if led else {}
    asked = [
        place for place, m in enumerate(in_order)
        if led and _is_answer(m) and (m.clock not in told or place < told[m.clock][0])
    ]  # fmt: skip
    newest = _newest_before(in_order, asked)
    oldest: dict[str, float] = {clock: epoch - 1 for clock, (_, epoch) in told.items()}
    found: dict[int, tuple[int, int]] = {}
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


def _first_roles(in_order: Sequence[Moment]) -> Mapping[str, tuple[int, int]]:
    """By clock the place of the first role that its broker tells, and its epoch."""
    found: dict[str, tuple[int, int]] = {}
    for place, moment in enumerate(in_order):
        if gives_role(moment) and moment.epoch is not None:
            found.setdefault(moment.clock, (place, moment.epoch))
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
    answer = moment.kind in ("fetched", "consumed", "produced")
    return answer and moment.error in (None, 0) and moment.clock == f"broker {moment.witness}"


def _names(moment: Moment) -> bool:
    return moment.epoch is not None and moment.epoch >= 0
