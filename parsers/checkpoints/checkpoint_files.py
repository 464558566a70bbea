"""leader-epoch-checkpoint of a replica, and the four offset checkpoints of a log dir."""

from __future__ import annotations

import re
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from parsers.checkpoints.checkpoint_text import CheckpointLine, read_entries
from parsers.checkpoints.decimals import INT32_MAX, integer
from parsers.provenance import FileKind, Origin
from parsers.refusal import Parsed
from parsers.tables import CheckpointKind, EpochEntry, OffsetCheckpoint, Refusal

CheckpointState = Literal["empty", "entries", "malformed"]

OFFSET_CHECKPOINTS: Final[dict[FileKind, CheckpointKind]] = {
    "replication-offset-checkpoint": "replication",
    "recovery-point-offset-checkpoint": "recovery-point",
    "log-start-offset-checkpoint": "log-start",
    "cleaner-offset-checkpoint": "cleaner",
}
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class EpochCheckpoint(Struct, frozen=True, kw_only=True):
    """A leader-epoch-checkpoint.

    `empty` is a file of no bytes, as created with its directory; a file whose header announces no entries is `entries`
    with none. `malformed` is a file that a broker would not load; its sound lines stay readable.
    """

    state: CheckpointState
    entries: tuple[EpochEntry, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def read_leader_epoch_checkpoint(data: bytes, origin: Origin) -> EpochCheckpoint:
    """The entries of a leader-epoch-checkpoint, in file order."""
    if not data:
        return EpochCheckpoint(state="empty")
    parsed = read_entries(data, origin, partial(_epoch_entry, origin), expected="an epoch and its start offset")
    state: CheckpointState = "malformed" if parsed.refusals else "entries"
    return EpochCheckpoint(state=state, entries=parsed.rows, refusals=parsed.refusals)


def read_offset_checkpoint(data: bytes, origin: Origin, kind: CheckpointKind) -> Parsed[OffsetCheckpoint]:
    """The lines of an offset checkpoint, in file order; of two lines for one partition a broker believes the last."""
    entry_of = partial(_offset_entry, origin, kind)
    return read_entries(data, origin, entry_of, expected="a topic, a partition and an offset")


def _epoch_entry(origin: Origin, line: CheckpointLine, tokens: list[str]) -> EpochEntry | None:
    if len(tokens) != 2:
        return None
    epoch, start_offset = integer(tokens[0], low=0, high=INT32_MAX), integer(tokens[1], low=0)
    if epoch is None or start_offset is None:
        return None
    return EpochEntry(
        **origin.columns,
        epoch=epoch,
        start_offset=start_offset,
        span_start=line.start,
        span_end=line.end,
    )


def _offset_entry(
    origin: Origin, kind: CheckpointKind, line: CheckpointLine, tokens: list[str]
) -> OffsetCheckpoint | None:
    if len(tokens) != 3 or not _TOPIC.fullmatch(tokens[0]):
        return None
    partition, offset = integer(tokens[1], low=0, high=INT32_MAX), integer(tokens[2])
    if partition is None or offset is None:
        return None
    return OffsetCheckpoint(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        log_dir=origin.log_dir,
        topic=tokens[0],
        topic_id=None,
        partition=partition,
        kind=kind,
        offset=offset,
        source=origin.source,
        span_start=line.start,
        span_end=line.end,
    )
