"""What there is to read in a dump, cut into units of work that any engine may run in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.plan.borne_ids import topic_names
from auditor.engines.plan.lacking_files import absent_files
from auditor.engines.plan.log_stretches import log_stretches
from auditor.engines.plan.metadata_copies import metadata_copies
from auditor.engines.plan.pieces import Piece, part, whole
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.trace_stretches import trace_stretches
from parsers.inventory import Inventory, LogDir, ReplicaDir, plain_segments
from parsers.provenance import LOG_DIR_CHECKPOINTS, FileKind, Origin, ReplicaState, Source, Span
from rules.replicas.topic_names import TopicName

UNIT_BYTES: Final = 128 << 20
"""A gigabyte of segment makes eight units; small segments of one replica share a unit."""

INDEX_FILES: Final[tuple[FileKind, ...]] = ("offset-index", "time-index", "transaction-index")
DIRECTORY_KINDS: Final[tuple[FileKind, ...]] = ("leader-epoch-checkpoint", "producer-snapshot", "quorum-state")


UnitKind = Literal[
    "log", "directory", "root", "dump-text", "request-log", "broker-log", "metadata", "server-properties",
    "group-offsets", "transaction-states", "remote-segments", "trace-table", "describe-text", "znodes",
]  # fmt: skip
LOG_KINDS: Final[tuple[UnitKind, ...]] = ("request-log", "broker-log", "metadata", "server-properties")
"""Units that speak of many partitions over time, and of brokers as a whole."""
TOLD_KINDS: Final[tuple[UnitKind, ...]] = ("trace-table", "describe-text", "znodes")
"""Units of what people brought along: tables of traces, outputs of tools, copies of znodes."""
OF_COORDINATORS: Final[tuple[UnitKind, ...]] = ("group-offsets", "transaction-states", "remote-segments")
"""Units of the topics that coordinators of groups and of transactions keep."""
OF_ONE_PARTITION: Final[tuple[UnitKind, ...]] = ("log", "directory")


class TextHome(Struct, frozen=True, kw_only=True):
    """A replica's directory that a dump text of its broker may speak of."""

    topic: str
    partition: int
    topic_id: str | None
    log_dir: str
    path: str
    has_segments: bool
    """Then the text is not needed: the log itself is there."""
    pieces: tuple[Piece, ...] = ()
    clean_shutdown: Span | None = None


class Owner(Struct, frozen=True, kw_only=True):
    """Whose a replica's directory is."""

    path: str
    broker: int | None


class ReadUnit(Struct, frozen=True, kw_only=True):
    """Work for one task: a stretch of a replica's log, small files of its directory or log dir, a log over time."""

    kind: UnitKind
    dump: str
    """Root folder of the dump that the sources are relative to."""
    cluster_id: str | None
    broker: int
    log_dir: str
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    path: str | None = None
    state: ReplicaState = "current"
    order: int
    pieces: tuple[Piece, ...]
    segments: tuple[Piece, ...] = ()
    leftovers: tuple[Piece, ...] = ()
    """Segments that wait for their deletion."""
    indexes: tuple[Piece, ...] = ()
    """Of the segments of a stretch of log."""
    clean_shutdown: Span | None = None
    names: tuple[TopicName, ...] = ()
    """Topics by id, for traces that name ids only."""
    log_patterns: tuple[str, ...] = ()
    """Layouts of brokers' logs as they were given, `[BROKER=]PATTERN`."""
    log_timezones: tuple[str, ...] = ()
    """Zones of the times in logs as they were given, `[BROKER=]ZONE`."""
    chain: str | None = None
    """The request log that the unit is a stretch of, by the first of the files that it was rotated into."""
    begun: int | None = None
    """When that log begins, on its writer's clock."""
    ends_chain: bool = False
    """Whether it is the last stretch of that log."""
    shared: bool = False
    """Whether the request log is a broker's log too, whose other lines are read as such."""
    voters: tuple[str, ...] = ()
    """Folders of the copies of the metadata log that voters kept."""
    homes: tuple[TextHome, ...] = ()
    """Directories of the replicas that a dump text may tell of."""
    owners: tuple[Owner, ...] = ()
    """Of a unit that reads several copies of a partition, whose each of them is."""

    @property
    def is_stretch(self) -> bool:
        """Whether the unit reads a part of a file only."""
        return any(piece.end - piece.start < piece.size for piece in self.pieces)

    @property
    def bytes(self) -> int:
        """Bytes that the unit reads."""
        return sum(piece.end - piece.start for piece in self.pieces)

    def origin(self, source: str) -> Origin:
        """The origin of rows read from one of the unit's files."""
        return Origin(
            source=source,
            cluster_id=self.cluster_id,
            broker=self.broker if self.broker >= 0 else None,
            log_dir=self.log_dir,
            topic=self.topic,
            topic_id=self.topic_id,
            partition=self.partition,
            state=self.state,
        )


def plan(
    dump: str, inventory: Inventory, selection: Selection, log_patterns: Sequence[str] = ()
) -> tuple[ReadUnit, ...]:
    """All units of a dump. Replicas that two directories claim are left out: their refusal says so."""
    folders = inventory.files_by_folder()
    dirs = {log_dir.path: log_dir for log_dir in inventory.log_dirs}
    units: list[ReadUnit] = []
    for log_dir in inventory.log_dirs:
        if log_dir.broker is not None and not log_dir.ambiguous:
            units.extend(_root_units(dump, log_dir, folders.get(log_dir.path, ())))
    for replica in inventory.replicas:
        home = dirs.get(replica.origin.log_dir or "")
        admitted = selection.admits(replica.origin.topic, replica.origin.partition)
        if home is not None and home.broker is not None and admitted and not (replica.ambiguous or home.ambiguous):
            units.extend(_replica_units(dump, replica, home, folders))
    return (*units, *_log_units(dump, inventory, folders, log_patterns))


