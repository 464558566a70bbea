"""The report as one JSON document: the contract that others build on (see docs/report.schema.json)."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from auditor.document_fields import Json, at_least, camel, fields
from auditor.report.model import (
    AuditReport,
    Coverage,
    GroupAtRisk,
    Incident,
    IncidentBill,
    Loss,
    PlacedAvailability,
    PlacedCounterfactual,
    PlacedHistory,
    PlacedReplica,
    Portion,
    ProtocolOutcome,
    UndecidedLine,
)
from auditor.report.named_places import PLACES_TOLD, listed
from auditor.report.policy_outcome import policy_document
from rules.finding import Exhibit, Finding, Severity

SCHEMA_VERSION: Final = 1
_CLOCK: Final = "clock reference milliseconds least=atLeast most=atMost bounds stands_apart=shifted"
_EXPECTED: Final = "expected_low=low expected_high=high expected_because=because"
_EXPECTED_END: Final = "expected_end_low=low expected_end_high=high expected_end_because=because"
_PLACE: Final = "cluster_id topic partition"
_REFUSAL: Final = "kind expected found path start end topic partition blocking"
_STATE: Final = (
    "epoch=leaderEpoch partition_epoch leader isr out_of_sync=osr assigned eligible clock time=since until milliseconds"
    " next_told min_in_sync min_in_sync_sure conditions=exposed span=evidence"
)
_EXPOSURE: Final = "condition states milliseconds untimed=statesUntimed lasting sure offsets ranges=offsetRanges"
_SAFEGUARD: Final = "name value whose certain allowed instead set_at=evidence"
_MISSING: Final = "cluster_id topic partition broker held_by"


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


def availability_document(placed: PlacedAvailability) -> Json:
    """One partition's states, exposures and settings."""
    account = placed.availability
    return {
        **fields(placed, "cluster_id topic partition"),
        "statesTold": account.rows_told,
        "states": [fields(row, _STATE) for row in account.rows],
        "exposures": [fields(exposure, _EXPOSURE) for exposure in account.exposures],
        "settings": [fields(safeguard, _SAFEGUARD) for safeguard in account.safeguards],
        "notTold": list(account.silences),
    }


def _scope(coverage: Coverage) -> Json:
    scope = coverage.scope
    return {
        **fields(scope, "words kinds absent partly cut_short begun_late holed requests_holed"),
        **fields(scope, "before_logs=partitionsBeforeLogs metadata_untold"),
        "filesLacking": [fields(each, "noun=kind due paths opens") for each in scope.files],
        **fields(scope, "replicas_here replicas_assigned partial"),
    }


def _undecided(point: UndecidedLine) -> Json:
    return {
        **fields(point, "rule reason missing partitions"),
        "places": listed(point.places[:PLACES_TOLD]),
        **fields(point, "blocking asked_at_level"),
    }


def coverage_document(report: AuditReport) -> Json:
    """The ledger as plain values."""
    coverage = report.coverage
    return {
        **fields(coverage, "clusters brokers partitions replicas_seen replicas_away=replicasMissing replicas_lacking"),
        "missingReplicas": [fields(missing, _MISSING) for missing in coverage.missing],
        "replicasAssignedElsewhere": coverage.replicas_assigned_elsewhere,
        "assignedElsewhere": [fields(missing, _MISSING) for missing in coverage.assigned_elsewhere],
        **fields(coverage, "bytes_seen bytes_read bytes_refused offsets_covered offsets_compared batches"),
        **fields(coverage, "checksums_verified files_seen files_unread files_unknown unknown_files"),
        **fields(coverage, "first_timestamp last_timestamp ratio log_times"),
        "scope": _scope(coverage),
        "absentLogs": [fields(each) for each in coverage.absent_logs],
        "contradictedReleases": [fields(each, "broker given logged=told") for each in coverage.contradicted_releases],
        "unnamedTopics": [fields(each) for each in coverage.unnamed],
        "undecided": [_undecided(point) for point in coverage.undecided],
    }


def loss_document(loss: Loss) -> Json:
    """The loss."""
    start = loss.start_offset
    return {
        **fields(loss, "epoch latest_epoch leader next_epoch next_leader start_offset end_offset"),
        **fields(loss, "end_known=endOffsetKnown end_at_most=endOffsetAtMost again=openedAgain"),
        "committed": [start, loss.committed_end],
        "acknowledged": [start, max(loss.acknowledged_end, loss.committed_end)],
        "portions": [_portion(portion) for portion in loss.portions],
        "reused": [start, loss.reused_end],
        **fields(loss, "reused_epochs answers answers_known first_time last_time clock"),
        "contents": None if loss.contents is None else fields(loss.contents),
        **fields(loss, "clients readers"),
        "groups": [_group(group) for group in loss.groups],
        "groupsKnown": loss.groups_known,
        "survivors": [fields(each, "broker kind path start_offset end_offset") for each in loss.survivors],
        "remote": [fields(each, "segment broker epoch start_offset end_offset span=evidence") for each in loss.remote],
        **fields(loss, "searched restored unread=perhapsHeldBy because"),
    }


def _portion(portion: Portion) -> Json:
    return {
        **fields(portion, "worth start_offset end_offset records bytes"),
        "atLeast": at_least(portion),
        "divided": portion.divided,
    }


def _group(group: GroupAtRisk) -> Json:
    return fields(group, "group offset=committedOffset epoch=committedEpoch time=commitTime standing")
