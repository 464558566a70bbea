"""The report as one JSON document: the contract that others build on (see docs/report.schema.json)."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from auditor.document_fields import Json, at_least, camel, fields
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
    ProtocolOutcome,
)
from auditor.report.named_places import listed
from auditor.report.policy_outcome import policy_document
from rules.finding import Exhibit, Finding, Severity

SCHEMA_VERSION: Final = 1
_CLOCK: Final = "clock reference milliseconds least=atLeast most=atMost bounds stands_apart=shifted"
_EXPECTED: Final = "expected_low=low expected_high=high expected_because=because"
_EXPECTED_END: Final = "expected_end_low=low expected_end_high=high expected_end_because=because"
_PLACE: Final = "cluster_id topic partition"
_REFUSAL: Final = "kind expected found path start end topic partition blocking"


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
        "refusals": [fields(line, _REFUSAL) for line in report.refusals],
        "coverage": coverage_document(report),
        "policy": policy_document(report.policy),
        "exitCode": report.exit_code,
    }


def finding_document(finding: Finding) -> Json:
    """One finding, by the names that all formats give its parts."""
    return {
        **fields(finding, "id fingerprint rule"),
        "severity": Severity(finding.severity).label,
        **fields(finding, "confidence verdict cluster_id topic topic_id partition brokers"),
        **fields(finding, "start_offset end_offset message"),
        "evidence": [exhibit_document(exhibit) for exhibit in finding.exhibits],
        "facts": {camel(name): value for name, value in finding.values().items()},
        **fields(finding, "implied_by sketch"),
    }


def exhibit_document(exhibit: Exhibit) -> Json:
    """One piece of evidence, by where it stands."""
    return {**fields(exhibit.span, "source=path start end"), "role": exhibit.role}


def _incident_bill(bill: IncidentBill) -> Json:
    return {
        **fields(bill, "losses offsets committed acknowledged possibly_acknowledged never_committed records bytes"),
        "atLeast": at_least(bill),
        "endsKnown": bill.ends_known,
    }


def _incident(incident: Incident) -> Json:
    return {
        **fields(incident, "id title"),
        "severity": Severity(incident.severity).label,
        **fields(incident, "scope topics partitions brokers findings steps=chain cause"),
        "places": listed(incident.places),
        "bill": None if incident.bill is None else _incident_bill(incident.bill),
    }


def _replica(placed: PlacedReplica) -> Json:
    replica = placed.replica
    return {
        **fields(placed, "cluster_id topic"),
        "topicId": replica.topic_id,
        "partition": placed.partition,
        **fields(replica, "broker log_dir path state log_start_offset"),
        "logEndOffset": None if replica.uncopied else replica.log_end_offset,
        "highWatermarkOnDisk": replica.high_watermark_on_disk,
        "expectedHighWatermark": fields(replica, _EXPECTED),
        "expectedLogEnd": fields(replica, _EXPECTED_END),
        **fields(replica, "epochs verdict batches records bytes_seen bytes_read bytes_refused checksums_verified"),
        **fields(replica, "min_timestamp=firstTimestamp max_timestamp=lastTimestamp"),
    }


def _counterfactual(placed: PlacedCounterfactual) -> Json:
    return {
        **fields(placed, _PLACE),
        **fields(placed.table, "follower leader start_offset end_offset because"),
        "outcomes": [_outcome(outcome) for outcome in placed.table.outcomes],
    }


def _outcome(outcome: ProtocolOutcome) -> Json:
    return {
        **fields(outcome, "rule in_force exchanges cut_to cuts"),
        "kept": [outcome.kept_start, outcome.kept_end],
        "lost": [outcome.lost_start, outcome.lost_end],
        "because": outcome.because,
    }


def _history(placed: PlacedHistory) -> Json:
    return {
        **fields(placed, _PLACE),
        "losses": [loss_document(loss) for loss in placed.losses],
        "clocks": [fields(clock, _CLOCK) for clock in placed.clocks],
        "milestones": [
            fields(milestone, "clock time reference_time epoch text span=evidence") for milestone in placed.milestones
        ],
    }
