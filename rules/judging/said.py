"""What a rule said, as it travels: findings, and questions for the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence.topic import TopicEvidence
from rules.finding import (
    UNDECIDED,
    FactValue,
    Finding,
    Severity,
    Undecided,
    Violation,
    capital,
    named_facts,
    offsets_told,
    question_told,
    sentences,
    with_last_offsets,
)
from rules.judging.giving_up import failed
from rules.rule import Rule
from rules.verdict import RuleCoverage
from rules.words import numbered, plural, quoted


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
    message = f"{UNDECIDED}: {question_told(said.reason, said.missing)}"
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


class Spoken(Struct, frozen=True):
    """A fact in words.

    `{bytes:unreadable byte}` counts: 1 unreadable byte, 2 unreadable bytes. `{isr:+broker}` names: broker 1, brokers 1
    and 2, no broker; group 'a'. `{isr:+Broker holds}` begins a sentence: Brokers 1 and 2 hold. `{because:.}` tells the
    fact as sentences of their own, `{who:^}` begins one.
    """

    value: object

    def __format__(self, noun: str) -> str:
        text = _phrase(self.value)
        if noun in (".", "^"):
            return sentences(text) if noun == "." else capital(text)
        if noun.startswith("+"):
            things = self.value if isinstance(self.value, tuple) else (self.value,)
            return _named(noun[1:], [*map(_name, things)])
        return f"{text} {noun if text.split()[-1] == '1' else plural(noun)}" if noun else text


def spoken(said: Violation) -> dict[str, Spoken]:
    """The facts of a violation by the names that a rule's message gives them."""
    start, end = said.start_offset, said.end_offset
    known = {**said.facts, "start_offset": start, "end_offset": end, "brokers": said.brokers}
    if end is not None:
        known["last"] = end - 1
    if start is not None and end is not None:
        known["offsets"] = offsets_told(start, end)
    return {name: Spoken(value) for name, value in known.items()}


def _named(noun: str, things: list[object]) -> str:
    """Things by their names, with what they do; what no thing does is said of this dump alone."""
    named, _, verb = noun.partition(" ")
    words = numbered(named.lower(), things, verb if things or not verb else f"in this dump {verb}")
    return capital(words) if named[0].isupper() else words


def _name(value: object) -> object:
    return quoted(value) if isinstance(value, str) else value


def _phrase(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