def _root_units(dump: str, log_dir: LogDir, files: Sequence[Source]) -> Iterator[ReadUnit]:
    pieces = tuple(whole(file) for file in files if file.kind in LOG_DIR_CHECKPOINTS and not file.suffix)
    if pieces and log_dir.broker is not None:
        yield ReadUnit(
            kind="root",
            dump=dump,
            cluster_id=log_dir.cluster_id,
            broker=log_dir.broker,
            log_dir=log_dir.path,
            order=-2,
            pieces=pieces,
        )


def _replica_units(
    dump: str, replica: ReplicaDir, home: LogDir, folders: Mapping[str, Sequence[Source]]
) -> Iterator[ReadUnit]:
    here = folders.get(replica.path, ())
    files = (*here, *absent_files(replica, here))
    segments = tuple(whole(file) for file in plain_segments(files).segments)
    small = tuple(whole(file) for file in files if file.kind in DIRECTORY_KINDS and not file.suffix)
    leftovers = tuple(whole(file) for file in files if _is_deleted_segment(file))
    yield _unit(dump, replica, home, order=-1, pieces=small, segments=segments, leftovers=leftovers)
    indexes = _indexes(here, segments) if replica.state == "current" else {}
    for order, pieces in enumerate(_stretches(segments)):
        own = tuple(index for piece in pieces for index in indexes.get(piece.base_offset, ()))
        yield _unit(dump, replica, home, order=order, pieces=pieces, indexes=own)


def _indexes(files: Sequence[Source], segments: Sequence[Piece]) -> dict[int | None, list[Piece]]:
    """The indexes in plain use by the base offsets of their segments; a swap segment brings its own, yet unused."""
    plain = {segment.base_offset for segment in segments if segment.source.endswith(".log")}
    found: dict[int | None, list[Piece]] = {}
    for file in files:
        if file.kind in INDEX_FILES and not file.suffix and file.base_offset in plain:
            found.setdefault(file.base_offset, []).append(whole(file))
    return found


def _is_deleted_segment(file: Source) -> bool:
    return file.kind == "leftover" and file.origin.source.lower().endswith(".log.deleted")


def _unit(
    dump: str,
    replica: ReplicaDir,
    home: LogDir,
    *,
    order: int,
    pieces: tuple[Piece, ...],
    segments: tuple[Piece, ...] = (),
    leftovers: tuple[Piece, ...] = (),
    indexes: tuple[Piece, ...] = (),
) -> ReadUnit:
    """A stretch of the log, or in front of the first one the directory's small files."""
    origin = replica.origin
    return ReadUnit(
        kind="directory" if order < 0 else "log",
        dump=dump,
        cluster_id=home.cluster_id,
        broker=home.broker if home.broker is not None else -1,
        log_dir=home.path,
        topic=origin.topic,
        topic_id=origin.topic_id,
        partition=origin.partition,
        path=replica.path,
        state=replica.state,
        order=order,
        pieces=pieces,
        segments=segments,
        leftovers=leftovers,
        indexes=indexes,
        clean_shutdown=home.clean_shutdown,
    )


def _log_units(
    dump: str, inventory: Inventory, folders: Mapping[str, Sequence[Source]], log_patterns: Sequence[str]
) -> Iterator[ReadUnit]:
    """Every broker's logs, cut, its request logs in order of time, and each cluster's metadata log."""
    names = topic_names(inventory)
    clusters = {log_dir.cluster_id for log_dir in inventory.log_dirs}
    for file in inventory.files:
        origin = file.origin
        if file.kind in ("broker-log", "server-properties"):
            # Whose it is may stand in the file itself.
            if origin.broker is None and len(clusters) == 1:
                origin = replace(origin, cluster_id=next(iter(clusters)))
            for piece in log_stretches(dump, file, log_patterns):
                yield _time_unit(dump, origin, file.kind, (piece,), None, ())
    for stretch in trace_stretches(dump, inventory.files, log_patterns):
        unit = _time_unit(dump, stretch.origin, "request-log", (stretch.piece,), None, names)
        yield replace(unit, chain=stretch.chain, begun=stretch.begun, shared=stretch.shared, ends_chain=stretch.is_last)
    for copies in metadata_copies(dump, inventory, folders):
        unit = _time_unit(dump, copies.largest.origin, "metadata", copies.pieces, copies.largest.path, ())
        owners = tuple(Owner(path=path, broker=broker) for path, broker in copies.owners)
        yield replace(unit, voters=copies.voters, owners=owners)


def _time_unit(
    dump: str,
    origin: Origin,
    kind: UnitKind,
    pieces: tuple[Piece, ...],
    path: str | None,
    names: tuple[TopicName, ...],
) -> ReadUnit:
    return ReadUnit(
        kind=kind,
        dump=dump,
        cluster_id=origin.cluster_id,
        broker=-1 if origin.broker is None else origin.broker,
        log_dir=origin.log_dir or "",
        path=path,
        order=-3,
        pieces=pieces,
        names=names,
    )


def _stretches(segments: Sequence[Piece], unit_bytes: int = UNIT_BYTES) -> Iterator[tuple[Piece, ...]]:
    """The log in physical order, cut so that no stretch is longer than a unit; a cut may fall inside a segment."""
    stretch: list[Piece] = []
    room = unit_bytes
    for segment in segments:
        start = 0
        while start < segment.size or start == segment.size == 0:
            end = min(segment.size, start + room)
            stretch.append(part(segment, start, end))
            room -= end - start
            start = end
            if room == 0:
                yield tuple(stretch)
                stretch, room = [], unit_bytes
            if segment.size == 0:
                break
    if stretch:
        yield tuple(stretch)
