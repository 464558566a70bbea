"""Where transactional ids stand when a partition of `__transaction_state` ends: the last state of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from parsers.internal_topics.record import InternalRecord
from parsers.internal_topics.transaction_states import transaction_history
from parsers.provenance import Origin
from parsers.tables import Refusal
from parsers.tables.metadata import Transaction

LIMIT: Final = 20_000
"""Transactional ids of one partition that are kept: every judge is told of them all."""


class LatestStates(Struct, frozen=True, kw_only=True):
    """The last state of every transactional id, and how far the log is one that tells all of them."""

    transactions: tuple[Transaction, ...] = ()
    latest_time: int | None = None
    """The latest time of a record, by the coordinator's clock."""
    left_out: int = 0
    """Transactional ids for which there was no room."""
    refusals: tuple[Refusal, ...] = ()


def latest_states(records: Iterable[InternalRecord], origin: Origin, limit: int = LIMIT) -> LatestStates:
    """What a coordinator that loads the partition would hold: only what is kept of it is decoded."""
    kept: dict[bytes, InternalRecord] = {}
    left_out: set[bytes] = set()
    latest = -1
    for record in records:
        latest = max(latest, record.timestamp)
        if record.control_type is not None or record.key is None:
            continue
        if record.value is None:
            kept.pop(record.key, None)
        elif record.key in kept or len(kept) < limit:
            kept[record.key] = record
        elif len(left_out) < limit:
            left_out.add(record.key)
    history = transaction_history(kept.values(), origin)
    return LatestStates(
        transactions=history.transactions,
        latest_time=latest if latest >= 0 else None,
        left_out=len(left_out),
        refusals=history.refusals,
    )
