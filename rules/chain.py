"""Findings of one incident as chains: each below the finding that it follows from, the gravest chain first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.finding import Finding

Place = tuple[str | None, str | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A finding in its chain."""

    finding: str
    follows: str | None
    """The finding that it follows from most directly; null for a cause."""
    depth: int
    """Findings that stand above it."""


def place_of(finding: Finding) -> Place:
    """The partition that a finding is about."""
    return finding.cluster_id, finding.topic, finding.partition


def chain(findings: Sequence[Finding]) -> tuple[Step, ...]:
    """Every finding once; findings of a partition come in an order in which no echo precedes its cause."""
    places: dict[Place, list[Finding]] = {}
    for finding in findings:
        places.setdefault(place_of(finding), []).append(finding)
    trees = [tree for own in places.values() for tree in _trees(own)]
    gravest = sorted(trees, key=lambda tree: -max(severity for _, severity in tree))
    return tuple(step for tree in gravest for step, _ in tree)


def _trees(findings: Sequence[Finding]) -> Iterator[list[tuple[Step, int]]]:
    """A tree for every cause of one partition, its findings with their severities."""
    depths: dict[str, int] = {}
    echoes: dict[str | None, list[Finding]] = {}
    causes: dict[str, str | None] = {}
    for number, finding in enumerate(findings):
        cause = _cause(finding, findings[:number])
        depths[finding.id] = 0 if cause is None else depths[cause.id] + 1
        causes[finding.id] = None if cause is None else cause.id
        echoes.setdefault(causes[finding.id], []).append(finding)
    for root in echoes.get(None, ()):
        yield [
            (Step(finding=found.id, follows=causes[found.id], depth=depths[found.id]), found.severity)
            for found in _below(root, echoes)
        ]


def _cause(echo: Finding, before: Sequence[Finding]) -> Finding | None:
    """The most direct one: a rule's page names its causes in this order."""
    for rule in echo.implied_by:
        by_rule = [finding for finding in before if finding.rule == rule]
        if by_rule:
            return max(by_rule, key=lambda finding: _alike(finding, echo))
    return None


def _below(finding: Finding, echoes: dict[str | None, list[Finding]]) -> Iterator[Finding]:
    """A finding, and after it each of its echoes with theirs."""
    yield finding
    for echo in echoes.get(finding.id, ()):
        yield from _below(echo, echoes)


def _alike(cause: Finding, echo: Finding) -> tuple[bool, int]:
    """Of two causes by one rule the one of the epoch in which the echo was heard, else the later one before it."""
    of_cause, of_echo = _epoch(cause, "epoch"), _epoch(echo, "next_epoch", "epoch")
    return of_cause == of_echo, of_cause if of_cause <= of_echo else -1


def _epoch(finding: Finding, *facts: str) -> int:
    told = finding.values()
    return next((epoch for fact in facts if isinstance(epoch := told.get(fact), int)), -1)
