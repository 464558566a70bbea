"""What rules over time say where a leader epoch's number stands for two epochs: that they cannot say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from parsers.tables import BrokerEvent
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, Produce
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation, capital
from rules.history.causes import Precedence
from rules.history.falling_times import dated_lines, in_words
from rules.history.moments import ROLE_KINDS
from rules.history.sources_disagree import ToldApart, contradiction
from rules.history.turns import fall_of_roles
from rules.replicas.epoch_order import fall_in_a_log
from rules.rule import Rule
from rules.words import listed

BY_EPOCH: Final = frozenset((BrokerEvent, EpochRequest, Fetch, IsrRequest, Produce))
"""Statements that are put in order by leader epoch."""
REASON: Final = (
    "leader epochs went back to lower numbers while the logs went on. {fell}. So one number may mean two epochs, and"
    " the order of events is not known. "
)
SET_BACK: Final = "So which of its log lines came later is not known"
CONTRADICTED: Final = "the times told by {} contradict each other{}. So which event came later is not known. "
_RESTORED: Final = (
    "Perhaps ZooKeeper or a metadata log was restored from an older copy{}. No file of a broker tells that"
)
_REFUTED: Final = (
    ". {effect} at {then} or earlier. {cause} only at {first} or later. Other lines show that the clocks of these two"
    " do not differ so much"
)
DISAGREE: Final = (
    "lines of {clock}'s logs contradict each other by their times{shown}. So the order of {clock}'s events is not"
    " known. Perhaps log lines are missing here, ZooKeeper or a metadata log was restored, or a clock was set back"
)
"""A role that is not told looks like one that was never taken."""
_SHOWN: Final = ". {who} says that it {did} at {first}. It says that it {also} at {then}. {law}"
_ELSEWHERE: Final = ", those of this partition or of others"
_NO_MORE: Final = "losses cannot be listed, and no advice can be given"
_OPERATORS: Final = "ask the operators what was restored{}, and when"
_CLOCK_OF: Final = "ask the operators whether {clock}'s clock was set back, when, and how far"
_LINES_OF: Final = (
    "{clock}'s server.log, state-change.log and request log{span}, without gaps. If no line is missing in them, only"
    " the operators can tell what was restored or set back"
)


def without_order(
    rule: Rule, said: Sequence[Violation | Undecided], evidence: PartitionEvidence
) -> Sequence[Violation | Undecided]:
    """What a rule says, but for what it takes from an order of epochs that there is not."""
    if not evidence.epochs_used_twice or not _by_epoch(rule, evidence):
        return said
    accused = any(isinstance(one, Violation) for one in said)
    if accused or rule.severity is Severity.CRITICAL:
        return (Undecided(reason=_reason(evidence), missing=would_order(evidence)),)
    return ()


def not_told(evidence: PartitionEvidence) -> str:
    """Why there is more than findings to miss."""
    return f"{_NO_MORE}. {capital(_reason(evidence))}"


def would_order(evidence: PartitionEvidence) -> str:
    """What would tell which of two came later."""
    clock = _disturbed(evidence)
    if clock is None or evidence.falls.get(clock):
        by_times = " or set back" if evidence.clocks.contradicted else ""
        return _OPERATORS.format(by_times) if clock is None else _CLOCK_OF.format(clock=clock)
    shown = _shown(clock, evidence)
    span = " from before {} to after {}".format(*_times(shown.first, shown.then)) if shown else " of all the time"
    return _LINES_OF.format(clock=clock, span=span)


def _disturbed(evidence: PartitionEvidence) -> str | None:
    """The first clock of which it is open by how much its times have to be moved."""
    return next((moment.clock for moment in evidence.moments if moment.set_back is None), None)


def _reason(evidence: PartitionEvidence) -> str:
    clock = _disturbed(evidence)
    if clock is None and (apart := sorted(evidence.clocks.contradicted)):
        contradicted = CONTRADICTED.format(listed([*map(_clock, apart)]), _cause_and_effect(evidence.clocks.refuted))
        return contradicted + _RESTORED.format(", or a clock was set back")
    if clock is None:
        return REASON.format(fell=next(_fell(evidence))) + _RESTORED.format("")
    if falls := evidence.falls.get(clock, ()):
        return f"{in_words(falls)}. {SET_BACK}"
    found = _shown(clock, evidence)
    if found is None:
        return DISAGREE.format(clock=clock, shown=_ELSEWHERE)
    first, then = _times(found.first, found.then)
    did = {"did": found.did, "first": first, "also": found.also, "then": then}
    return DISAGREE.format(clock=clock, shown=_SHOWN.format(who=capital(clock), law=found.law, **did))


def _fell(evidence: PartitionEvidence) -> Iterator[str]:
    """Where epochs went back: by a broker's roles or a controller's word, and in a log."""
    if (roles := fall_of_roles(evidence.moments)) is not None:
        before, behind = roles
        did = "had a role in epoch {}, and later in" if behind.kind in ROLE_KINDS else "told of epoch {}, and later of"
        yield f"{capital(_clock(behind.clock))} {did.format(before.epoch)} epoch {behind.epoch}"
    if (log := fall_in_a_log(evidence.moments, evidence.current)) is not None:
        who, (newer, older) = f"broker {log[0].broker}", log[1:]
        yield f"In {who}'s log, epoch {older.epoch} follows epoch {newer.epoch} at offset {older.start_offset}"


def _cause_and_effect(refuted: Precedence | None) -> str:
    """The two events and their times, where those of two clocks show the contradiction."""
    if refuted is None or refuted.link is None:
        return ""
    first, then = _times(refuted.earlier, refuted.later)
    cause, effect = (capital(_clock(name)) for name in (refuted.cause, refuted.effect))
    did, led_to = refuted.link.did, refuted.link.then.format(refuted.epoch)
    return _REFUTED.format(cause=f"{cause} {did}", effect=f"{effect} {led_to}", first=first, then=then)


def _clock(name: str) -> str:
    return f"the {name}" if name == "controller" else name


def _shown(clock: str, evidence: PartitionEvidence) -> ToldApart | None:
    """The lines of the partition that show the contradiction, where they do."""
    return contradiction([m for m in evidence.moments if m.clock == clock and dated_lines(m)])


def _times(*stamps: int) -> tuple[str, ...]:
    """Times as logs have them, to the second unless they are of one."""
    times = [datetime.fromtimestamp(at / 1000, UTC) for at in stamps]
    seconds = [f"{at:%Y-%m-%d %H:%M:%S}" for at in times]
    if len({*seconds}) == len(seconds):
        return tuple(seconds)
    return tuple(f"{second}.{at.microsecond // 1000:03}" for second, at in zip(seconds, times, strict=True))


def _by_epoch(rule: Rule, evidence: PartitionEvidence) -> bool:
    if rule.order == "of roles":
        return evidence.chronicle.roles_fall_back
    return rule.order == "of epochs" or (rule.order == "as its rows are" and not BY_EPOCH.isdisjoint(rule.needs))
