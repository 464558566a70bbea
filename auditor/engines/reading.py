"""From a unit of work to facts: the only place where readers and folds meet. Both engines run exactly this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from auditor.engines.decoding import Decoding
from auditor.engines.held_indexes import HeldIndexes
from auditor.engines.last_resort import read_or_refused, unforeseen
from auditor.engines.opened.opening import refuse_misnamed, unread_file
from auditor.engines.opened.unit_facts import replica_fact, unit_fact, unread_fact
from auditor.engines.plan.pieces import Piece
from auditor.engines.plan.units import LOG_KINDS, OF_COORDINATORS, TOLD_KINDS, ReadUnit, UnitKind
from auditor.engines.uncollected import uncollected
from auditor.engines.witnesses.coordinator_states import read_transactions
from auditor.engines.witnesses.group_commits import read_groups
from auditor.engines.witnesses.log_statements import read_logs, read_trace
from auditor.engines.witnesses.remote_copies import read_remote_segments
from auditor.engines.witnesses.texts import read_texts
from parsers.checkpoints import (
    OFFSET_CHECKPOINTS,
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
    read_producer_snapshot,
    read_quorum_state,
)
from parsers.files import read_source
from parsers.provenance import FileKind, Span, row_span
from parsers.request_log import NOTHING, SessionState
from parsers.segment import Links, SegmentChunk, scan_source, unread_chunk
from parsers.tables import CheckpointKind, OffsetCheckpoint, Refusal
from rules.evidence import EpochClaim, EpochFile, Leftover, Level, OffsetClaim, ProducerClaim, SegmentFile
from rules.facts.join import join_all
from rules.facts.stretch import UNOPENED, LogFacts
from rules.narrow.facts import DirectoryFacts, Fact, RootClaims
from rules.narrow.fold import fold

FOLD_ROWS: Final = 1 << 15
"""Batch headers folded at once; a unit of tiny batches is folded in several stretches and joined."""
SNAPSHOTS_READ: Final = 2
"""Producer snapshots of a replica, the newest: since 2.8 there is one a segment, and older ones tell less."""

Stretch = tuple[str, int]
"""A file and the byte at which a stretch of it begins."""


class UnitReader:
    """Reads units in their order; the stretches of a request log hand their fetch sessions on.

    Where the stretches before are read elsewhere, `before` gives the sessions that they leave.
    """

    __slots__ = ("_before", "_links", "_sessions")

    def __init__(self, before: Mapping[Stretch, SessionState] | None = None) -> None:
        self._before = before or {}
        self._links = Links()
        self._sessions: dict[str | None, SessionState] = {}

    def read(self, unit: ReadUnit, level: Level) -> Sequence[Fact]:
        """All facts that a unit gives."""
        with uncollected():
            if unit.kind != "request-log":
                return read_or_refused(lambda part: read_unit(part, level, self._links), unit)
            before = self._before.get(stretch_of(unit)) or self._sessions.pop(unit.chain, NOTHING)
            return read_or_refused(lambda part: self._read_trace(part, before), unit)

    def _read_trace(self, unit: ReadUnit, before: SessionState) -> Sequence[Fact]:
        facts, self._sessions[unit.chain] = read_trace(unit, before)
        return facts


def stretch_of(unit: ReadUnit) -> Stretch:
    """The stretch of a request log that a unit is."""
    return unit.pieces[0].source, unit.pieces[0].start


def read_unit(unit: ReadUnit, level: Level, links: Links | None = None) -> tuple[Fact, ...]:
    """All facts that a unit gives by itself; `links` are of the stretches that were read before it."""
    if unit.kind == "log":
        indexes = HeldIndexes(unit)
        log = read_log(unit, level, links or Links(), indexes)
        seen = sum(piece.end - piece.start for piece in unit.pieces)
        return (replica_fact(unit, log=log, indexes=indexes.facts, bytes_seen=seen, bytes_read=seen),)
    if unit.kind in OF_COORDINATORS and level == "quick":
        return ()  # headers alone tell no commit, and no transaction's state
    return tuple(_READERS[unit.kind](unit))


def read_log(unit: ReadUnit, level: Level, links: Links, indexes: HeldIndexes) -> LogFacts:
    """The facts of a stretch of log, whose batches go by its indexes; at level deep with every record decoded."""
    sources = [piece.source for piece in unit.pieces]
    decoding = Decoding() if level == "deep" else None
    read = _stretches(unit, level, links, indexes, decoding)
    facts = join_all([fold(headers, sources, refusals) for headers, refusals in read])
    return facts if decoding is None else decoding.added_to(facts)


def _stretches(
    unit: ReadUnit, level: Level, links: Links, indexes: HeldIndexes, decoding: Decoding | None
) -> Iterator[tuple[pa.RecordBatch, list[Refusal]]]:
    """Headers in physical order with the index of their file, a bounded number at a time."""
    batches: list[pa.RecordBatch] = []
    refusals: list[Refusal] = []
    rows = 0
    for file, piece in enumerate(unit.pieces):
        indexes.begin(piece)
        for chunk in _scan(unit, piece, level, links):
            indexes.go_by(piece, chunk)
            if decoding is not None:
                decoding.go_by(chunk, unit.origin(piece.source))
            index = pa.repeat(pa.scalar(file, pa.int32()), chunk.headers.num_rows)
            batches.append(chunk.headers.append_column("file", index))
            refusals.extend(chunk.refusals)
            rows += chunk.headers.num_rows
            if rows >= FOLD_ROWS:
                yield _as_one(batches), refusals
                batches, refusals, rows = [], [], 0
    if batches:
        yield _as_one(batches), refusals


def _as_one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Most logs are small, and are one batch already."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _scan(unit: ReadUnit, piece: Piece, level: Level, links: Links) -> Iterator[SegmentChunk]:
    origin = unit.origin(piece.source)
    try:
        yield from scan_source(
            unit.dump,
            origin,
            start=piece.start,
            end=piece.end,
            listed=piece.size,
            links=links,
            verify=level != "quick",
            entries=level == "deep",
        )
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the other segments of the log can be read
        yield unread_chunk(unforeseen(unit, piece, error), verify=level != "quick")


def _read_directory(unit: ReadUnit) -> DirectoryFacts:
    epoch_file = EpochFile()
    voters: tuple[int, ...] = ()
    refused: Sequence[Refusal]
    refusals: list[Refusal] = []
    snapshots: list[OffsetClaim] = []
    for piece in unit.pieces:
        if piece.kind == "leader-epoch-checkpoint":
            epoch_file, refused = _read_epochs(unit, piece)
            refusals.extend(refused)
        elif piece.kind == "quorum-state":
            voters, refused = _read_voters(unit, piece)
            refusals.extend(refused)
        elif piece.base_offset is not None:
            span = Span(source=piece.source, start=0, end=piece.size)
            snapshots.append(OffsetClaim(offset=piece.base_offset, span=span))
    named = (refuse_misnamed(unit.dump, piece, unit.origin(piece.source)) for piece in unit.segments)
    refusals.extend(refusal for refusal in named if refusal is not None)
    producers: list[ProducerClaim] = []
    for snapshot in sorted(snapshots, key=lambda claim: claim.offset)[-SNAPSHOTS_READ:]:
        claims, refused = _read_producers(unit, snapshot)
        producers.extend(claims)
        refusals.extend(refused)
    return DirectoryFacts(
        segments=tuple(
            SegmentFile(base_offset=piece.base_offset or 0, source=piece.source, size=piece.size)
            for piece in unit.segments
        ),
        leftovers=tuple(
            Leftover(base_offset=piece.base_offset or 0, source=piece.source, size=piece.size)
            for piece in unit.leftovers
        ),
        epoch_file=epoch_file,
        snapshot_offsets=tuple(snapshots),
        producer_claims=tuple(producers),
        voters=voters,
        refusals=tuple(unread_file(refusal) for refusal in refusals),
    )


def _read_producers(unit: ReadUnit, snapshot: OffsetClaim) -> tuple[Sequence[ProducerClaim], Sequence[Refusal]]:
    """What a snapshot says of producers; for one that is damaged, or was not written out, Kafka takes an older one."""
    origin = unit.origin(snapshot.span.source)
    content = read_source(unit.dump, origin)
    if isinstance(content, Refusal):
        return (), (content,)
    read = read_producer_snapshot(content, origin, snapshot.offset)
    claims = [
        ProducerClaim(
            producer_id=row.producer_id,
            producer_epoch=row.producer_epoch,
            last_sequence=row.last_sequence,
            first_offset=row.last_offset - row.offset_delta,
            last_offset=row.last_offset,
            snapshot_offset=snapshot.offset,
            span=row_span(row),
        )
        for row in read.rows
    ]
    return claims, read.refusals


def _read_voters(unit: ReadUnit, piece: Piece) -> tuple[tuple[int, ...], Sequence[Refusal]]:
    origin = unit.origin(piece.source)
    content = read_source(unit.dump, origin)
    if isinstance(content, Refusal):
        return (), (content,)
    state = read_quorum_state(content, origin)
    return state.current_voters, state.refusals


def _read_epochs(unit: ReadUnit, piece: Piece) -> tuple[EpochFile, list[Refusal]]:
    origin = unit.origin(piece.source)
    content = read_source(unit.dump, origin)
    span = Span(source=piece.source, start=0, end=piece.size)
    if isinstance(content, Refusal):
        return EpochFile(state="unreadable" if content.kind in UNOPENED else "malformed", span=span), [content]
    checkpoint = read_leader_epoch_checkpoint(content, origin)
    claims = tuple(
        EpochClaim(epoch=row.epoch, start_offset=row.start_offset, span=row_span(row)) for row in checkpoint.entries
    )
    unknown = any(refusal.kind == "unknown_version" for refusal in checkpoint.refusals)
    state = "unreadable" if unknown else checkpoint.state
    return EpochFile(state=state, entries=claims, span=span), list(checkpoint.refusals)


def _read_root(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that a checkpoint of the log dir names, and one for what could not be read."""
    claims: dict[tuple[str | None, int | None], dict[CheckpointKind, OffsetClaim]] = {}
    refusals: list[Refusal] = []
    sound: list[FileKind] = []
    for piece in unit.pieces:
        rows, refused = _read_checkpoint(unit, piece)
        refusals.extend(refused)
        sound += () if refused else (piece.kind,)
        for row in rows:
            # Of two lines for one partition the broker takes the last.
            claim = OffsetClaim(offset=row.offset, span=row_span(row))
            claims.setdefault((row.topic, row.partition), {})[row.kind] = claim
    for (topic, partition), own in claims.items():
        root = RootClaims(
            high_watermark=own.get("replication"),
            recovery_point=own.get("recovery-point"),
            log_start=own.get("log-start"),
            cleaner=own.get("cleaner"),
        )
        yield unit_fact(unit, topic, partition, root=root)
    if sound:
        yield replace(unit_fact(unit, None, None), checkpoints=tuple(sound))
    if refusals:
        yield unread_fact(unit, refusals)


