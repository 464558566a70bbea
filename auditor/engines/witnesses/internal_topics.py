"""The topics of coordinators: of every partition the copy that the epoch protocol would let the others follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import pyarrow.compute as pc
from msgspec import Struct

from auditor.engines.plan.pieces import Piece, whole
from auditor.engines.plan.units import Owner, ReadUnit, UnitKind
from parsers.internal_topics import InternalRecord, internal_record
from parsers.inventory import Inventory, ReplicaDir, plain_segments
from parsers.provenance import Origin, Source
from parsers.records import decode_entry
from parsers.segment import SegmentChunk, scan_source
from parsers.tables import Refusal
from rules.protocol.topics import GROUPS_TOPIC, REMOTE_LOG_TOPIC, TRANSACTIONS_TOPIC

_TRANSACTIONAL: Final = 0x10
_KINDS: Final[Mapping[str | None, UnitKind]] = {
    GROUPS_TOPIC: "group-offsets", TRANSACTIONS_TOPIC: "transaction-states", REMOTE_LOG_TOPIC: "remote-segments",
}  # fmt: skip


class Copy(Struct, frozen=True, kw_only=True):
    """One copy of a partition of such a topic, and where it ends by its headers."""

    folder: str
    pieces: tuple[Piece, ...]
    epoch: int = -1
    last_offset: int = -1
    latest_time: int = -1


def plan_internal(dump: str, inventory: Inventory) -> Iterator[ReadUnit]:
    """A unit for every partition of these topics, with the segments of all its copies."""
    folders = inventory.files_by_folder()
    copies = [
        replica
        for replica in inventory.replicas
        if replica.origin.topic in _KINDS and replica.state == "current" and not replica.ambiguous
    ]
    copies.sort(key=lambda replica: (repr(_partition(replica)), replica.path))
    for (cluster, topic, _), group in groupby(copies, key=_partition):
        held = list(group)
        yield ReadUnit(
            kind=_KINDS[topic],
            dump=dump,
            cluster_id=cluster,
            broker=-1 if held[0].origin.broker is None else held[0].origin.broker,
            log_dir=held[0].origin.log_dir or ".",
            partition=held[0].origin.partition,
            order=-3,
            pieces=tuple(piece for replica in held for piece in _pieces(folders.get(replica.path, ()))),
            owners=tuple(Owner(path=each.path, broker=each.origin.broker) for each in held),
        )


def _partition(replica: ReplicaDir) -> tuple[str | None, str | None, int | None]:
    return replica.origin.cluster_id, replica.origin.topic, replica.origin.partition


def _pieces(files: Sequence[Source]) -> Iterator[Piece]:
    return map(whole, plain_segments(files).segments)


def copies_of(unit: ReadUnit) -> list[Copy]:
    """Every copy that has segments; headers are believed here, their checksums are not asked."""
    copies: dict[str, list[Piece]] = {}
    for piece in unit.pieces:
        copies.setdefault(piece.source.rpartition("/")[0], []).append(piece)
    return [_copy(unit, folder, pieces) for folder, pieces in copies.items()]


def leading(copies: Sequence[Copy]) -> Copy | None:
    """The copy of the newest epoch, then of the highest offset: what a coordinator would load."""
    return max(copies, key=lambda copy: (copy.epoch, copy.last_offset), default=None)


def _copy(unit: ReadUnit, folder: str, pieces: Sequence[Piece]) -> Copy:
    for piece in reversed(pieces):
        last, latest = (-1, -1), -1
        for chunk in scan_source(unit.dump, unit.origin(piece.source), verify=False):
            if chunk.headers.num_rows:
                epoch, offset = (chunk.headers[name][-1].as_py() for name in ("leader_epoch", "last_offset"))
                last = (-1 if epoch is None else epoch, offset)
                time = pc.max(chunk.headers["max_timestamp"]).as_py()
                latest = max(latest, -1 if time is None else time)
        if last[1] >= 0:
            return Copy(
                folder=folder, pieces=tuple(pieces), epoch=last[0], last_offset=last[1], latest_time=latest
            )
    return Copy(folder=folder, pieces=tuple(pieces))


class Records:
    """The records of a copy whose batches give their checksums, and what of it could not be read.

    What is damaged the topic's own verdict tells.
    """

    def __init__(self, unit: ReadUnit) -> None:
        self._unit = unit
        self.refusals: list[Refusal] = []
        self.whole = True
        """Whether nothing was left out so far."""

    def of(self, copy: Copy) -> Iterator[InternalRecord]:
        """The records, in the order of the log."""
        for piece in copy.pieces:
            origin = self._unit.origin(piece.source)
            for chunk in scan_source(self._unit.dump, origin, entries=True):
                damaged = any(refusal.kind != "zero_tail" for refusal in chunk.refusals)
                sound = pc.all(chunk.headers["crc_valid"]).as_py() is not False
                self.whole = self.whole and not damaged and sound
                yield from _decoded(chunk, origin, self.refusals)


def _decoded(chunk: SegmentChunk, origin: Origin, refusals: list[Refusal]) -> Iterator[InternalRecord]:
    for batch, entry in chunk.entries(("producer_id", "attributes")):
        parsed = decode_entry(entry, origin, batch["span_start"], payloads=True)
        refusals.extend(parsed.refusals)
        transactional = bool((batch["attributes"] or 0) & _TRANSACTIONAL)
        producer = -1 if batch["producer_id"] is None else batch["producer_id"]
        yield from (internal_record(row, producer_id=producer, transactional=transactional) for row in parsed.rows)
