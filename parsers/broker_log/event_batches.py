"""Lines that were found, made into an Arrow batch of events a column at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from parsers.broker_log.catalogue import TOLD, Matcher
from parsers.broker_log.wording import Event
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import BrokerEvent, EventKind, Refusal, TrustLevel, arrow_schema, no_rows

Head: TypeAlias = tuple[int, int, bytes | None, bytes | None, bytes | None, bytes | None]
"""What stands around a message: first byte and last byte of the line, time, level, logger, prefix."""
Hit: TypeAlias = tuple[int | str | bytes | None, ...]
"""A row to be: which line it is of, then what stands in the holes.

Plain and flat, because there are millions, and the collector of garbage leaves a tuple of plain things alone.
"""
_HEAD: Final = ("span_start", "span_end", "time_text", "level", "logger", "prefix")
_SCHEMA: Final = arrow_schema(BrokerEvent)
NO_EVENTS: Final = no_rows(BrokerEvent)


def batch_of(
    heads: Sequence[Head], hits: Mapping[Matcher, list[Hit]], origin: Origin
) -> tuple[pa.RecordBatch, list[Refusal]]:
    """The rows of all hits in the order of their lines, and a refusal for each line whose numbers no column can hold."""
    try:
        return _batch(heads, hits, origin), []
    except (OverflowError, ValueError):
        unfit: list[Hit] = []
        tried = {matcher: _sound(heads, matcher, found, unfit) for matcher, found in hits.items()}
        sound = {matcher: found for matcher, found in tried.items() if found}
        return _batch(heads, sound, origin), [_refusal(heads, hit, origin) for hit in unfit]


def _sound(heads: Sequence[Head], matcher: Matcher, hits: list[Hit], unfit: list[Hit]) -> list[Hit]:
    """The hits that give rows; halves are tried, so that a few bad lines among many cost little."""
    try:
        _filled_columns(heads, {matcher: hits})
    except (OverflowError, ValueError):
        if len(hits) == 1:
            unfit += hits
            return []
        middle = len(hits) // 2
        return [hit for half in (hits[:middle], hits[middle:]) for hit in _sound(heads, matcher, half, unfit)]
    return hits


def _refusal(heads: Sequence[Head], hit: Hit, origin: Origin) -> Refusal:
    found = b" ".join(group for group in hit[1:] if isinstance(group, bytes))
    start, end, *_ = heads[int(hit[0] or 0)]
    return refuse(origin, "malformed", start, end, expected="numbers that Kafka can hold", found=found)


def _batch(
    heads: Sequence[Head], hits: Mapping[Matcher, list[Hit]], origin: Origin
) -> pa.RecordBatch:
    """The rows with what their kinds and the file's place tell, in the order of their lines; items of one line keep theirs."""
    if not hits:
        return NO_EVENTS
    columns, events = _filled_columns(heads, hits)
    for name, few in _of_events([matcher.event for matcher in hits]).items():
        columns[name] = [pa.array(few, _SCHEMA.field(name).type).take(events)]
    arrays: list[pa.Array] = []
    for column in _SCHEMA:
        known, place = columns[column.name], pa.scalar(getattr(origin, column.name, None), column.type)
        if place.is_valid or not known:
            known.append(pa.repeat(place, len(events)))
        # Where the line tells it itself, its prefix does not count, and where that does, the file's place does not.
        arrays.append(known[0] if len(known) == 1 else pc.coalesce(*known))
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _filled_columns(heads: Sequence[Head], hits: Mapping[Matcher, list[Hit]]) -> tuple[defaultdict[str, list[pa.Array]], pa.Array]:
    """For each column what fills it, holes before prefixes, and of which matcher each row is.

    Rows are in the order of their lines; items of one line keep theirs.
    """
    counts = [len(found) for found in hits.values()]
    holes: defaultdict[str, list[int | str | bytes | None]] = defaultdict(lambda: [None] * sum(counts))
    first = 0
    for (matcher, found), count in zip(hits.items(), counts, strict=True):
        held = list(zip(*found, strict=True))
        for name, place in matcher.holes.items():
            holes[name][first : first + count] = held[place]
        first += count
    lines = np.array(holes.pop("line"), np.int64)
    order = np.argsort(lines, kind="stable")
    around = zip(*map(heads.__getitem__, lines[order].tolist()), strict=True)
    places = pa.array(order)
    columns: defaultdict[str, list[pa.Array]] = defaultdict(list)
    for name, values in holes.items():
        _read(name, pa.array(values).take(places), columns)
    for name, texts in zip(_HEAD, around, strict=True):
        _read(name, pa.array(texts), columns)
    return columns, pa.array(np.repeat(np.arange(len(counts)), counts)[order])


