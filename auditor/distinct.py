"""Ids by which people can refer to findings: no two in a report are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from auditor.report.named_places import named_places
from auditor.report.summary.perhaps import PLACES_SHOWN
from rules.finding import UNDECIDED, Finding, Place, named_facts, place_of
from rules.fingerprint import by_name

Question: TypeAlias = tuple[str, str | None, tuple[int, ...], str]
SHORTEST = 8
LONGEST = 64


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order, said once each, with ids that differ; it depends on nothing but the findings."""
    once: dict[Finding, None] = dict.fromkeys(findings)
    return _lengthened(_numbered(list(once)))


def asked_once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings, but one question of all partitions of a cluster that tell no more of it than that it is open."""
    alike: dict[Question, list[Place]] = defaultdict(list)
    for finding in findings:
        if _is_general(finding):
            alike[_question(finding)].append(place_of(finding))
    for finding in findings:
        places = alike[_question(finding)] if _is_general(finding) else []
        if len(places) < 2:  # noqa: PLR2004 - it is of one place
            yield finding
        elif place_of(finding) == places[0]:
            said = finding.message.replace(UNDECIDED, f"{UNDECIDED} in {named_places(places, PLACES_SHOWN)}", 1)
            facts = (*finding.facts, *named_facts({"partitions": len(places)}))
            yield replace(finding, topic=None, topic_id=None, partition=None, message=said, facts=facts)


def _question(finding: Finding) -> Question:
    return finding.rule, finding.cluster_id, finding.brokers, finding.message


def _is_general(finding: Finding) -> bool:
    """Whether it is a question that points at nothing in its partition."""
    return finding.blocking and finding.start_offset is None and not finding.exhibits and finding.topic is not None


def _numbered(findings: Sequence[Finding]) -> list[Finding]:
    """Different findings that would bear one fingerprint get the place among them into it."""
    seen: dict[str, int] = defaultdict(int)
    numbered: list[Finding] = []
    for finding in findings:
        named = by_name(finding.fingerprint)
        seen[named] += 1
        count = seen[named]
        numbered.append(finding if count == 1 else _with_number(finding, count))
    return numbered


def _with_number(finding: Finding, count: int) -> Finding:
    others = tuple(fact for fact in finding.facts if fact.name != "subject")
    subject = f"{finding.values().get('subject', '')} ({count})".lstrip()
    return replace(finding, facts=(*others, *named_facts({"subject": subject})))


def _lengthened(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Ids that begin alike are told in as many digits as it takes."""
    by_beginning: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        by_beginning[finding.fingerprint[:SHORTEST]].append(finding.fingerprint)
    digits = {beginning: _digits(alike) for beginning, alike in by_beginning.items()}
    return tuple(replace(finding, id_digits=digits[finding.fingerprint[:SHORTEST]]) for finding in findings)


def _digits(fingerprints: Sequence[str]) -> int:
    lengths = range(SHORTEST, LONGEST)
    return next((n for n in lengths if len({f[:n] for f in fingerprints}) == len(fingerprints)), LONGEST)
