"""Findings of one incident as chains: each below the finding that it follows from, the gravest chain first."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from rules.finding import NO_BEARING, Bearings, FactValue, Finding, Place, place_of
from rules.protocol.steps import StepLimit


class Step(Struct, frozen=True, kw_only=True):
    """A finding in its chain."""

    finding: str
    follows: str | None
    """The finding that it follows from most directly; null for a cause."""
    depth: int
    """Findings that stand above it."""


def chain(findings: Sequence[Finding], bearings: Bearings) -> tuple[Step, ...]:
    """Every finding once; findings of a partition come in an order in which no echo precedes its cause."""
    places: dict[Place, list[Finding]] = {}
    for finding in findings:
        places.setdefault(place_of(finding), []).append(finding)
    trees = [tree for own in places.values() for tree in _trees(own, bearings)]
    gravest = sorted(trees, key=lambda tree: -max(severity for _, severity in tree))
    return tuple(step for tree in gravest for step, _ in tree)


def _trees(findings: Sequence[Finding], bearings: Bearings) -> Iterator[list[tuple[Step, int]]]:
    """A tree for every cause of one partition, its findings with their severities."""
    causes = _joined(findings, _Causes(findings), bearings)
    echoes: dict[str | None, list[Finding]] = {}
    for finding in findings:
        echoes.setdefault(causes[finding.id], []).append(finding)
    for root in echoes.get(None, ()):
        yield [
            (Step(finding=found.id, follows=causes[found.id], depth=depth), found.severity)
            for found, depth in _below(root, echoes)
        ]


class _Causes:
    """The findings by their rules, to be asked for the cause of each by the findings before it."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """For each finding the most direct cause, and one by each further rule that it follows from."""
        self.found: dict[str, list[Finding]] = {}
        self._first: dict[str, dict[int, Finding]] = {}
        self._epochs: dict[str, list[int]] = {}
        for finding in findings:
            values = finding.values()
            heard = _epoch(values, "next_epoch", "epoch")
            causes = (self._cause(rule, heard) for rule in finding.implied_by)
            self.found[finding.id] = [cause for cause in causes if cause is not None]
            own, epoch = self._first.setdefault(finding.rule, {}), _epoch(values, "epoch")
            if epoch not in own:
                insort(self._epochs.setdefault(finding.rule, []), epoch)
            own.setdefault(epoch, finding)

    def _cause(self, rule: str, heard: int) -> Finding | None:
        """The rule's finding of the epoch of the echo, else the latest before it, else the first."""
        own, epochs = self._first.get(rule, {}), self._epochs.get(rule, [])
        if not own:
            return None
        place = bisect_right(epochs, heard)
        return own[epochs[place - 1]] if place else next(iter(own.values()))


def _joined(findings: Sequence[Finding], causes: _Causes, bearings: Bearings) -> dict[str, str | None]:
    """Each finding's cause; what spoilt logs that had parted before stands below what parted them."""
    follows = {name: own[0].id if own else None for name, own in causes.found.items()}
    spoils = {f.id for f in findings if bearings.get(f.rule, NO_BEARING).spoils_what_went_wrong}
    for finding in findings:
        for further in causes.found[finding.id][1:]:
            root = _root_of(finding.id, follows)
            if root in spoils and _root_of(further.id, follows) != root:
                follows[root] = further.id
    return follows


def _root_of(finding: str, follows: dict[str, str | None]) -> str:
    bound = StepLimit(len(follows), "following a chain of causes")
    while (cause := follows[finding]) is not None:
        bound.step()
        finding = cause
    return finding


def _below(
    finding: Finding, echoes: dict[str | None, list[Finding]], depth: int = 0
) -> Iterator[tuple[Finding, int]]:
    """A finding, and after it each of its echoes with theirs."""
    yield finding, depth
    for echo in echoes.get(finding.id, ()):
        yield from _below(echo, echoes, depth + 1)


def _epoch(values: Mapping[str, FactValue], *facts: str) -> int:
    return next((epoch for fact in facts if isinstance(epoch := values.get(fact), int)), -1)
