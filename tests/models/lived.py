"""Random walks written to disk as their brokers would leave them, and the model's own account of what was lost."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from auditor.simulation.written_dump import write_dump
from rules.finding import Finding, Severity
from rules.protocol.offsets import BrokerId
from rules.simulator.run_rows import run
from rules.simulator.script import Script, read_events
from rules.simulator.state import TopicSettings
from tests.models.oracle import Model, Record, Version
from tests.models.search import SPOKEN, Pair, World, choice, named


@dataclass
class Account:
    """What the model knows of a walk."""

    acknowledged: dict[Record, int] = field(default_factory=dict)
    """Records that a producer was told of, and their offsets."""
    committed: dict[Record, int] = field(default_factory=dict)
    """Records below the high watermark of whoever believed to lead."""
    openings: dict[tuple[int, int], tuple[int, tuple[Record, ...]]] = field(default_factory=dict)
    """Of every leader and epoch the log start and the log with which it opened."""

    def note(self, model: Model) -> None:
        """Take in a state."""
        for answer, sent in zip(model.answers, model.sent, strict=True):
            if answer == "acknowledged" and sent is not None:
                self.acknowledged.setdefault(*sent)
        for broker, replica in model.replicas.items():
            if replica.alive and replica.presumes and replica.state:
                for offset in range(replica.start, replica.hw):
                    self.committed.setdefault(replica.log[offset], offset)
                self.openings.setdefault((broker, replica.state.leader_epoch), (replica.start, tuple(replica.log)))

    @property
    def missed(self) -> set[int]:
        """Offsets of records, told at whatever time, with which the leader of some later epoch did not open."""
        return {
            offset
            for (_, epoch), (start, log) in self.openings.items()
            for record, offset in self.lacking(start, log).items()
            if record.epoch < epoch
        }

    def lacking(self, start: int, log: Sequence[Record]) -> dict[Record, int]:
        """Acknowledged or committed records that a log does not hold where they were, from its start on."""
        told = self.acknowledged | self.committed
        return {
            record: offset
            for record, offset in told.items()
            if offset >= start and (offset >= len(log) or log[offset] != record)
        }


@dataclass
class Lived:
    """A walk that is over: the script of it, and the model in the end."""

    version: Version
    world: World
    lines: list[str]
    model: Model
    account: Account
    assignment: tuple[int, ...]
    """With which the partition began: where it moves, the model's own first state is soon that of a reassignment."""

    @property
    def lost(self) -> set[int]:
        """What the last leader lacks of all that was acknowledged or committed."""
        return self._lacking([broker for broker in self.model.alive if self.model.is_true_leader(broker)])

    @property
    def lost_by_candidates(self) -> set[int]:
        """What somebody lacks who stands in the quorum's ISR."""
        return self._lacking(self.model.quorum.isr)

    def _lacking(self, brokers: Iterable[int]) -> set[int]:
        logs = [self.model.replicas[broker] for broker in brokers]
        return {offset for held in logs for offset in self.account.lacking(held.start, held.log).values()}

    @property
    def diverging(self) -> set[int]:
        """Offsets at which two logs hold different records."""
        pairs = combinations(self.model.replicas.values(), 2)
        return {
            offset
            for one, other in pairs
            for offset in range(max(one.start, other.start), min(one.end, other.end))
            if one.log[offset] != other.log[offset]
        }


def lived(version: Version, world: World, seed: int, length: int, replicas: int = 3) -> Lived:
    """A random walk to its end; a second passes between two actions."""
    rng = random.Random(seed)  # noqa: S311 - the same walks every time
    pair, account = Pair.created(version, replicas, world.min_isr, world.others), Account()
    assignment = pair.model.quorum.replicas
    for _ in range(length):
        for line in (choice(pair.model, rng, processes=world.processes, more=world.more), "wait 1s"):
            pair.act(line)
            account.note(pair.model)
    return Lived(version, world, pair.lines, pair.model, account, assignment)


def audited(found: Lived, folder: Path) -> AuditReport:
    """The audit of all that the walk's brokers left."""
    written(found, folder)
    report = audit(folder, AuditConfig(engine="local"))
    assert report.refusals == ()
    return report


def written(found: Lived, folder: Path) -> None:
    """All that the walk's brokers left, on disk."""
    lines = tuple(named(line, number) for number, line in enumerate(found.lines))
    script = Script(
        title="a walk",
        assignment=tuple(map(BrokerId, found.assignment)),
        others=tuple(map(BrokerId, found.model.replicas.keys() - set(found.assignment))),
        version=found.version.name,
        inter_broker_protocol=SPOKEN[found.version.name],
        settings=TopicSettings(unclean_leader_election=False, min_insync_replicas=found.world.min_isr),
        lines=lines,
        events=read_events(lines),
    )
    write_dump(run(script), folder)


def alarms(report: AuditReport) -> list[Finding]:
    """What an audit says of medium severity or above."""
    return [finding for finding in report.violations if finding.severity >= Severity.MEDIUM]


def asked(report: AuditReport) -> bool:
    """Whether it says that it cannot place what producers were answered, and which log would tell."""
    return any(line.rule == "ACK001" and "state-change.log" in line.missing for line in report.coverage.undecided)


BY_HAND = frozenset({"ISR002"})
"""Walks take members out of the ISR whether they lag or not, and the audit says so."""


def backed(finding: Finding, found: Lived) -> bool:
    """Whether the model bears a finding out: an unclean election, logs that differ, records that were missed."""
    if finding.rule in BY_HAND:
        return True
    if finding.rule == "LEAD002":
        return any(request.unclean for request in found.model.requests)
    said = set(range(finding.start_offset or 0, finding.end_offset or 0))
    if finding.rule in ("LOG001", "EPOCH001", "EPOCH003", "EPOCH005"):
        return bool(said & found.diverging) or found.model.forgot_epochs
    if finding.rule == "ACK001":  # it begins where it knows of a record, and ends where it knows of a boundary
        said = {finding.start_offset or 0}
    if finding.rule == "ISR001":
        return bool(said & found.lost_by_candidates)
    if finding.rule == "TRUNC004":
        return bool(said & (found.diverging | found.account.missed | found.lost))
    return bool(said & (found.account.missed | found.lost))


def unfound(findings: Iterable[Finding], found: Lived) -> set[int]:
    """Offsets that were lost for good, of which no finding speaks."""
    said = [range(f.start_offset or 0, f.end_offset or 0) for f in findings]
    return {offset for offset in found.lost if not any(offset in offsets for offsets in said)}
