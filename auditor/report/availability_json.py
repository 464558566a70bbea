"""The account of a partition's availability as the JSON report holds it."""

from __future__ import annotations

from auditor.report.model import Exposure, PlacedAvailability, Safeguard, StateRow

Json = dict[str, object]


def availability_document(placed: PlacedAvailability) -> Json:
    """One partition's states, exposures and settings."""
    account = placed.availability
    return {
        "clusterId": placed.cluster_id,
        "topic": placed.topic,
        "partition": placed.partition,
        "statesTold": account.rows_told,
        "states": [_state(row) for row in account.rows],
        "exposures": [_exposure(exposure) for exposure in account.exposures],
        "settings": [_safeguard(safeguard) for safeguard in account.safeguards],
        "notTold": list(account.silences),
    }


def _state(row: StateRow) -> Json:
    return {
        "leaderEpoch": row.epoch,
        "partitionEpoch": row.partition_epoch,
        "leader": row.leader,
        "isr": list(row.isr),
        "osr": None if row.out_of_sync is None else list(row.out_of_sync),
        "assigned": None if row.assigned is None else list(row.assigned),
        "eligible": None if row.eligible is None else list(row.eligible),
        "clock": row.clock,
        "since": row.time,
        "until": row.until,
        "milliseconds": row.milliseconds,
        "nextTold": row.next_told,
        "minInSync": row.min_in_sync,
        "minInSyncSure": row.min_in_sync_sure,
        "exposed": list(row.conditions),
        "evidence": {"path": row.span.source, "start": row.span.start, "end": row.span.end},
    }


def _exposure(exposure: Exposure) -> Json:
    return {
        "condition": exposure.condition,
        "states": exposure.states,
        "milliseconds": exposure.milliseconds,
        "statesUntimed": exposure.untimed,
        "lasting": exposure.lasting,
        "sure": exposure.sure,
        "offsets": [[start, end] for start, end in exposure.offsets],
        "offsetRanges": exposure.ranges,
    }


def _safeguard(safeguard: Safeguard) -> Json:
    where = safeguard.set_at
    return {
        "name": safeguard.name,
        "value": safeguard.value,
        "whose": safeguard.whose,
        "certain": safeguard.certain,
        "allowed": safeguard.allowed,
        "instead": safeguard.instead,
        "evidence": None if where is None else {"path": where.source, "start": where.start, "end": where.end},
    }
