"""What was seen, read and left open, as a part of the JSON document."""

from __future__ import annotations

from auditor.report.model import AuditReport, Coverage, MissingReplica
from auditor.report.named_places import PLACES_TOLD, listed

Json = dict[str, object]


def _missing(missing: MissingReplica) -> Json:
    return {
        "clusterId": missing.cluster_id,
        "topic": missing.topic,
        "partition": missing.partition,
        "broker": missing.broker,
        "heldBy": list(missing.held_by),
    }


def _scope(coverage: Coverage) -> Json:
    scope = coverage.scope
    return {
        "words": scope.words,
        "kinds": list(scope.kinds),
        "absent": list(scope.absent),
        "partly": list(scope.partly),
        "cutShort": list(scope.cut_short),
        "begunLate": list(scope.begun_late),
        "holed": list(scope.holed),
        "requestsHoled": list(scope.requests_holed),
        "partitionsBeforeLogs": scope.before_logs,
        "metadataUntold": scope.metadata_untold,
        "filesLacking": [
            {"kind": each.noun, "due": each.due, "paths": list(each.paths), "opens": each.opens} for each in scope.files
        ],
        "replicasHere": scope.replicas_here,
        "replicasAssigned": scope.replicas_assigned,
        "partial": scope.partial,
    }


def coverage_document(report: AuditReport) -> Json:
    """The ledger as plain values."""
    coverage = report.coverage
    return {
        "clusters": coverage.clusters,
        "brokers": coverage.brokers,
        "partitions": coverage.partitions,
        "replicasSeen": coverage.replicas_seen,
        "replicasMissing": coverage.replicas_away,
        "replicasLacking": coverage.replicas_lacking,
        "missingReplicas": [_missing(missing) for missing in coverage.missing],
        "replicasAssignedElsewhere": coverage.replicas_assigned_elsewhere,
        "assignedElsewhere": [_missing(missing) for missing in coverage.assigned_elsewhere],
        "bytesSeen": coverage.bytes_seen,
        "bytesRead": coverage.bytes_read,
        "bytesRefused": coverage.bytes_refused,
        "offsetsCovered": coverage.offsets_covered,
        "offsetsCompared": coverage.offsets_compared,
        "batches": coverage.batches,
        "checksumsVerified": coverage.checksums_verified,
        "filesSeen": coverage.files_seen,
        "filesUnread": coverage.files_unread,
        "firstTimestamp": coverage.first_timestamp,
        "lastTimestamp": coverage.last_timestamp,
        "ratio": coverage.ratio,
        "logTimes": [{"timezone": times.timezone, "brokers": list(times.brokers)} for times in coverage.log_times],
        "scope": _scope(coverage),
        "absentLogs": [{"kinds": list(a.kinds), "brokers": list(a.brokers)} for a in coverage.absent_logs],
        "contradictedReleases": [
            {"broker": each.broker, "given": each.given, "told": each.logged} for each in coverage.contradicted_releases
        ],
        "unnamedTopics": [
            {
                "clusterId": each.cluster_id,
                "topicId": each.topic_id,
                "partitions": list(each.partitions),
                "statements": each.statements,
                "names": list(each.names),
            }
            for each in coverage.unnamed
        ],
        "undecided": [
            {
                "rule": point.rule,
                "reason": point.reason,
                "missing": point.missing,
                "partitions": point.partitions,
                "places": listed(point.places[:PLACES_TOLD]),
                "blocking": point.blocking,
                "askedAtLevel": point.asked_at_level,
            }
            for point in coverage.undecided
        ],
    }
