"""The account of a partition's availability as the JSON report holds it."""

from __future__ import annotations

from typing import Final

from auditor.document_fields import Json, fields
from auditor.report.model import PlacedAvailability

_STATE: Final = (
    "epoch=leaderEpoch partition_epoch leader isr out_of_sync=osr assigned eligible clock time=since until milliseconds"
    " next_told min_in_sync min_in_sync_sure conditions=exposed span=evidence"
)
_EXPOSURE: Final = "condition states milliseconds untimed=statesUntimed lasting sure offsets ranges=offsetRanges"
_SAFEGUARD: Final = "name value whose certain allowed instead set_at=evidence"


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