def _read(name: str, held: pa.Array, filled: Mapping[str, list[pa.Array]]) -> None:
    """Adds to columns what a hole holds; every different text is read once."""
    if name not in TOLD:
        filled[name].append(held.cast(_SCHEMA.field(name).type))
        return
    columns, convert = TOLD[name]
    different = held.cast(pa.binary()).dictionary_encode()
    read = [convert(text) for text in different.dictionary.to_pylist()]
    for column, values in zip(columns, zip(*read, strict=True) if len(columns) > 1 else [read], strict=False):
        filled[column].append(pa.array(values, _SCHEMA.field(column).type).take(different.indices))


def _of_events(events: Iterable[Event]) -> dict[str, Sequence[str | None]]:
    trusts = [(event, trust_of(event.kind)) for event in events]
    return {
        "kind": [event.kind for event, _ in trusts],
        "trust": [trust.level for _, trust in trusts],
        "trust_reason": [trust.reason for _, trust in trusts],
        "doubtful": [",".join(trust.doubtful) or None for _, trust in trusts],
    }


class Trust(Struct, frozen=True, kw_only=True):
    """The belief that a line deserves in the release that prints it worst, and the columns that some print wrongly."""

    level: TrustLevel = "high"
    reason: str | None = None
    doubtful: tuple[str, ...] = ()


BELIEVED: Final = Trust()
_NOISE: Final = Trust(
    reason="printed at most ordinary leader changes; a defect only if the partition is not fetched again afterwards"
)
_REWORDED: Final = Trust(level="medium", reason="the wording differs by release")

TRUST: Final[dict[EventKind, Trust]] = {
    "truncating-below-high-watermark": Trust(
        level="low",
        reason="from 2.8 up to 3.4.0 the follower may have taken the leader's watermark before truncating, so that only "
        "uncommitted records went; rarely printed from 2.4 up to 4.2, where silence tells nothing",
    ),
    "non-monotonic-high-watermark": Trust(
        level="medium",
        reason="not printed before 2.8; up to 3.4.0 the follower may have raised its watermark to the leader's before "
        "truncating",
        doubtful=("previous_offset",),
    ),
    "follower-starts": Trust(
        level="medium",
        reason="from 3.6 up to 4.2 the new leader and epoch are printed as the previous ones",
        doubtful=("previous_epoch", "previous_leader"),
    ),
    "reset-fetch-offset-to-start": Trust(
        level="low", reason="up to 3.5 also printed when nothing is truncated; look for a truncation behind it"
    ),
    "isr-shrinking": Trust(level="medium", reason="since 2.7 a proposal until the controller commits it"),
    "isr-expanding": Trust(
        level="medium", reason="since 2.8 a proposal until the controller commits it, and not printed at INFO"
    ),
    "isr-updated": Trust(reason="shrinks made by the controller print no such line"),
    "unclean-election": Trust(
        level="medium",
        reason="ZooKeeper controllers from 1.1 up to 2.8 print nothing; since 4.0 elections from the eligible leader "
        "replicas, which lose nothing, may be printed as UNCLEAN; a change to leader -1 is no election",
    ),
    "fetcher-added": Trust(
        level="medium",
        reason="up to 1.0 the offset is the log end offset, up to 2.7 the high watermark; since 2.8 it is the log end "
        "offset, or the high watermark where no epochs are known",
    ),
    "replica-loaded": Trust(
        level="medium",
        reason="printed for every assigned replica, the remote ones with 0: the local one is the largest of the group",
    ),
    "epoch-cache-updated": Trust(reason="the count is that before the new entry", doubtful=("count",)),
    "older-epoch": _NOISE,
    "newer-epoch": _NOISE,
    "marked-as-failed": _NOISE,
    "leader-and-isr-ignored": Trust(reason="a benign repeat of a request"),
    "controller-changed-partition": _REWORDED,
    "controller-shrunk-isr": _REWORDED,
    "segment-recovered": Trust(reason="benign for __cluster_metadata, which is recovered at every start"),
    "fetch-processing-error": Trust(level="medium", reason="the exception behind it decides what it means"),
}
"""Kinds that are missing here are believed as they stand."""


def trust_of(kind: EventKind) -> Trust:
    """The trust of a kind of line: the least that any release gives."""
    return TRUST.get(kind, BELIEVED)
