"""From verdicts of partitions to the report: one order, one verdict, one ledger of what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from auditor.config import AuditConfig
from auditor.engines.plan import ReadUnit
from auditor.exit_codes import ExitCode
from auditor.report.model import AuditReport, Coverage, PlacedCounterfactual, PlacedReplica, RefusalLine
from parsers.inventory import Inventory
from parsers.tables import Refusal
from rules.finding import Finding
from rules.incident import group
from rules.verdict import PartitionVerdict, RuleCoverage

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
    ordered = sorted(verdicts, key=lambda v: (v.cluster_id or "", v.topic or "", -1 if v.partition is None else v.partition))
    findings = tuple(finding for verdict in ordered for finding in verdict.findings)
    refusals = tuple(_refusals(inventory, ordered))
    coverage = _coverage(inventory, units, ordered, refusals)
    word = _verdict(findings, refusals, coverage, config)
    return AuditReport(
        version=version,
        level=config.level,
        verdict=word,
        exit_code=_exit_code(word, config, interrupted=interrupted),
        findings=findings,
        incidents=group(findings, dict(_log_dirs(ordered))),
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
        interrupted=interrupted,
    )


def _verdict(
    findings: Sequence[Finding], refusals: Sequence[RefusalLine], coverage: Coverage, config: AuditConfig
) -> str:
    """Findings outrank doubt, and doubt outranks a clean bill."""
    if any(f.verdict == "violated" and f.severity >= config.failing_severity for f in findings):
        return "findings"
    undecided = any(finding.blocking for finding in findings)
    unread = any(refusal.kind not in TAILS for refusal in refusals)
    nothing = coverage.replicas_seen == 0
    return "unknown" if undecided or unread or nothing or coverage.ratio < config.min_coverage else "clean"


def _exit_code(verdict: str, config: AuditConfig, *, interrupted: bool) -> int:
    if interrupted:
        return int(ExitCode.INTERRUPTED)
    if config.exit_zero or verdict == "clean":
        return int(ExitCode.CLEAN)
    return int(ExitCode.FINDINGS if verdict == "findings" else ExitCode.UNKNOWN)


def _refusals(inventory: Inventory, verdicts: Iterable[PartitionVerdict]) -> Iterator[RefusalLine]:
    for refusal in inventory.refusals:
        yield _line(refusal)
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
            )


def _line(refusal: Refusal) -> RefusalLine:
    return RefusalLine(
        kind=refusal.kind,
        expected=refusal.expected,
        found=refusal.found,
        path=refusal.source,
        start=refusal.span_start,
        end=refusal.span_end,
        topic=refusal.topic,
        partition=refusal.partition,
    )


def _coverage(
    inventory: Inventory,
    units: Sequence[ReadUnit],
    verdicts: Sequence[PartitionVerdict],
    refusals: Sequence[RefusalLine],
) -> Coverage:
    replicas = [replica for verdict in verdicts for replica in verdict.replicas]
    planned = sum(unit.bytes for unit in units if unit.kind == "log")
    left_out = sum(f.size for f in inventory.files if f.kind == "segment" and not f.suffix and _unread(f.origin.broker))
    refused = sum(replica.bytes_refused for replica in replicas)
    read = sum(replica.bytes_read for replica in replicas)
    seen = planned + left_out
    return Coverage(
        clusters=len({log_dir.cluster_id for log_dir in inventory.log_dirs}),
        brokers=len({(d.cluster_id, d.broker) for d in inventory.log_dirs if d.broker is not None}),
        partitions=sum(bool(verdict.replicas) for verdict in verdicts),
        replicas_seen=len(replicas),
        replicas_missing=sum(len(verdict.claimed_only) for verdict in verdicts),
        bytes_seen=seen,
        bytes_read=read,
        bytes_refused=refused,
        offsets_covered=sum(replica.log_end_offset - replica.log_start_offset for replica in replicas),
        offsets_compared=sum(verdict.offsets_compared for verdict in verdicts),
        batches=sum(replica.batches for replica in replicas),
        checksums_verified=sum(replica.checksums_verified for replica in replicas),
        files_seen=len(inventory.files),
        files_unread=len({refusal.path for refusal in refusals}),
        ratio=1.0 if seen == 0 else round(max(0, read - refused) / seen, 6),
        undecided=tuple(_undecided(verdicts)),
    )


def _unread(broker: int | None) -> bool:
    return broker is None


def _undecided(verdicts: Iterable[PartitionVerdict]) -> Iterator[RuleCoverage]:
    counted: dict[tuple[str, str, str], int] = {}
    for verdict in verdicts:
        for open_point in verdict.undecided:
            key = (open_point.rule, open_point.reason, open_point.missing)
            counted[key] = counted.get(key, 0) + open_point.partitions
    for (rule, reason, missing), partitions in sorted(counted.items()):
        yield RuleCoverage(rule=rule, reason=reason, missing=missing, partitions=partitions)


def _placed(verdicts: Iterable[PartitionVerdict]) -> Iterator[PlacedReplica]:
    for verdict in verdicts:
        for replica in verdict.replicas:
            yield PlacedReplica(
                cluster_id=verdict.cluster_id,
                topic=verdict.topic or "",
                partition=verdict.partition or 0,
                replica=replica,
            )


def _log_dirs(verdicts: Iterable[PartitionVerdict]) -> Iterator[tuple[str, str]]:
    """The log dir in which a finding about one replica lies."""
    for verdict in verdicts:
        homes = {replica.broker: replica.log_dir for replica in verdict.replicas if replica.state == "current"}
        for finding in verdict.findings:
            if len(finding.brokers) == 1 and finding.brokers[0] in homes:
                yield finding.id, homes[finding.brokers[0]]
