"""What rules over time say where a leader epoch's number stands for two epochs: that they cannot say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parsers.tables import BrokerEvent
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, Produce
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation, capital
from rules.history.falling_times import dated_lines, in_words
from rules.history.sources_disagree import loading_told_amiss
from rules.rule import Rule
from rules.words import listed

BY_EPOCH: Final = frozenset((BrokerEvent, EpochRequest, Fetch, IsrRequest, Produce))
"""Statements that are put in order by leader epoch."""
REASON: Final = "leader epochs went back to lower numbers while the logs went on. So one number may mean two epochs"
SET_BACK: Final = "So which of its log lines came later is not known"
CONTRADICTED: Final = "the times told by {} contradict each other. So which event came later is not known"
DISAGREE: Final = (
    "by their times, lines of {}'s logs contradict each other. Perhaps log lines are missing here, or ZooKeeper, a"
    " metadata log or a clock was set back. So which event came later is not known"
)
"""A role that is not told looks like one that was never taken."""
_SET_BACK_BY: Final = (
    "the operators' own record of whether ZooKeeper, a metadata log or a clock was set back, and when."
    " No file of a broker tells that"
)
_LINES_OF: Final = (
    "{}'s server.log, state-change.log and request log of that time, without gaps. If nothing is missing in them, only"
    " the operators can tell what was set back"
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
    amiss = _amiss(evidence)
    shown = f". {capital(amiss)}" if amiss else ""
    return f"no list of losses, no advice and no table of protocols can be made. {capital(_reason(evidence))}{shown}"


def _amiss(evidence: PartitionEvidence) -> str:
    """Which lines show the contradiction, where those of the partition do."""
    clock = _disturbed(evidence)
    if clock is None or evidence.falls.get(clock):
        return ""
    amiss = loading_told_amiss([m for m in evidence.moments if m.clock == clock and dated_lines(m)])
    return f"{clock} says {amiss}" if amiss else ""


def would_order(evidence: PartitionEvidence) -> str:
    """What would tell which of two came later."""
    clock = _disturbed(evidence)
    holed = clock is not None and not evidence.falls.get(clock)
    return _LINES_OF.format(clock) if holed else _SET_BACK_BY


def _disturbed(evidence: PartitionEvidence) -> str | None:
    """The first clock of which it is open by how much its times have to be moved."""
    return next((moment.clock for moment in evidence.moments if moment.set_back is None), None)


def _reason(evidence: PartitionEvidence) -> str:
    clock = _disturbed(evidence)
    if clock is None and (apart := sorted(evidence.clocks.contradicted)):
        return CONTRADICTED.format(listed([f"{'the ' * (each == 'controller')}{each}" for each in apart]))
    if clock is None:
        return REASON
    falls = evidence.falls.get(clock, ())
    return f"{in_words(falls)}. {SET_BACK}" if falls else DISAGREE.format(clock)


def _by_epoch(rule: Rule, evidence: PartitionEvidence) -> bool:
    if rule.order == "of roles":
        return evidence.chronicle.roles_fall_back
    return rule.order == "of epochs" or (rule.order == "as its rows are" and not BY_EPOCH.isdisjoint(rule.needs))