def _read_checkpoint(unit: ReadUnit, piece: Piece) -> tuple[Sequence[OffsetCheckpoint], Sequence[Refusal]]:
    origin = unit.origin(piece.source)
    content = read_source(unit.dump, origin)
    if isinstance(content, Refusal):
        return (), (content,)
    parsed = read_offset_checkpoint(content, origin, OFFSET_CHECKPOINTS[piece.kind])
    return parsed.rows, parsed.refusals


def _read_transcribed(unit: ReadUnit) -> Iterable[Fact]:
    """Few dumps have what people brought along: what reads it is loaded for those."""
    from auditor.engines.witnesses.transcribed import read_transcribed

    return read_transcribed(unit)


_READERS: Final[Mapping[UnitKind, Callable[[ReadUnit], Iterable[Fact]]]] = {
    "root": _read_root,
    "directory": lambda unit: (replica_fact(unit, directory=_read_directory(unit)),),
    "dump-text": lambda unit: read_texts(unit, _read_directory),
    "group-offsets": read_groups,
    "transaction-states": read_transactions,
    "remote-segments": read_remote_segments,
    **dict.fromkeys(LOG_KINDS, read_logs),
    "request-log": lambda unit: read_trace(unit)[0],
    **dict.fromkeys(TOLD_KINDS, _read_transcribed),
}
"""Every kind of unit but the stretches of logs, which are read at the level asked for."""
