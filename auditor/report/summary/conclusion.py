"""The whole of what decides, as one value: renderers choose how much of it they show, never what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from auditor.report.model import AuditReport, Coverage, PlacedHistory, Unbilled
from auditor.report.sheet import percent, size
from auditor.report.summary.action import Action
from auditor.report.summary.actions import actions
from auditor.report.summary.folded_findings import FoldedFinding, folded
from auditor.report.summary.incidents import IncidentEntry, incident_entries
from auditor.report.summary.not_whole import WAY_OUT, not_whole
from auditor.report.summary.perhaps import AtStake, at_stake, perhaps_lost_elsewhere
from auditor.report.summary.totals import LossTotals, totals
from auditor.report.summary.unseen import Unseen, unseen
from auditor.report.unbilled import unbilled
from rules.finding import NO_BEARING, Finding, Place, Severity, place_of
from rules.words import counted, first_of, listed

SEVERITIES = ("critical", "high", "medium", "low")
RULES_SHOWN = 3
"""Rules that leave a verdict open; the rest is counted."""


class Summary(Struct, frozen=True, kw_only=True):
    """What a report comes to."""

    verdict: str
    counts: tuple[tuple[str, int], ...]
    """Findings by severity, the gravest first; notes for information are not counted."""
    partitions: int
    """How many partitions the findings are about."""
    partitions_elsewhere: int
    """How many of these no disk here holds; others tell of them."""
    replicas: int
    """How many replicas they are about."""
    lost: LossTotals | None
    """In all; null where no loss is known."""
    unbilled: tuple[tuple[PlacedHistory, Unbilled], ...]
    """What is gone and of which no bill can be made, with its partition."""
    at_stake: AtStake | None
    """What replicas differ in, and no bill tells; null where there is none."""
    perhaps: tuple[FoldedFinding, ...]
    """Open questions whether records are lost, alike ones together."""
    incidents: tuple[IncidentEntry, ...]
    actions: tuple[Action, ...]
    unseen: tuple[Unseen, ...]

    @property
    def counted(self) -> str:
        """The findings in words."""
        return ", ".join(f"{number} {label}" for label, number in self.counts) or "no problem found"


def summary(report: AuditReport) -> Summary:
    """What the report comes to."""
    findings = [finding for finding in report.violations if finding.severity > Severity.INFO]
    labels = [Severity(finding.severity).label for finding in findings]
    return Summary(
        verdict=report.verdict,
        counts=tuple((label, labels.count(label)) for label in SEVERITIES if label in labels),
        partitions=len({(finding.cluster_id, finding.topic, finding.partition) for finding in findings}),
        replicas=len(_replicas(report, findings)),
        partitions_elsewhere=len(_without_replica(report, findings)),
        lost=totals(report.histories),
        at_stake=at_stake(report),
        perhaps=folded(perhaps_lost_elsewhere(report)),
        unbilled=tuple(unbilled(report)),
        incidents=incident_entries(report),
        actions=actions(report),
        unseen=unseen(report),
    )


def _replicas(report: AuditReport, findings: list[Finding]) -> set[tuple[str | None, str | None, int | None, int]]:
    """The replicas of the dump that findings are about."""
    held = {
        (placed.cluster_id, placed.topic, placed.partition, placed.replica.broker)
        for placed in report.replicas
        if placed.replica.state == "current"
    }
    return {(f.cluster_id, f.topic, f.partition, broker) for f in findings for broker in f.brokers} & held


def _without_replica(report: AuditReport, findings: Iterable[Finding]) -> set[Place]:
    """The partitions that findings are about and of which others than disks tell, where disks are here."""
    held = {place_of(placed) for placed in report.replicas}
    return {place_of(finding) for finding in findings} - held if held else set()


def extent(report: AuditReport, conclusion: Summary) -> str:
    """Of all that was seen, how much the findings are about; all of it where there are none."""
    replicas = counted(report.coverage.replicas_seen, "replica")
    partitions = counted(report.coverage.partitions + conclusion.partitions_elsewhere, "partition")
    if not conclusion.partitions:
        return f"{replicas} of {partitions}"
    own = [f"{conclusion.replicas} of {replicas}"] if conclusion.replicas else []
    return ", ".join([*own, f"{conclusion.partitions} of {partitions}"])


def asked(report: AuditReport) -> str:
    """Which rules ask whether records are gone, in a report that is clean all the same; empty where none does."""
    if report.verdict != "clean":
        return ""
    open_ones = {f.rule for f in report.findings if f.verdict == "undecided"}
    open_ones.update(line.rule for line in report.coverage.undecided if line.asked_at_level is None)
    rules = sorted(rule for rule in open_ones if report.bearings.get(rule, NO_BEARING).records is not None)
    return f"; not decided: {listed(rules)}" if rules else ""


def read_of(report: AuditReport) -> str:
    """How much was read, in words."""
    if not report.coverage.replicas_seen:
        return "no broker's disk is here"
    return part_read(report.coverage)


def part_read(coverage: Coverage) -> str:
    """How much of what lies on the disks was read."""
    return f"{percent(coverage.ratio)} of {size(coverage.bytes_seen)} on disk"


def doubts(report: AuditReport) -> Iterator[str]:
    """Why the verdict is open."""
    undecided = Counter(finding.rule for finding in report.findings if finding.blocking)
    unread = sum(refusal.blocking for refusal in report.refusals)
    if report.interrupted:
        yield "the audit did not end"
    elif report.coverage.replicas_seen == 0:
        yield "no replica was read"
    if undecided:
        rules = first_of([rule for rule, _ in undecided.most_common()], RULES_SHOWN)
        places = {place for line in report.coverage.undecided if line.blocking for place in line.places}
        about = f" about {len(places)} partitions" if len(places) > undecided.total() else ""
        yield f"{counted(undecided.total(), 'question')}{about} could not be decided ({rules})"
    if unread:
        yield f"{counted(unread, 'part')} of the dump could not be read"
    not_here = [] if report.coverage.scope.partial else [*_not_here(report.coverage)]
    yield from (f"{words} ({WAY_OUT})" for words in not_here)
    if not (report.interrupted or undecided or unread or not_here or report.coverage.replicas_seen == 0):
        yield "less was read than --min-coverage asks for"


def _not_here(coverage: Coverage) -> Iterator[str]:
    """What should be in the dump and is not."""
    if lacking := coverage.replicas_lacking:
        named = f"{counted(lacking, 'replica')} named by checkpoints, logs or metadata"
        yield f"{named} {'is' if lacking == 1 else 'are'} not in this dump"
    yield from not_whole(coverage)
    if files := [each.words for each in coverage.scope.files if each.opens]:
        yield f"the dump lacks {listed(files)}"
