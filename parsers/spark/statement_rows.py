"""Rows of what was told over time: request logs, broker logs, the metadata log and the coordinators' topics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO, Final, cast

import pyarrow as pa
from msgspec.structs import replace

from parsers.broker_log import (
    DEFAULT_PATTERN,
    HEAD_BYTES,
    EntryLayout,
    GzipText,
    LogPart,
    Reading,
    given_for,
    instant_of,
    parse_layout,
    read_log,
    wall_clock,
    written_as,
)
from parsers.files import GZIP, place_of
from parsers.internal_topics import InternalRecord, group_history, internal_record, transaction_history
from parsers.metadata_log import MetadataInput, metadata_history, metadata_input
from parsers.provenance import Origin
from parsers.request_log import EVERY_API, NOTHING, RequestColumns, SessionState, Trace
from parsers.request_log.batches import batches_of as batches_in
from parsers.spark.asked_table import INSTANT, TableRequest
from parsers.spark.disk_rows import SMALL, decoded, small_rows
from parsers.spark.row_batches import batches_of
from parsers.spark.slices import FilePart
from parsers.tables import Refusal

_TRANSACTIONAL: Final = 0x10
_ROWS: Final = 1 << 14
"""Rows that are gathered before they travel."""


def event_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Events of broker logs."""
    for part in parts:
        yield from (timed(stretch.events, request) for stretch in _broker_log(part, request) if stretch.events.num_rows)


def setting_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Settings that brokers printed when they started, and those of their properties files."""
    for part in parts:
        if part.kind in SMALL:
            yield from (timed(rows, request) for rows in small_rows([part], request))
            continue
        printed = (stretch.settings for stretch in _broker_log(part, request, settings=True))
        yield from (timed(settings, request) for settings in printed if settings.num_rows)


def timed(rows: pa.RecordBatch, request: TableRequest) -> pa.RecordBatch:
    """The rows with their instants, where zones were told."""
    if not request.log_timezones:
        return rows
    times: dict[tuple[int | None, str | None], int | None] = {}
    places = list(zip(rows["broker"].to_pylist(), rows["time_text"].to_pylist(), strict=True))
    for broker, text in dict.fromkeys(places):
        zones = given_for(broker, request.log_timezones)
        times[broker, text] = instant_of(zones[0])(wall_clock(text)) if zones and text else None
    return rows.append_column(INSTANT, pa.array([times[place] for place in places], pa.int64()))


def _broker_log(part: FilePart, request: TableRequest, *, settings: bool = False) -> Iterator[LogPart]:
    with ExitStack() as opened:
        file = opened.enter_context(place_of(request.path, part.origin.source).open("rb"))
        compressed = file.read(2) == GZIP
        file.seek(0)
        reading = Reading(origin=part.origin, settings=settings, layout=_layout(file, part, request, packed=compressed))
        if not compressed:
            yield from read_log(file, reading, start=part.start, end=part.end if part.end < part.size else None)
        elif part.start == 0:
            # Packed text has no lines to cut at: its first part reads it all, the others nothing.
            yield from read_log(cast("BinaryIO", opened.enter_context(GzipText(file))), reading)


def _layout(file: BinaryIO, part: FilePart, request: TableRequest, *, packed: bool) -> EntryLayout:
    """The layout by which most lines at the beginning of a log begin entries; Kafka's own where none does."""
    usual = parse_layout(DEFAULT_PATTERN)
    patterns = given_for(part.origin.broker, request.log_patterns)
    if not patterns:
        return usual
    head = (cast("BinaryIO", GzipText(file)) if packed else file).read(HEAD_BYTES)
    file.seek(0)
    written = written_as(head, [*map(parse_layout, patterns), usual])
    return usual if written is None or written.wrapping != "plain" else written.layout


def fetch_rows(
    parts: Sequence[FilePart], request: TableRequest, before: SessionState = NOTHING
) -> Iterator[pa.RecordBatch]:
    """Fetches with their sessions rebuilt, file by file; `before` holds the sessions that a first part goes on with."""
    for part in parts:
        for piece in _trace(part, request, frozenset(("FETCH",)), before).read():
            if isinstance(piece, RequestColumns):
                yield from batches_in(piece, part.origin, request.row_class)


