"""What was seen, read and left open, as a part of the JSON document."""

from __future__ import annotations

from typing import Final

from auditor.document_fields import Json, fields
from auditor.report.model import AuditReport, Coverage, UndecidedLine
from auditor.report.named_places import PLACES_TOLD, listed

_MISSING: Final = "cluster_id topic partition broker held_by"


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
        **fields(coverage, "checksums_verified files_seen files_unread first_timestamp last_timestamp ratio log_times"),
        "scope": _scope(coverage),
        "absentLogs": [fields(each) for each in coverage.absent_logs],
        "contradictedReleases": [fields(each, "broker given logged=told") for each in coverage.contradicted_releases],
        "unnamedTopics": [fields(each) for each in coverage.unnamed],
        "undecided": [_undecided(point) for point in coverage.undecided],
    }
