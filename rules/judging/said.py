"""What a rule said, as it travels: findings, and questions for the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence.topic import TopicEvidence
from rules.finding import (
    FactValue,
    Finding,
    Severity,
    Undecided,
    Violation,
    named_facts,
    question_told,
    with_last_offsets,
)
from rules.judging.giving_up import failed
from rules.judging.spoken import spoken
from rules.rule import Rule
from rules.verdict import RuleCoverage


class Subject(Struct, frozen=True, kw_only=True):
    """What a finding is about."""

    cluster_id: str | None
    topic: str
    topic_id: str | None
    partition: int | None


def sayings(check: Callable[[], Iterable[Violation | Undecided]]) -> Iterator[Violation | Undecided]:
    """What a rule says; one that fails has not passed: its exception is undecided with the reason, never silence."""
    try:
        yield from tuple(check())
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the rule has not judged
        yield failed("the rule", error)


def finding(rule: Rule, said: Violation, place: Subject, sketch: str = "") -> Finding:
    """A violation in the words of its rule."""
    severity = rule.severity if said.severity is None else said.severity
    judged = _question(rule, said, place, message=rule.message.format_map(spoken(said)), facts=said.facts)
    return replace(judged, severity=int(severity), confidence=said.confidence, verdict="violated", sketch=sketch)


def doubt(rule: Rule, said: Undecided, place: Subject) -> Finding:
    """A question that keeps the verdict open."""
    facts: dict[str, FactValue] = {"reason": said.reason, "missing": said.missing, "subject": said.reason}
    facts |= {} if said.epoch is None else {"epoch": said.epoch}
    message = f"Undecided: {question_told(said.reason, said.missing)}"
    return replace(_question(rule, said, place, message=message, facts=facts), blocking=True)


def _question(
    rule: Rule, said: Violation | Undecided, place: Subject, *, message: str, facts: Mapping[str, FactValue]
) -> Finding:
    """What was said of a place, as a question; a violation says more of itself."""
    return Finding(
        rule=rule.id,
        severity=int(Severity.INFO),
        confidence="possible",
        verdict="undecided",
        cluster_id=place.cluster_id,
        topic=place.topic,
        topic_id=place.topic_id,
        partition=place.partition,
        brokers=said.brokers,
        start_offset=said.start_offset,
        end_offset=said.end_offset,
        message=with_last_offsets(message),
        exhibits=said.exhibits,
        facts=named_facts(facts),
    )


def question(rule: Rule, said: Undecided, asked: TopicEvidence | None = None) -> RuleCoverage:
    """A question that stands beside the verdict; `asked` is the topic that it is about as a whole."""
    return RuleCoverage(
        rule=rule.id,
        reason=said.reason,
        missing=said.missing,
        topic=None if asked is None else asked.topic,
        partitions=() if asked is None else tuple(share.partition for share in asked.shares),
        asked_at_level=said.asked_at_level,
    )
