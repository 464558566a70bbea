"""The report as one JSON document: the contract that others build on (see docs/report.schema.json)."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from auditor.report.availability_json import availability_document
from auditor.report.coverage_json import coverage_document
from auditor.report.loss_json import loss_document
from auditor.report.model import (
    AuditReport,
    Incident,
    IncidentBill,
    PlacedCounterfactual,
    PlacedHistory,
    PlacedReplica,
    RefusalLine,
)
from auditor.report.named_places import listed
from auditor.report.policy_outcome import policy_document
from rules.finding import Exhibit, Finding, Severity

SCHEMA_VERSION: Final = 1
Json = dict[str, object]


def render(report: AuditReport) -> str:
    """The document, always the same for the same dump."""
    # The standard library indents a value at a time, which takes five times as long.
    return msgspec.json.format(json.dumps(document(report), ensure_ascii=True), indent=2) + "\n"


def document(report: AuditReport) -> Json:
    """The document as plain values."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "tool": {"name": "tidemark", "version": report.version, "level": report.level},
        "verdict": report.verdict,
        "interrupted": report.interrupted,
        "findings": [finding_document(finding) for finding in report.findings],
        "incidents": [_incident(incident) for incident in report.incidents],
        "replicas": [_replica(placed) for placed in report.replicas],
        "counterfactuals": [_counterfactual(placed) for placed in report.counterfactuals],
        "histories": [_history(placed) for placed in report.histories],
        "availability": [availability_document(placed) for placed in report.availability],
        "refusals": [_refusal(line) for line in report.refusals],
        "coverage": coverage_document(report),
        "policy": policy_document(report.policy),
        "exitCode": report.exit_code,
    }


def finding_document(finding: Finding) -> Json:
    """One finding, by the names that all formats give its parts."""
    return {
        "id": finding.id,
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "severity": Severity(finding.severity).label,
        "confidence": finding.confidence,
        "verdict": finding.verdict,
        "clusterId": finding.cluster_id,
        "topic": finding.topic,
        "topicId": finding.topic_id,
        "partition": finding.partition,
        "brokers": list(finding.brokers),
        "startOffset": finding.start_offset,
        "endOffset": finding.end_offset,
        "message": finding.message,
        "evidence": [exhibit_document(exhibit) for exhibit in finding.exhibits],
        "facts": {camel(name): value for name, value in finding.values().items()},
        "impliedBy": list(finding.implied_by),
        "sketch": finding.sketch,
    }


def exhibit_document(exhibit: Exhibit) -> Json:
    """One piece of evidence, by where it stands."""
    span = exhibit.span
    return {"path": span.source, "start": span.start, "end": span.end, "role": exhibit.role}


def camel(name: str) -> str:
    """A name of ours as documents spell it."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _incident_bill(bill: IncidentBill) -> Json:
    return {
        "losses": bill.losses,
        "offsets": bill.offsets,
        "committed": bill.committed,
        "acknowledged": bill.acknowledged,
        "possiblyAcknowledged": bill.possibly_acknowledged,
        "neverCommitted": bill.never_committed,
        "records": bill.records,
        "bytes": bill.bytes,
        "atLeast": {"records": bill.records_at_least, "bytes": bill.bytes_at_least},
        "endsKnown": bill.ends_known,
    }


def _incident(incident: Incident) -> Json:
    return {
        "id": incident.id,
        "title": incident.title,
        "severity": Severity(incident.severity).label,
        "scope": incident.scope,
        "topics": list(incident.topics),
        "partitions": incident.partitions,
        "brokers": list(incident.brokers),
        "findings": list(incident.findings),
        "chain": [{"finding": s.finding, "follows": s.follows, "depth": s.depth} for s in incident.steps],
        "cause": incident.cause,
        "places": listed(incident.places),
        "bill": None if incident.bill is None else _incident_bill(incident.bill),
    }


def _replica(placed: PlacedReplica) -> Json:
    replica = placed.replica
    return {
        "clusterId": placed.cluster_id,
        "topic": placed.topic,
        "topicId": replica.topic_id,
        "partition": placed.partition,
        "broker": replica.broker,
        "logDir": replica.log_dir,
        "path": replica.path,
        "state": replica.state,
        "logStartOffset": replica.log_start_offset,
        "logEndOffset": None if replica.uncopied else replica.log_end_offset,
        "highWatermarkOnDisk": replica.high_watermark_on_disk,
        "expectedHighWatermark": {
            "low": replica.expected_low,
            "high": replica.expected_high,
            "because": list(replica.expected_because),
        },
        "expectedLogEnd": {
            "low": replica.expected_end_low,
            "high": replica.expected_end_high,
            "because": list(replica.expected_end_because),
        },
        "epochs": [{"epoch": line.epoch, "startOffset": line.start_offset} for line in replica.epochs],
        "verdict": replica.verdict,
        "batches": replica.batches,
        "records": replica.records,
        "bytesSeen": replica.bytes_seen,
        "bytesRead": replica.bytes_read,
        "bytesRefused": replica.bytes_refused,
        "checksumsVerified": replica.checksums_verified,
        "firstTimestamp": replica.min_timestamp,
        "lastTimestamp": replica.max_timestamp,
    }


def _counterfactual(placed: PlacedCounterfactual) -> Json:
    table = placed.table
    return {
        "clusterId": placed.cluster_id,
        "topic": placed.topic,
        "partition": placed.partition,
        "follower": table.follower,
        "leader": table.leader,
        "startOffset": table.start_offset,
        "endOffset": table.end_offset,
        "because": table.because,
        "outcomes": [
            {
                "rule": outcome.rule,
                "inForce": outcome.in_force,
                "exchanges": [
                    {
                        "askedEpoch": exchange.asked_epoch,
                        "askedOffset": exchange.asked_offset,
                        "answeredEpoch": exchange.answered_epoch,
                        "answeredOffset": exchange.answered_offset,
                    }
                    for exchange in outcome.exchanges
                ],
                "cutTo": outcome.cut_to,
                "cuts": outcome.cuts,
                "kept": [outcome.kept_start, outcome.kept_end],
                "lost": [outcome.lost_start, outcome.lost_end],
                "because": outcome.because,
            }
            for outcome in table.outcomes
        ],
    }


def _history(placed: PlacedHistory) -> Json:
    return {
        "clusterId": placed.cluster_id,
        "topic": placed.topic,
        "partition": placed.partition,
        "losses": [loss_document(loss) for loss in placed.losses],
        "clocks": [
            {
                "clock": clock.clock,
                "reference": clock.reference,
                "milliseconds": clock.milliseconds,
                "atLeast": clock.least,
                "atMost": clock.most,
                "bounds": clock.bounds,
                "shifted": clock.stands_apart,
            }
            for clock in placed.clocks
        ],
        "milestones": [
            {
                "clock": milestone.clock,
                "time": milestone.time,
                "referenceTime": milestone.reference_time,
                "epoch": milestone.epoch,
                "text": milestone.text,
                "evidence": {
                    "path": milestone.span.source,
                    "start": milestone.span.start,
                    "end": milestone.span.end,
                },
            }
            for milestone in placed.milestones
        ],
    }


def _refusal(line: RefusalLine) -> Json:
    return {
        "kind": line.kind,
        "expected": line.expected,
        "found": line.found,
        "path": line.path,
        "start": line.start,
        "end": line.end,
        "topic": line.topic,
        "partition": line.partition,
        "blocking": line.blocking,
    }
