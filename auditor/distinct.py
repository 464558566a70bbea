"""Ids by which people can refer to findings: no two in a report are the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rules.finding import Finding, named_facts

SHORTEST = 8
LONGEST = 64


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order, said once each, with ids that differ; it depends on nothing but the findings."""
    told: dict[Finding, None] = dict.fromkeys(findings)
    return _lengthened(_numbered(list(told)))


def _numbered(findings: Sequence[Finding]) -> list[Finding]:
    """Different findings that would bear one fingerprint get the place among them into it."""
    seen: dict[str, int] = defaultdict(int)
    numbered: list[Finding] = []
    for finding in findings:
        seen[finding.fingerprint] += 1
        count = seen[finding.fingerprint]
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
