"""Findings that have one cause are one incident, told with the cause first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rules.chain import Place, Step, chain, place_of
from rules.finding import Finding, Severity

DISK_FAMILIES: Final = ("SEG", "EPOCH", "HW")
DAMAGED_PARTITIONS: Final = 3
"""Damage of this many partitions of one log dir is told as damage of the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One thing that happened, and the findings that show it."""

    id: str
    title: str
    severity: int
    scope: str
    topics: tuple[str, ...]
    partitions: int
    brokers: tuple[int, ...]
    findings: tuple[str, ...]
    """In the order of the chain."""
    steps: tuple[Step, ...]
    cause: str
    """The finding that the others follow from."""


def group(findings: Sequence[Finding], log_dirs: dict[str, str]) -> tuple[Incident, ...]:
    """Incidents, worst first. `log_dirs` gives a finding's id the log dir that its damage lies in."""
    worth_telling = [f for f in findings if f.verdict == "violated" and f.severity > Severity.INFO]
    by_disk: dict[str, list[Finding]] = {}
    for finding in worth_telling:
        if finding.rule.startswith(DISK_FAMILIES) and finding.id in log_dirs:
            by_disk.setdefault(log_dirs[finding.id], []).append(finding)
    disks = {disk: own for disk, own in by_disk.items() if len(_partitions(own)) >= DAMAGED_PARTITIONS}
    on_disks = {finding.id for own in disks.values() for finding in own}
    by_partition: dict[Place, list[Finding]] = {}
    for finding in worth_telling:
        if finding.id not in on_disks:
            by_partition.setdefault(place_of(finding), []).append(finding)
    told = [_disk_incident(disk, own) for disk, own in disks.items()]
    told += [_partition_incident(own) for own in by_partition.values()]
    return tuple(sorted(told, key=lambda incident: (-incident.severity, incident.title, incident.id)))


def _partitions(findings: Sequence[Finding]) -> set[Place]:
    return {place_of(finding) for finding in findings}


def _disk_incident(disk: str, findings: Sequence[Finding]) -> Incident:
    partitions = len(_partitions(findings))
    return _incident(f"log dir {disk} is damaged in {partitions} partitions", "broker", findings)


def _partition_incident(findings: Sequence[Finding]) -> Incident:
    by_id = {finding.id: finding for finding in findings}
    told = [by_id[step.finding] for step in chain(findings)]
    # What allowed it comes first in the chain; what happened gives it its name.
    first = next((finding for finding in told if finding.severity >= Severity.MEDIUM), told[0])
    return _incident(f"{first.topic}-{first.partition}: {first.message}", "partition", findings)


def _incident(title: str, scope: str, findings: Sequence[Finding]) -> Incident:
    told = chain(findings)
    key = "|".join(sorted(finding.fingerprint for finding in findings))
    return Incident(
        id=f"I-{hashlib.sha256(key.encode()).hexdigest()[:8]}",
        title=title,
        severity=max(finding.severity for finding in findings),
        scope=scope,
        topics=tuple(sorted({finding.topic or "" for finding in findings})),
        partitions=len(_partitions(findings)),
        brokers=tuple(sorted({broker for finding in findings for broker in finding.brokers})),
        findings=tuple(step.finding for step in told),
        steps=told,
        cause=told[0].finding,
    )
