"""Read what waits for its deletion, only where records are missed: the last copy may stand there."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from parsers.provenance import Origin
from parsers.segment import scan_source
from rules.evidence import Leftover, Level, PartitionEvidence, Replica
from rules.facts.join import join_all
from rules.loss.incurred import losses
from rules.narrow.fold import fold
from rules.replicas.inferred import may_be_cut

BYTES_READ: Final = 8 << 30
"""Of one replica's leftovers; a broker deletes them within a minute, so there are seldom many."""


def read_leftovers(evidence: PartitionEvidence, dump: str) -> PartitionEvidence:
    """The evidence with deleted segments read, if records are missed that they may hold, or if they tell of a cut."""
    if not any(replica.leftovers for replica in evidence.replicas):
        return evidence
    ends = [loss.end_offset for loss in losses(evidence) if loss.matters]
    asked = (left for replica in evidence.replicas for left in replica.leftovers if may_be_cut(replica, left))
    ends += [left.base_offset + 1 for left in asked if not evidence.compacted]
    return with_leftovers(evidence, max(ends), dump) if ends else evidence


def with_leftovers(evidence: PartitionEvidence, end: int, dump: str) -> PartitionEvidence:
    """The evidence with those deleted segments read whose names admit offsets below the end."""
    replicas = tuple(_read(replica, end, evidence.level, dump) for replica in evidence.replicas)
    return replace(evidence, replicas=replicas)


def _read(replica: Replica, end: int, level: Level, dump: str) -> Replica:
    room = BYTES_READ
    read: list[Leftover] = []
    for leftover in replica.leftovers:
        asked = leftover.base_offset < end and leftover.size <= room
        room -= leftover.size if asked else 0
        read.append(_with_epochs(leftover, level, dump) if asked else leftover)
    return replace(replica, leftovers=tuple(read))


def _with_epochs(leftover: Leftover, level: Level, dump: str) -> Leftover:
    """The leftover with the epochs of those batches whose checksums hold."""
    folded = []
    sound = True
    for chunk in scan_source(dump, Origin(source=leftover.source), listed=leftover.size, verify=level != "quick"):
        believed = chunk.headers.filter(pc.fill_null(chunk.headers["crc_valid"], fill_value=True))
        sound = sound and not chunk.refusals and believed.num_rows == chunk.headers.num_rows
        first = pa.array([0] * believed.num_rows, pa.int32())
        folded.append(fold(believed.append_column("file", first), [leftover.source], list(chunk.refusals)))
    facts = join_all(folded)
    return replace(leftover, epochs=facts.epochs, sound=sound and not facts.gap_count)