REQUESTS: Final = {
    "produces": frozenset(("PRODUCE",)),
    "epoch_requests": frozenset(("OFFSET_FOR_LEADER_EPOCH", "OFFSETS_FOR_LEADER_EPOCH")),
    "offset_requests": frozenset(("LIST_OFFSETS",)),
    "isr_requests": frozenset(("ALTER_PARTITION", "ALTER_ISR", "LEADER_AND_ISR", "METADATA")),
    "request_events": frozenset((
        "STOP_REPLICA", "CONTROLLED_SHUTDOWN", "BROKER_REGISTRATION", "WRITE_TXN_MARKERS", "DELETE_RECORDS",
    )),
}  # fmt: skip
"""Tables of requests other than fetches, and of which requests."""


def request_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """Requests other than fetches."""
    for part in parts:
        rows = list[object]()
        for piece in _trace(part, request, REQUESTS[request.table]).read():
            if isinstance(piece, RequestColumns):
                yield from batches_in(piece, part.origin, request.row_class)
            elif isinstance(piece, request.row_class):
                rows.append(piece)
            if len(rows) > _ROWS:
                yield from batches_of(rows, request.row_class)
                rows = []
        yield from batches_of(rows, request.row_class)


def _trace(part: FilePart, request: TableRequest, apis: Collection[str], before: SessionState = NOTHING) -> Trace:
    path, patterns = place_of(request.path, part.origin.source), given_for(part.origin.broker, request.log_patterns)
    end = part.end if part.end < part.size else None
    return Trace(path, part.origin, part.start, end, before=before, apis=apis, runs=False, patterns=patterns)


METADATA: Final = {
    "metadata_changes": "partitions",
    "topic_changes": "topics",
    "broker_changes": "brokers",
    "config_changes": "configs",
    "feature_changes": "features",
    "quorum_changes": "quorum",
}
"""Tables of the metadata log, and where its history keeps them."""


def metadata_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """What one node's copy of the metadata log tells, from its beginning."""
    inputs: Iterator[MetadataInput] = (
        metadata_input(row)
        for part in parts
        for _, parsed in decoded(part, request, payloads=True)
        for row in parsed.rows
    )
    history = metadata_history(inputs, _directory(parts))
    yield from batches_of(getattr(history, METADATA[request.table]), request.row_class)


COORDINATORS: Final = {"group_offsets": "offsets", "groups": "groups", "transactions": "transactions"}
"""Tables of the coordinators' topics, and where their histories keep them."""


def coordinator_rows(parts: Sequence[FilePart], request: TableRequest) -> Iterator[pa.RecordBatch]:
    """What one replica of a coordinator's partition tells, from its beginning."""
    read = transaction_history if request.table == "transactions" else group_history
    if request.table == "transactions" and not request.admits_topic(parts[0].origin.topic):
        return  # its rows are of the coordinators' topic alone; what groups committed is of the topics they read
    history = read(_internal_records(parts, request), _directory(parts))
    yield from batches_of(getattr(history, COORDINATORS[request.table]), request.row_class)


def _internal_records(parts: Sequence[FilePart], request: TableRequest) -> Iterator[InternalRecord]:
    for part in parts:
        for (producer_id, attributes), parsed in decoded(part, request, payloads=True):
            transactional = bool((attributes or 0) & _TRANSACTIONAL)
            for row in parsed.rows:
                given = -1 if producer_id is None else producer_id
                yield internal_record(row, producer_id=given, transactional=transactional)


def _directory(parts: Sequence[FilePart]) -> Origin:
    """The origin of a replica's directory, whose files the parts are."""
    first = parts[0].origin
    return replace(first, source=first.source.rpartition("/")[0] or ".")


def told_refusals(part: FilePart, request: TableRequest) -> Iterator[Refusal]:
    """What could not be read of a log over time."""
    if part.kind == "request-log":
        read = _trace(part, request, EVERY_API).read()
        yield from (each for each in read if isinstance(each, Refusal))
    else:
        for stretch in _broker_log(part, request):
            yield from stretch.refusals
