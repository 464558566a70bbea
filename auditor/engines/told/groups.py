"""What groups committed: facts about many partitions that stand in the logs of `__consumer_offsets`.

A partition of that topic is one unit, whichever brokers hold it: the copy that the epoch protocol would let the others
follow is read, and each commit becomes a fact of the partition that the group reads. A shuffle takes it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from auditor.engines.facts import told_fact, unread_fact
from auditor.engines.files import file_of
from auditor.engines.plan.pieces import Piece, whole
from auditor.engines.plan.units import ReadUnit
from parsers.files import read_exactly
from parsers.internal_topics import InternalRecord, internal_record, latest_commits
from parsers.inventory import Inventory, ReplicaDir, plain_segments
from parsers.provenance import Origin, Source, row_span
from parsers.records import decode_entry
from parsers.segment import scan
from parsers.tables import Refusal
from parsers.tables.metadata import GroupOffset
from rules.narrow.assemble import Fact
from rules.replicas.groups import GroupCommit

GROUPS_TOPIC: Final = "__consumer_offsets"
_TRANSACTIONAL: Final = 0x10
Place = tuple[str, int]


def plan_groups(dump: str, inventory: Inventory) -> Iterator[ReadUnit]:
    """A unit for every partition of `__consumer_offsets`, with the segments of all its copies."""
    folders = inventory.files_by_folder()
    copies = [
        replica
        for replica in inventory.replicas
        if replica.origin.topic == GROUPS_TOPIC and replica.state == "current" and not replica.ambiguous
    ]
    copies.sort(key=lambda replica: (repr(_partition(replica)), replica.path))
    for (cluster, _), group in groupby(copies, key=_partition):
        held = list(group)
        yield ReadUnit(
            kind="group-offsets",
            dump=dump,
            cluster_id=cluster,
            broker=-1 if held[0].origin.broker is None else held[0].origin.broker,
            log_dir=held[0].origin.log_dir or ".",
            topic=None,
            topic_id=None,
            partition=None,
            path=None,
            state="current",
            order=-3,
            pieces=tuple(piece for replica in held for piece in _pieces(folders.get(replica.path, ()))),
        )


def _partition(replica: ReplicaDir) -> tuple[str | None, int | None]:
    return replica.origin.cluster_id, replica.origin.partition


def _pieces(files: Sequence[Source]) -> Iterator[Piece]:
    return map(whole, plain_segments(files).segments)


def read_groups(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that a group stands in, and one for what could not be read."""
    chosen = _leading_copy(unit)
    if not chosen:
        return
    refusals: list[Refusal] = []
    told = latest_commits(_records(unit, chosen, refusals), unit.origin(chosen[0].source))
    spoken: dict[Place, list[GroupCommit]] = {}
    for row in told.offsets:
        commit = _commit(row)
        if commit is not None and row.topic is not None and row.partition is not None:
            spoken.setdefault((row.topic, row.partition), []).append(commit)
    for (topic, partition), commits in spoken.items():
        yield told_fact(unit, topic, partition, commits=commits)
    refusals.extend(told.refusals)
    if refusals:
        yield unread_fact(unit, refusals)


def _leading_copy(unit: ReadUnit) -> Sequence[Piece]:
    """The copy of the newest epoch, then of the highest offset: what a coordinator would load."""
    copies: dict[str, list[Piece]] = {}
    for piece in unit.pieces:
        copies.setdefault(piece.source.rpartition("/")[0], []).append(piece)
    ends = {folder: _end(unit, pieces) for folder, pieces in copies.items()}
    return copies[max(ends, key=lambda folder: ends[folder])] if ends else ()


def _end(unit: ReadUnit, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Leader epoch and offset of the last batch; headers are believed here, their checksums are not asked."""
    for piece in reversed(pieces):
        last = (-1, -1)
        for chunk in scan(file_of(unit.dump, piece.source), unit.origin(piece.source), verify=False):
            if chunk.headers.num_rows:
                names = ("leader_epoch", "last_offset")
                epoch, offset = (chunk.headers[name][-1].as_py() for name in names)
                last = (-1 if epoch is None else epoch, offset)
        if last[1] >= 0:
            return last
    return -1, -1


def _records(unit: ReadUnit, pieces: Sequence[Piece], refusals: list[Refusal]) -> Iterator[InternalRecord]:
    """Every record whose batch gives its checksum; what is damaged the topic's own verdict tells."""
    for piece in pieces:
        path, origin = file_of(unit.dump, piece.source), unit.origin(piece.source)
        for chunk in scan(path, origin):
            sound = chunk.headers.filter(pc.fill_null(chunk.headers["crc_valid"], fill_value=False))
            if sound.num_rows:
                yield from _decoded(path, origin, sound, refusals)


def _decoded(path: Path, origin: Origin, sound: pa.RecordBatch, refusals: list[Refusal]) -> Iterator[InternalRecord]:
    spans = sound["span_start"].to_pylist(), sound["span_end"].to_pylist()
    columns = sound["producer_id"].to_pylist(), sound["attributes"].to_pylist()
    contents = read_exactly(path, ((start or 0, end or 0) for start, end in zip(*spans, strict=True)))
    for content, begin, producer_id, attributes in zip(contents, spans[0], *columns, strict=True):
        parsed = decode_entry(content, origin, begin or 0, payloads=True)
        refusals.extend(parsed.refusals)
        transactional = bool((attributes or 0) & _TRANSACTIONAL)
        for row in parsed.rows:
            given = -1 if producer_id is None else producer_id
            yield internal_record(row, producer_id=given, transactional=transactional)


def _commit(row: GroupOffset) -> GroupCommit | None:
    if row.committed_offset is None:
        return None
    epoch = row.committed_epoch
    return GroupCommit(
        group=row.group,
        offset=row.committed_offset,
        leader_epoch=None if epoch is None or epoch < 0 else epoch,
        commit_time=row.commit_time,
        topic_id=row.topic_id,
        span=row_span(row),
    )
