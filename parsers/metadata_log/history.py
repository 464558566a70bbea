"""The metadata log and its snapshots read as history, transactions and gaps minded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.metadata_log.added_up import Fold
from parsers.metadata_log.checking import LogState, SnapshotCheck, SnapshotChecks, SnapshotToCheck
from parsers.metadata_log.decode import decode_metadata_record
from parsers.metadata_log.image import MetadataImage
from parsers.metadata_log.quorum import ControlRecord, decode_control
from parsers.metadata_log.records import (
    AbortTransaction,
    BeginTransaction,
    EndTransaction,
    MetadataInput,
    MetadataRecord,
    NoOp,
)
from parsers.metadata_log.state_rows import Stamp, quorum_row
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import RecordRow, Refusal
from parsers.tables.metadata import (
    BrokerChange,
    ConfigChange,
    FeatureChange,
    MetadataChange,
    QuorumChange,
    TopicChange,
)
from parsers.wire import Malformed

_SNAPSHOT_NAME: Final = re.compile(r"(?:.*/)?([0-9]{20})-([0-9]{10})\.checkpoint")
_INT32_MAX: Final = (1 << 31) - 1
_INT64_MAX: Final = (1 << 63) - 1


class SnapshotId(Struct, frozen=True, kw_only=True):
    """What a snapshot's name says: the state up to `end_offset`, exclusive, which was committed in `epoch`."""

    end_offset: int
    epoch: int


class MetadataSnapshot(Struct, frozen=True, kw_only=True):
    """The records of one `.checkpoint` file, in physical order; their own offsets are private to the file."""

    id: SnapshotId
    inputs: tuple[MetadataInput, ...]


class MetadataHistory(Struct, frozen=True, kw_only=True):
    """All that a metadata log tells, each table in the order of the log; `skipped` counts by name what was not told."""

    partitions: tuple[MetadataChange, ...] = ()
    topics: tuple[TopicChange, ...] = ()
    brokers: tuple[BrokerChange, ...] = ()
    configs: tuple[ConfigChange, ...] = ()
    features: tuple[FeatureChange, ...] = ()
    quorum: tuple[QuorumChange, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    snapshots: tuple[SnapshotCheck, ...] = ()
    """Those that were to be held against the log."""


def snapshot_id(path: str) -> SnapshotId | None:
    """The id in the name of a snapshot; None for other files and for `bootstrap.checkpoint`, which has none."""
    match = _SNAPSHOT_NAME.fullmatch(path)
    if match is None or int(match[1]) > _INT64_MAX or int(match[2]) > _INT32_MAX:
        return None
    return SnapshotId(end_offset=int(match[1]), epoch=int(match[2]))


def metadata_input(row: RecordRow) -> MetadataInput:
    """A decoded record of the metadata log, which must carry its payload."""
    return MetadataInput(
        offset=row.offset,
        leader_epoch=row.leader_epoch,
        timestamp=row.timestamp,
        value=row.value,
        span=Origin(source=row.source).span(row.span_start, row.span_end),
        control_type=row.control_type,
    )


def metadata_history(
    inputs: Iterable[MetadataInput],
    origin: Origin,
    snapshots: Sequence[MetadataSnapshot] = (),
    checked: Sequence[SnapshotToCheck] = (),
) -> MetadataHistory:
    """The history in the records of one node's metadata log, segment after segment, and in its snapshots.

    Those that are `checked` are held against the log on the way.

    Control records must be among the inputs: offsets of this log have no holes, and a hole is refused by name.
    """
    ordered = sorted(snapshots, key=lambda snapshot: (snapshot.id.end_offset, snapshot.id.epoch))
    reader = _LogReader(origin, ordered, checked)
    for given in inputs:
        reader.read(given)
    reader.finish()
    fold = reader.fold
    return MetadataHistory(
        partitions=tuple(fold.partitions),
        topics=tuple(fold.topics),
        brokers=tuple(fold.brokers),
        configs=tuple(fold.configs),
        features=tuple(fold.features),
        quorum=tuple(fold.quorum),
        skipped=tuple(sorted(fold.skipped.items())),
        refusals=tuple(fold.refusals),
        snapshots=tuple(reader.checks.found),
    )


class _LogReader:
    """The place in the log: the next offset, the open transaction, the snapshots still ahead."""

    def __init__(
        self, origin: Origin, snapshots: Sequence[MetadataSnapshot], checked: Sequence[SnapshotToCheck]
    ) -> None:
        self.fold = Fold()
        self.checks = SnapshotChecks(checked, self._held)
        self._epoch: int | None = None
        self._origin = origin
        self._snapshots = list(reversed(snapshots))
        self._next_offset = 0
        self._anchored = False
        self._open: list[tuple[MetadataRecord, Stamp]] | None = None

    def read(self, given: MetadataInput) -> None:
        """One record of the log, after the snapshots that end at or before it."""
        self.checks.reached(given.offset, self._state)
        while self._snapshots and self._snapshots[-1].id.end_offset <= given.offset:
            self._restore(self._snapshots.pop())
        stamp = _stamp(self._origin, given)
        if given.offset < self._next_offset:
            self.fold.refuse(stamp, f"metadata offset {self._next_offset} or later", f"offset {given.offset}")
            return
        if given.offset > self._next_offset:
            self._gap(stamp)
        self._next_offset, self._epoch = given.offset + 1, given.leader_epoch
        self._anchored = self._anchored or given.offset == 0
        if given.control_type is not None:
            _control(self.fold, given.control_type, given.value, stamp)
        elif not self._anchored and self._snapshots:
            # The state begins with the snapshot ahead; changes before it would be changes of nothing known.
            self.fold.skipped["record before the first snapshot"] += 1
        else:
            self._data(given, stamp)

    def finish(self) -> None:
        """The end of the log: snapshots beyond it, and a transaction that never ended."""
        self.checks.reached(self._next_offset, self._state)
        self.checks.left()
        while self._snapshots:
            self._restore(self._snapshots.pop())
        if self._open is not None:
            self.fold.skipped["record of a transaction without end"] += len(self._open)

    def _state(self) -> LogState:
        """What the log adds up to so far; not inside a transaction, and not where records are missing."""
        whole = self._anchored and self._open is None and not self.fold.refusals
        return LogState(image=self.fold.image, next_offset=self._next_offset, epoch=self._epoch, whole=whole)

    def _held(self, snapshot: SnapshotToCheck, inputs: Sequence[MetadataInput]) -> MetadataImage | None:
        held = Fold()
        named = SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.epoch)
        kinds = _read_snapshot(held, MetadataSnapshot(id=named, inputs=tuple(inputs)), self._origin)
        return None if held.refusals or "snapshot-footer" not in kinds else held.image

    def _gap(self, stamp: Stamp) -> None:
        if self._next_offset == 0 and self._snapshots:
            return
        self.fold.refuse(
            stamp, f"metadata offset {self._next_offset} or a snapshot up to this record", f"offset {stamp.offset}"
        )

    def _data(self, given: MetadataInput, stamp: Stamp) -> None:
        record = _decode(self.fold, given, self._origin)
        if record is None or isinstance(record, NoOp):
            return
        if isinstance(record, BeginTransaction | EndTransaction | AbortTransaction):
            self._bracket(record, stamp)
        elif self._open is None:
            self.fold.apply(record, stamp)
        else:
            self._open.append((record, stamp))

    def _bracket(self, record: BeginTransaction | EndTransaction | AbortTransaction, stamp: Stamp) -> None:
        """Records between begin and end count together; between begin and abort they never happened."""
        if isinstance(record, BeginTransaction) is (self._open is not None):
            self.fold.refuse(stamp, "a transaction that begins once and ends once", type(record).__name__)
            return
        if isinstance(record, EndTransaction):
            for inner, inner_stamp in self._open or ():
                self.fold.apply(inner, inner_stamp)
        elif isinstance(record, AbortTransaction):
            self.fold.skipped["record of an aborted transaction"] += len(self._open or ())
        self._open = [] if isinstance(record, BeginTransaction) else None

    def _restore(self, snapshot: MetadataSnapshot) -> None:
        """Restart from a snapshot, unless it is torn, or damaged where the log itself knows better."""
        if not snapshot.inputs:
            return
        restored = Fold(against=self.fold.image)
        restored.texts = self.fold.texts
        kinds = _read_snapshot(restored, snapshot, self._origin)
        last = _snapshot_stamp(self._origin, snapshot, snapshot.inputs[-1], None)
        self.fold.quorum.extend(restored.quorum)
        self.fold.refusals.extend(restored.refusals)
        self.fold.skipped.update(restored.skipped)
        if "snapshot-footer" not in kinds:
            self._torn(last)
        elif not (restored.refusals and self._anchored):
            self.fold.adopt(restored, last)
            self._anchored = True
            self._next_offset = max(self._next_offset, snapshot.id.end_offset)

    def _torn(self, stamp: Stamp) -> None:
        origin = replace(self._origin, source=stamp.span.source)
        expected, found = "a snapshot footer at the end", "a record of another kind"
        self.fold.refusals.append(
            refuse(origin, "torn_tail", stamp.span.start, stamp.span.end, expected=expected, found=found)
        )


