"""From verdicts of partitions to the report: one order, one verdict, one ledger of what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from auditor.apply_policy import counted, outcome_of, weighed
from auditor.config import AuditConfig
from auditor.coverage import coverage_of
from auditor.distinct import asked_once, distinct
from auditor.engines.plan.folders_left import may_hold_replicas
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import ReadUnit
from auditor.exit_codes import ExitCode
from auditor.report.model import (
    AuditReport,
    Coverage,
    Loss,
    PlacedAdvice,
    PlacedAvailability,
    PlacedCounterfactual,
    PlacedHistory,
    PlacedReplica,
    RefusalLine,
)
from parsers.inventory import UNPACKED, Inventory
from parsers.tables import Refusal
from rules.catalog import BEARINGS
from rules.facts.read_again import UnreadFile
from rules.finding import Finding, Place, place_of
from rules.incident import group
from rules.verdict import PartitionVerdict

TAILS = ("zero_tail", "torn_tail")
"""Refusals that rules speak of themselves; every other one leaves the verdict open."""


def build_report(
    inventory: Inventory,
    units: Sequence[ReadUnit],
    verdicts: Iterable[PartitionVerdict],
    config: AuditConfig,
    version: str,
    *,
    interrupted: bool,
) -> AuditReport:
    """The report, in an order that depends on nothing but the dump."""
    judged = list(verdicts)
    left_out = sum(finding.rule in config.policy.off for verdict in judged for finding in verdict.findings)
    ordered = sorted(
        weighed(judged, config.policy),
        key=lambda v: (v.cluster_id or "", v.topic or "", -1 if v.partition is None else v.partition),
    )
    findings = distinct(asked_once([finding for verdict in ordered for finding in verdict.findings]))
    ordered = [_without_bill_named(verdict, findings) for verdict in ordered]
    refusals = tuple(_refusals(inventory, ordered, config.selection))
    timezones, partial = config.log_timezone, config.partial
    coverage = coverage_of(
        inventory, units, ordered, refusals, config.selection, timezones, partial=partial, interrupted=interrupted
    )
    policy = outcome_of(findings, left_out, config, {v.cluster_id for v in judged if v.cluster_id})
    word = _verdict(findings, refusals, coverage, config, interrupted=interrupted)
    left = word if policy is None else _verdict(
        counted(findings, policy), refusals, coverage, config, interrupted=interrupted
    )  # fmt: skip
    return AuditReport(
        version=version,
        level=config.level,
        verdict=word,
        exit_code=_exit_code(left, config, interrupted=interrupted),
        findings=findings,
        incidents=group(
            findings,
            dict(_log_dirs(findings, ordered)),
            BEARINGS,
            {place_of(verdict): verdict.losses for verdict in ordered},
        ),
        replicas=tuple(_placed(ordered)),
        counterfactuals=tuple(
            PlacedCounterfactual(
                cluster_id=verdict.cluster_id, topic=verdict.topic or "", partition=verdict.partition or 0, table=table
            )
            for verdict in ordered
            for table in verdict.counterfactuals
        ),
        refusals=refusals,
        coverage=coverage,
        histories=tuple(
            PlacedHistory(
                cluster_id=verdict.cluster_id,
                topic=verdict.topic or "",
                partition=verdict.partition or 0,
                losses=tuple(loss for loss in verdict.losses if loss.matters),
                milestones=verdict.milestones,
                clocks=verdict.clocks,
                drawn=verdict.drawn,
                unbilled=verdict.unbilled,
            )
            for verdict in ordered
            if verdict.milestones or verdict.unbilled or any(loss.matters for loss in verdict.losses)
        ),
        advice=tuple(_advice(ordered, findings)),
        availability=tuple(_availability(ordered)),
        bearings=BEARINGS,
        interrupted=interrupted,
        policy=policy,
    )


def _without_bill_named(verdict: PartitionVerdict, findings: Sequence[Finding]) -> PartitionVerdict:
    """The verdict whose records without a bill name their findings by id; a policy may have left findings out."""
    if not verdict.unbilled:
        return verdict
    ids = {finding.fingerprint: finding.id for finding in findings}
    named = tuple(structs.replace(each, finding=ids[each.finding]) for each in verdict.unbilled if each.finding in ids)
    advice = tuple(structs.replace(each, unbilled=named) for each in verdict.advice)
    return structs.replace(verdict, unbilled=named, advice=advice)


def _verdict(
    findings: Sequence[Finding],
    refusals: Sequence[RefusalLine],
    coverage: Coverage,
    config: AuditConfig,
    *,
    interrupted: bool,
) -> str:
    """Findings outrank doubt, and doubt outranks a clean bill."""
    if any(f.verdict == "violated" and f.severity >= config.failing_severity for f in findings):
        return "findings"
    undecided = any(finding.blocking for finding in findings)
    unread = any(refusal.blocking for refusal in refusals)
    lacking = not config.partial and (coverage.replicas_lacking > 0 or coverage.scope.opens)
    # Who asks for all of it means every file, also one that leaves the verdict as it is otherwise.
    not_all = config.min_coverage >= 1 and bool(refusals)
    too_little = coverage.replicas_seen == 0 or lacking or not_all or coverage.ratio < config.min_coverage
    return "unknown" if undecided or unread or too_little or interrupted else "clean"


def _exit_code(verdict: str, config: AuditConfig, *, interrupted: bool) -> int:
    if interrupted:
        return int(ExitCode.INTERRUPTED)
    if config.exit_zero or verdict == "clean":
        return int(ExitCode.CLEAN)
    return int(ExitCode.FINDINGS if verdict == "findings" else ExitCode.UNKNOWN)


def _refusals(
    inventory: Inventory, verdicts: Iterable[PartitionVerdict], selection: Selection
) -> Iterator[RefusalLine]:
    """What could not be read of the partitions that were asked for, and of what may hold any partition."""
    log_dirs = [log_dir.path for log_dir in inventory.log_dirs]
    folders = {*log_dirs, *(replica.path for replica in inventory.replicas)}
    traces = {file.origin.source: file.size for file in inventory.files if file.kind == "request-log"}
    for refusal in inventory.refusals:
        if refusal.topic is None or selection.admits(refusal.topic, refusal.partition):
            folder = refusal.source in folders or may_hold_replicas(refusal)
            yield _line(refusal, blocking=not _aside(refusal, log_dirs), folder=folder)
    for verdict in verdicts:
        for unread in verdict.refusals:
            yield RefusalLine(
                kind=unread.kind,
                expected=unread.expected,
                found=unread.found,
                path=unread.span.source,
                start=unread.span.start,
                end=unread.span.end,
                topic=verdict.topic,
                partition=verdict.partition,
                blocking=unread.kind not in TAILS and not _torn_at_its_end(unread, traces),
            )


def _torn_at_its_end(unread: UnreadFile, traces: Mapping[str, int]) -> bool:
    """Whether it is the last line of a request log: one that ends a line earlier tells as much."""
    return unread.kind == "truncated_line" and traces.get(unread.span.source) == unread.span.end


def _aside(refusal: Refusal, log_dirs: Sequence[str]) -> bool:
    """Whether it is a socket, an archive or the like beside the log dirs, where no log was lost with it."""
    special = refusal.kind == "unreadable" and refusal.expected in ("a regular file", UNPACKED)
    return special and not any(path == "." or refusal.source.startswith(f"{path}/") for path in log_dirs)


def _line(refusal: Refusal, *, blocking: bool, folder: bool) -> RefusalLine:
    return RefusalLine(
        kind=refusal.kind,
        expected=refusal.expected,
        found=refusal.found,
        path=refusal.source,
        start=refusal.span_start,
        end=refusal.span_end,
        topic=refusal.topic,
        partition=refusal.partition,
        blocking=blocking,
        folder=folder,
    )


def _placed(verdicts: Iterable[PartitionVerdict]) -> Iterator[PlacedReplica]:
    for verdict in verdicts:
        for replica in verdict.replicas:
            yield PlacedReplica(
                cluster_id=verdict.cluster_id,
                topic=verdict.topic or "",
                partition=verdict.partition or 0,
                replica=replica,
            )


def _advice(verdicts: Iterable[PartitionVerdict], findings: Sequence[Finding]) -> Iterator[PlacedAdvice]:
    of_lost: dict[Place, list[Finding]] = {}
    for finding in findings:
        records = BEARINGS[finding.rule].records
        if finding.verdict == "violated" and records is not None and records.gone:
            of_lost.setdefault(place_of(finding), []).append(finding)
    for verdict in verdicts:
        own, losses = of_lost.get(place_of(verdict), []), tuple(loss for loss in verdict.losses if loss.matters)
        for advice in verdict.advice:
            yield PlacedAdvice(
                cluster_id=verdict.cluster_id,
                topic=verdict.topic or "",
                partition=verdict.partition or 0,
                advice=advice,
                losses=losses,
                salvaged_by=tuple(_salvaged_by(loss, own) for loss in losses),
            )


def _salvaged_by(loss: Loss, findings: Sequence[Finding]) -> str:
    """The id of the narrowest finding that means all records of a loss; empty where none does."""
    whole = [
        (finding.end_offset - finding.start_offset, finding.id)
        for finding in findings
        if finding.start_offset is not None and finding.end_offset is not None
        if finding.start_offset <= loss.start_offset and loss.end_offset <= finding.end_offset
    ]
    return min(whole, default=(0, ""))[1]


def _availability(verdicts: Iterable[PartitionVerdict]) -> Iterator[PlacedAvailability]:
    for verdict in verdicts:
        for account in verdict.availability:
            yield PlacedAvailability(
                cluster_id=verdict.cluster_id,
                topic=verdict.topic or "",
                partition=verdict.partition or 0,
                availability=account,
            )


def _log_dirs(findings: Iterable[Finding], verdicts: Iterable[PartitionVerdict]) -> Iterator[tuple[str, str]]:
    """The log dir in which a finding about one replica lies."""
    homes = {
        (verdict.cluster_id, verdict.topic, verdict.partition, replica.broker): replica.log_dir
        for verdict in verdicts
        for replica in verdict.replicas
        if replica.state == "current"
    }
    for finding in findings:
        place = (finding.cluster_id, finding.topic, finding.partition, *finding.brokers)
        if place in homes:
            yield finding.id, homes[place]
