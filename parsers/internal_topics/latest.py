"""The offsets that stand committed where a partition of `__consumer_offsets` ends: one a group and partition read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from parsers.internal_topics.groups import group_history
from parsers.internal_topics.record import InternalRecord
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal
from parsers.tables.metadata import GroupOffset

_OFFSET_KEYS: Final = (b"\x00\x00", b"\x00\x01")
_COMMIT: Final = 1
LIMIT: Final = 200_000
"""Keys of one partition that are kept: a group and a partition that it reads."""


class LatestCommits(Struct, frozen=True, kw_only=True):
    """The last commit of every group and partition that is in force, and what could not be told."""

    offsets: tuple[GroupOffset, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def latest_commits(records: Iterable[InternalRecord], origin: Origin, limit: int = LIMIT) -> LatestCommits:
    """What a coordinator that loads the partition would hold: only what is kept of it is decoded.

    Offsets committed in a transaction count from its commit marker on; those of an open transaction do not.
    """
    kept: dict[bytes, InternalRecord] = {}
    pending: dict[int, dict[bytes, InternalRecord]] = {}
    waiting = 0
    left_out: InternalRecord | None = None
    for record in records:
        if record.control_type is not None:
            settled = pending.pop(record.producer_id, {})
            waiting -= len(settled)
            for key, commit in settled.items() if record.control_type == _COMMIT else ():
                left_out = _keep(kept, key, commit, limit) or left_out
        elif record.key is not None and record.key[:2] in _OFFSET_KEYS:
            if record.transactional:
                own = pending.setdefault(record.producer_id, {})
                before = len(own)
                # What waits for its marker is bounded over all producers together.
                left_out = _keep(own, record.key[2:], record, before + limit - waiting) or left_out
                waiting += len(own) - before
            else:
                left_out = _keep(kept, record.key[2:], record, limit) or left_out
    history = group_history((record for record in kept.values() if record.value is not None), origin)
    refusals = history.refusals + (() if left_out is None else (_too_many(left_out, origin, limit),))
    return LatestCommits(offsets=history.offsets, refusals=refusals)


def _keep(kept: dict[bytes, InternalRecord], key: bytes, record: InternalRecord, limit: int) -> InternalRecord | None:
    """Take a commit for the last one of its key, unless a later one stands; the record itself if there is no room."""
    before = kept.get(key)
    if before is None and len(kept) >= limit:
        return record
    if before is None or before.offset < record.offset:
        kept[key] = record
    return None


def _too_many(record: InternalRecord, origin: Origin, limit: int) -> Refusal:
    expected = f"committed offsets of at most {limit} groups and partitions in one log"
    found = f"more, the last at offset {record.offset}"
    return refuse(origin, "too_large", record.span.start, record.span.end, expected=expected, found=found)