def _read_snapshot(fold: Fold, snapshot: MetadataSnapshot, origin: Origin) -> set[str]:
    """Fold the records of a snapshot; the kinds of control records seen."""
    kinds: set[str] = set()
    contained_time: int | None = None
    for given in snapshot.inputs:
        stamp = _snapshot_stamp(origin, snapshot, given, contained_time)
        if given.control_type is not None:
            control = _control(fold, given.control_type, given.value, stamp)
            if control is not None:
                kinds.add(control.kind)
                # A bootstrap file contains nothing of the log and says 0.
                contained_time = control.contained_time or contained_time
        elif (record := _decode(fold, given, origin)) is not None:
            fold.apply(record, stamp)
    return kinds


def _control(fold: Fold, control_type: int, value: bytes | None, stamp: Stamp) -> ControlRecord | None:
    """Note a control record; those that are not the quorum's are counted."""
    try:
        record = decode_control(control_type, value or b"")
    except Malformed as error:
        fold.refuse(stamp, error.expected, error.found)
        return None
    if record is None:
        fold.skipped[f"control record {control_type}"] += 1
    else:
        fold.quorum.append(quorum_row(stamp, record))
    return record


def _decode(fold: Fold, given: MetadataInput, origin: Origin) -> MetadataRecord | None:
    decoded = decode_metadata_record(given.value or b"", origin, given.span)
    if isinstance(decoded, Refusal):
        fold.refusals.append(decoded)
        return None
    return decoded


def _stamp(origin: Origin, given: MetadataInput) -> Stamp:
    return Stamp(
        origin=origin,
        offset=given.offset,
        controller_epoch=given.leader_epoch,
        time=given.timestamp,
        span=given.span,
    )


def _snapshot_stamp(origin: Origin, snapshot: MetadataSnapshot, given: MetadataInput, time: int | None) -> Stamp:
    """A snapshot speaks of the moment after the last offset it covers, whatever offsets it has inside."""
    return Stamp(
        origin=origin,
        offset=snapshot.id.end_offset - 1,
        controller_epoch=snapshot.id.epoch,
        time=given.timestamp if time is None else time,
        span=given.span,
        from_snapshot=True,
    )
