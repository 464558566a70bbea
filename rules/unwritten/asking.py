"""The protocols asked over reconstructed epochs: what each would have made of a follower and its leader.

A rule's answer counts where it is the same in every way in which both logs can have been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from rules.protocol.keeping import KEPT_BY, UP_TO_2_0_0
from rules.protocol.replica_log import ReplicaLog
from rules.protocol.truncation import RULES, RuleName, Truncation
from rules.unwritten.epoch_log import FAR, PossibleLog
from rules.unwritten.log_turns import OwnLead
from rules.unwritten.ways import SERVER_LOG, TRACES, Open, Ways


class RuleAnswer(Struct, frozen=True, kw_only=True):
    """What one rule makes of the two, whichever way their logs were written."""

    truncation: Truncation
    """In the shortest of the ways."""
    least: int
    most: int
    """Between which offsets it leaves the log end."""
    decided: bool
    """Whether it leaves the same log end whichever way, or surely cuts nothing."""
    ends: frozenset[tuple[int, int]]
    """The epochs and ends that it can have been answered last."""
    exact: bool
    """Whether every way gives the same questions and answers."""

    @property
    def words(self) -> str:
        """What the leader answered last."""
        last = self.truncation.exchanges[-1] if self.truncation.exchanges else None
        if last is None:
            return "nothing, for nothing would have been asked"
        answer = f"epoch {last.answered_epoch} ends at {last.answered_offset}"
        if len(self.ends) <= 1:
            return answer
        later = all(epoch == last.answered_epoch and end >= last.answered_offset for epoch, end in self.ends)
        return f"{answer} or later" if later else f"{answer}, or at another end to the same effect"


NO_ANSWERS: Final[Mapping[RuleName, RuleAnswer]] = MappingProxyType({})


class Asked(Struct, frozen=True, kw_only=True):
    """A follower and a leader, and what the rules make of them."""

    asking: ReplicaLog | None
    """The follower as it stood, in the shortest of the ways; null where nothing is known of it."""
    answers: Mapping[RuleName, RuleAnswer]
    """Of each rule; none where nothing can be said."""
    open: Open | None
    """Why of others nothing can be said."""
    epochs: tuple[int, ...] = ()
    """The epochs that the follower held, as far as every way has them."""


Pair = tuple[PossibleLog, PossibleLog]


def ask(pairs: Iterable[Pair] | Open, high_watermark: int) -> Asked:
    """The rules' answers over every way in which follower and leader can have stood."""
    if isinstance(pairs, Open):
        return Asked(asking=None, answers=NO_ANSWERS, open=pairs)
    known = sorted(pairs, key=lambda pair: (pair[0].log_end_offset, pair[1].log_end_offset))
    if not known:
        reason = "what is told of follower and leader does not fit together"
        return Asked(asking=None, answers=NO_ANSWERS, open=Open(reason, SERVER_LOG))
    found = {name: _answer(name, known, high_watermark) for name in RULES}
    missing = [name for name, answer in found.items() if not answer.decided]
    reason = f"what {', '.join(missing)} would have done depends on when the leader wrote, or on how long a log was"
    return Asked(
        asking=known[0][0].asking(UP_TO_2_0_0, high_watermark),
        answers=MappingProxyType(found),
        open=Open(reason, TRACES) if missing else None,
        epochs=_shared_epochs([follower for follower, _ in known]),
    )


def _answer(name: RuleName, pairs: Iterable[Pair], high_watermark: int) -> RuleAnswer:
    way = KEPT_BY.get(name, UP_TO_2_0_0)
    truncations = [RULES[name](f.asking(way, high_watermark), leader.asking(way, FAR)) for f, leader in pairs]
    offsets = {made.offset for made in truncations}
    ends = ((e.answered_epoch, e.answered_offset) for made in truncations for e in made.exchanges[-1:])
    return RuleAnswer(
        truncation=truncations[0],
        least=min(offsets),
        most=max(offsets),
        decided=len(offsets) == 1 or not any(made.cuts for made in truncations),
        ends=frozenset(ends),
        exact=len({made.exchanges for made in truncations}) == 1,
    )


def _shared_epochs(ways: Iterable[PossibleLog]) -> tuple[int, ...]:
    found = {tuple(run.epoch for run in held.runs) for held in ways}
    shortest = min(found, key=len, default=())
    return shortest if all(epochs[: len(shortest)] == shortest for epochs in found) else ()


def pairs_of(followers: Ways, lead: OwnLead, led: Mapping[int, Iterable[Ways]], epoch: int) -> list[Pair] | Open:
    """Every way in which a follower stood beside its leader, at any time of an epoch."""
    if isinstance(followers, Open):
        return followers
    found: list[Pair] = []
    for ways in led.get(epoch, ()):
        if isinstance(ways, Open):
            return ways
        over = lead.next_start(epoch)
        for follower in followers:
            found += [(follower, then) for held in ways for then in _stood(held, follower, epoch, over)]
    return list(dict.fromkeys(found))


def _stood(opened: PossibleLog, follower: PossibleLog, epoch: int, over: int | None) -> Iterator[PossibleLog]:
    """A leader at the times of an epoch that make a difference: whoever holds its records shows that it wrote them."""
    last = FAR if over is None else over
    least = max(opened.log_end_offset, _reached(follower, epoch))
    ends = {least, least + 1, last} if least == opened.log_end_offset else {least, last}
    yield from (opened.wrote(epoch, end) for end in sorted(ends) if least <= end <= last)


def _reached(held: PossibleLog, epoch: int) -> int:
    """The end of the records of an epoch in a log; 0 for none."""
    return max((end for written, _, end in held.stretches if written == epoch), default=0)
