"""What is known about one partition: small frozen facts, each with the bytes it was read from.

A stretch of a log is a `LogFacts`; stretches join in physical order (`rules.narrow`). A replica is its log, its
checkpoints and what its directory holds. Rules see `PartitionEvidence` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from parsers.provenance import ReplicaState, Span
from rules.facts import LogFacts
from rules.zoom import UnreadFile, Zoom

Level = Literal["quick", "full", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetClaim:
    """An offset that a file states, and where it states it."""

    offset: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochClaim:
    """One entry of a leader-epoch-checkpoint."""

    epoch: int
    start_offset: int
    span: Span


EpochFileState = Literal["missing", "empty", "entries", "malformed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochFile:
    """The leader-epoch-checkpoint of a replica. An empty file is not a file with no entries: Kafka writes both."""

    state: EpochFileState = "missing"
    entries: tuple[EpochClaim, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFile:
    """One segment in plain use, in the order in which the broker would read it."""

    base_offset: int
    source: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFault:
    """An index entry that its segment contradicts."""

    kind: str
    expected: str
    found: str
    span: Span


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One replica: its log, what its checkpoints claim, and what its directory holds."""

    broker: int
    log_dir: str
    path: str
    state: ReplicaState = "current"
    topic_id: str | None = None
    segments: tuple[SegmentFile, ...] = ()
    log: LogFacts = LogFacts()
    epoch_file: EpochFile = EpochFile()
    high_watermark: OffsetClaim | None = None
    recovery_point: OffsetClaim | None = None
    log_start_claim: OffsetClaim | None = None
    cleaner_offset: OffsetClaim | None = None
    clean_shutdown: Span | None = None
    """The log dir's `.kafka_cleanshutdown`; null when the broker did not stop in order, or ran while it was copied."""
    snapshot_offsets: tuple[OffsetClaim, ...] = ()
    index_faults: tuple[IndexFault, ...] = ()
    refusals: tuple[UnreadFile, ...] = ()
    zooms: tuple[Zoom, ...] = ()
    bytes_seen: int = 0
    bytes_read: int = 0

    @cached_property
    def log_start_offset(self) -> int:
        """First offset the replica serves: the log start claim or the first segment's base, whichever is higher."""
        base = self.segments[0].base_offset if self.segments else 0
        return max(base, self.log_start_claim.offset if self.log_start_claim else 0)

    @cached_property
    def log_end_offset(self) -> int:
        """Next offset to be written, as the disk gives it."""
        base = self.segments[-1].base_offset if self.segments else 0
        return max(self.log.end_offset if self.log.end_offset is not None else base, base, 0)

    @cached_property
    def cleaned(self) -> bool:
        """Whether the log cleaner has left its marks on this replica."""
        return self.cleaner_offset is not None or self.log.sparse_batches > 0

    @cached_property
    def last_epoch(self) -> int:
        """Highest leader epoch among the batches; -1 for none."""
        return max((run.epoch for run in self.log.epochs), default=-1)

    @cached_property
    def dense_from(self) -> int:
        """Offset from which the cleaner cannot have rewritten batches."""
        if not self.cleaned:
            return self.log_start_offset
        return self.cleaner_offset.offset if self.cleaner_offset else self.log_end_offset


@dataclass(frozen=True, kw_only=True)
class PartitionEvidence:
    """Everything known about one partition of one cluster."""

    cluster_id: str | None
    topic: str
    partition: int
    replicas: tuple[Replica, ...]
    level: Level = "full"
    versions: tuple[BrokerVersion, ...] = ()
    copied_live: bool = False
    """No broker of the cluster stopped in order: files of one broker may be moments apart."""
    brokers_in_dump: int = 1
    """Log-holding brokers of this cluster in the dump: one means that no other replica could have been seen."""

    @cached_property
    def current(self) -> tuple[Replica, ...]:
        """The replicas that serve (or served) the partition; not future, deleted or stray copies."""
        return tuple(replica for replica in self.replicas if replica.state == "current")

    @cached_property
    def compacted(self) -> bool:
        """Whether any replica shows that the partition is compacted; copies of a cleaned log have its holes too."""
        return self.topic in COMPACTED_TOPICS or any(replica.cleaned for replica in self.current)

    @cached_property
    def pairs(self) -> tuple[tuple[Replica, Replica], ...]:
        """Every two replicas that hold the same topic id, so that their contents may be compared."""
        return tuple(
            (left, right)
            for index, left in enumerate(self.current)
            for right in self.current[index + 1 :]
            if same_topic(left, right)
        )


COMPACTED_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state", "_schemas"})
METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerVersion:
    """What a broker ran: binary version and inter-broker protocol (or metadata version), where known."""

    broker: int
    binary: str | None = None
    inter_broker_protocol: str | None = None
    because: str = ""


def same_topic(left: Replica, right: Replica) -> bool:
    """Whether two replicas belong to one incarnation of the topic; an unknown id matches any."""
    return left.topic_id is None or right.topic_id is None or left.topic_id == right.topic_id
