"""The leader's side of reconciliation: what it answers to a follower's OffsetsForLeaderEpoch and to its Fetch."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rules.protocol.epochs import EpochEnd
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica_log import ReplicaLog


def answer_epoch(replica: ReplicaLog, asked: Epoch | None) -> EpochEnd | None:
    """Where an epoch ends by this replica's own cache and version; None where Kafka answers (-1, -1)."""
    return None if asked is None else replica.end_offset_rule(replica.epochs, asked, replica.log_end_offset)


class FetchReply(Struct, frozen=True, kw_only=True):
    """How a leader answers a follower's Fetch; `end` is what it found for the last fetched epoch."""

    kind: Literal["records", "diverging", "out-of-range"]
    end: EpochEnd | None


def answer_fetch(leader: ReplicaLog, fetch_offset: Offset, last_fetched_epoch: Epoch | None) -> FetchReply:
    """The leader's side of truncate-on-fetch; without an epoch only the offset is checked."""
    in_range = leader.log_start_offset <= fetch_offset <= leader.log_end_offset
    if last_fetched_epoch is None:
        return FetchReply(kind="records" if in_range else "out-of-range", end=None)
    end = answer_epoch(leader, last_fetched_epoch)
    # since KAFKA-12996 (2.7.2, 2.8.1, 3.0.0) an offset below the log start is out of range before it is diverging
    if end is None or fetch_offset < leader.log_start_offset:
        return FetchReply(kind="out-of-range", end=None)
    if end.epoch < last_fetched_epoch or end.end_offset < fetch_offset:
        return FetchReply(kind="diverging", end=end)
    return FetchReply(kind="records" if in_range else "out-of-range", end=end)
