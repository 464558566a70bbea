"""Read the copies that still stand of records that are missed: who wrote them, when, and how much it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs
from msgspec.structs import replace

from auditor.engines.opened.opening import entry_at, still_there
from auditor.engines.witnesses.statements_of_rows import known
from auditor.engines.witnesses.texts import is_text
from parsers.files import place_of
from parsers.provenance import Origin, Span
from parsers.records import decode_entry
from parsers.segment import scan_source
from rules.evidence import Level, PartitionEvidence
from rules.facts.surviving_copies import CopiedBatch, CopyRead
from rules.loss.incurred import Loss, losses
from rules.loss.survivors import Survivor
from rules.protocol.offsets import without
from rules.zoom.differences import with_differences

BATCHES_KEPT: Final = 200_000
KEYS_KEPT: Final = 100_000
"""Of one stretch: beyond these bounds it is told as read in part."""
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_DELETE_HORIZON: Final = 0x40


def read_aftermath(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with what its losses ask for; as it is where nothing is missed."""
    if not any(loss.matters for loss in losses(evidence)):
        return evidence
    # Without epochs only the differences tell which copy holds the lost records.
    missed = [loss for loss in losses(with_differences(evidence)) if loss.matters]
    copies = tuple(copy for loss in missed for copy in _copies(loss, evidence.level, dump))
    return replace(evidence, aftermath=copies)


def _copies(loss: Loss, level: Level, dump: str) -> Iterator[CopyRead]:
    """Each lost offset from one copy, a sound and lasting one where there is a choice."""
    taken: list[tuple[int, int]] = []
    for survivor in sorted(loss.survivors, key=lambda survivor: not survivor.sound):
        for start, end in [*without(survivor.start_offset, survivor.end_offset, taken)]:
            taken.append((start, end))
            yield read_copy(structs.replace(survivor, start_offset=start, end_offset=end), loss.epoch, level, dump)


def read_copy(stretch: Survivor, lost_epoch: int, level: Level, dump: str) -> CopyRead:
    """What a copy holds of the lost offsets, batch by batch."""
    batches: list[CopiedBatch] = []
    believed = True
    for row, source in _rows(stretch, dump):
        if len(batches) == BATCHES_KEPT:
            believed = False
            break
        if row["crc_valid"] is False:
            believed = False
        elif (batch := _batch(row, source, dump)).base_offset < stretch.end_offset:
            batches.append(batch)
    hashes, nulls = _keys(batches, stretch, dump) if level == "deep" else (None, 0)
    return CopyRead(
        path=stretch.path,
        lost_epoch=lost_epoch,
        start_offset=stretch.start_offset,
        end_offset=stretch.end_offset,
        batches=tuple(batches),
        key_hashes=hashes,
        null_keys=nulls,
        complete=believed and bool(batches),
    )


def _rows(stretch: Survivor, dump: str) -> Iterator[tuple[dict[str, Any], str]]:
    for span in stretch.spans:
        if is_text(place_of(dump, span.source)):  # it does not keep the bytes of records
            continue
        before = stretch.start_offset - 1
        for chunk in scan_source(dump, Origin(source=span.source), start=span.start, end=span.end, listed=span.end):
            headers = still_there(chunk).headers
            # A wrapper of an old format names its last message alone: it begins behind the batch before it.
            ends = [before, *headers["last_offset"].to_pylist()]
            base = pc.coalesce(headers["base_offset"], pc.add(pa.array(ends[:-1], pa.int64()), 1))
            before = ends[-1]
            after = pc.greater_equal(headers["last_offset"], stretch.start_offset)
            inside = headers.filter(pc.and_(after, pc.less(base, stretch.end_offset)))
            for row in inside.to_pylist():
                if (-1 if row["leader_epoch"] is None else row["leader_epoch"]) == stretch.epoch:
                    yield row, span.source


def _batch(row: Mapping[str, Any], source: str, dump: str) -> CopiedBatch:
    span = Span(source=source, start=row["span_start"], end=row["span_end"])
    end, attributes = row["last_offset"] + 1, row["attributes"] or 0
    base, records = row["base_offset"], row["record_count"]
    if base is None:  # only decompression tells what an old format's wrapper holds
        offsets = [r.offset for r in decode_entry(entry_at(dump, span), Origin(source=""), 0).rows]
        base, records = min(offsets, default=row["last_offset"]), len(offsets)
    last = known(row["max_timestamp"])
    # Where the log cleaner has set a delete horizon it stands in the place of the first timestamp.
    first = last if attributes & _DELETE_HORIZON else known(row["base_timestamp"])
    return CopiedBatch(
        base_offset=base,
        end_offset=end,
        records=end - base if records is None else records,
        size=row["size"],
        first_timestamp=last if first is None else first,
        last_timestamp=last,
        producer_id=_or_none(row["producer_id"]),
        producer_epoch=_or_none(row["producer_epoch"]),
        base_sequence=_or_none(row["base_sequence"]),
        transactional=bool(attributes & _TRANSACTIONAL),
        control=bool(attributes & _CONTROL),
        span=span,
    )


def _or_none(number: int | None) -> int:
    return -1 if number is None else number


def _keys(batches: Sequence[CopiedBatch], stretch: Survivor, dump: str) -> tuple[tuple[str, ...] | None, int]:
    """Hashes of the keys, and how many records have none; None where a batch could not be decoded or keys are many."""
    found: set[str] = set()
    nulls = 0
    for batch in batches:
        if batch.control:
            continue
        parsed = decode_entry(entry_at(dump, batch.span), Origin(source=""), 0)
        if parsed.refusals or len(found) > KEYS_KEPT:
            return None, 0
        for row in parsed.rows:
            if stretch.start_offset <= row.offset < stretch.end_offset:
                found.update([row.key_hash] if row.key_hash is not None else [])
                nulls += row.key_hash is None
    return tuple(sorted(found)), nulls
