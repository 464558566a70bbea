"""Facts as they travel from readers to judges, and what a partition's judges must know of the rest of its cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from parsers.provenance import FileKind, ReplicaState, Span
from rules.chronicle.request_logs import RequestLogs
from rules.evidence import (
    NO_EPOCH_FILE,
    BrokerVersion,
    EpochFile,
    Leftover,
    Level,
    OffsetClaim,
    ProducerClaim,
    SegmentFile,
)
from rules.facts.indexes import NO_INDEXES, IndexFacts
from rules.facts.read_again import UnreadFile
from rules.facts.stretch import LogFacts
from rules.history.falling_times import Falls, TimesFall
from rules.history.moments import Moment
from rules.history.role_times import RoleTime
from rules.history.steady import Steady, Times
from rules.history.trace_ends import SessionBroken, TraceEnd, TraceGap
from rules.replicas.belied import LooseFolder
from rules.replicas.commits_of_groups import GroupAssignment, GroupCommit, GroupHome
from rules.replicas.coordinators import NO_COORDINATORS, CoordinatorLog, Coordinators
from rules.replicas.exchanged import Exchanged
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.partition_counts import NOTHING_COUNTED, PartitionCount, PartitionCounts
from rules.replicas.remote import RemoteCopy
from rules.replicas.topic_ids import Bearer
from rules.replicas.topic_names import Nameless, TopicName
from rules.replicas.unread_copies import ALL_READ, UnreadCopies
from rules.settings import NO_SETTINGS, Setting, Settings
from rules.thresholds import DEFAULTS, Thresholds


class DirectoryFacts(Struct, frozen=True, kw_only=True):
    """What the small files and the listing of a replica's directory say."""

    segments: tuple[SegmentFile, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    epoch_file: EpochFile = NO_EPOCH_FILE
    snapshot_offsets: tuple[OffsetClaim, ...] = ()
    producer_claims: tuple[ProducerClaim, ...] = ()
    voters: tuple[int, ...] = ()
    refusals: tuple[UnreadFile, ...] = ()


class RootClaims(Struct, frozen=True, kw_only=True):
    """What the checkpoint files of a log dir claim about one partition, and whether its broker shut down cleanly."""

    high_watermark: OffsetClaim | None = None
    recovery_point: OffsetClaim | None = None
    log_start: OffsetClaim | None = None
    cleaner: OffsetClaim | None = None
    refusals: tuple[UnreadFile, ...] = ()


class Fact(Struct, frozen=True, kw_only=True):
    """One row of the table of facts: whose it is, where it stands in physical order, and one kind of content."""

    cluster_id: str | None
    topic: str | None
    partition: int | None
    topic_id: str | None
    broker: int
    log_dir: str
    path: str | None
    state: ReplicaState
    order: int
    """Place of a stretch within its log: the readers number the stretches of a replica in physical order."""
    log: LogFacts | None = None
    directory: DirectoryFacts | None = None
    indexes: IndexFacts = NO_INDEXES
    root: RootClaims | None = None
    clean_shutdown: Span | None = None
    moments: tuple[Moment, ...] = ()
    group_commits: tuple[GroupCommit, ...] = ()
    remote_copies: tuple[RemoteCopy, ...] = ()
    group_homes: tuple[GroupHome, ...] = ()
    assignments: tuple[GroupAssignment, ...] = ()
    metadata_snapshots: tuple[SnapshotSeen, ...] = ()
    settings: tuple[Setting, ...] = ()
    gaps: tuple[TraceGap, ...] = ()
    """What is told of brokers and topics as a whole; a fact of settings or gaps tells nothing else."""
    disowned: tuple[str, ...] = ()
    """Logs into which several brokers wrote, told by those of their stretches that show it."""
    names: tuple[TopicName, ...] = ()
    """Names of topic ids, for those who tell the id alone."""
    nameless: tuple[Nameless, ...] = ()
    """What tells the id of a topic alone, counted; the statements are in facts that bear the id and no topic."""
    trace_ends: tuple[TraceEnd, ...] = ()
    sessions_broken: tuple[SessionBroken, ...] = ()
    """How far followers' sessions went, by the logs of who answered and of who asked."""
    falls: tuple[TimesFall, ...] = ()
    """Where times fall in brokers' logs."""
    steady: tuple[Steady, ...] = ()
    """When lines of brokers' logs follow each other closely."""
    role_times: tuple[RoleTime, ...] = ()
    """When brokers took roles, by each of their files."""
    counts: tuple[PartitionCount, ...] = ()
    coordinators: tuple[CoordinatorLog, ...] = ()
    checkpoints: tuple[FileKind, ...] = ()
    """Which checkpoints of its log dir were read whole."""
    bytes_seen: int = 0
    bytes_read: int = 0

    @property
    def of_the_cluster(self) -> bool:
        """Whether every partition's judges must know it."""
        of_logs = self.settings or self.gaps or self.disowned or self.trace_ends or self.sessions_broken
        by_logs = bool(of_logs or self.falls or self.steady or self.role_times or self.names or self.nameless)
        return by_logs or bool(self.checkpoints or self.counts or self.coordinators)


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a partition's judges must know of the rest of its cluster."""

    cluster_id: str | None
    level: Level = "full"
    versions: tuple[BrokerVersion, ...] = ()
    settings: Settings = NO_SETTINGS
    request_logs: RequestLogs = field(default_factory=dict)
    falls: Falls = field(default_factory=dict)
    steady: Mapping[str, Sequence[Times]] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    """Clocks of brokers whose files tell one role at times that cannot both be true."""
    busy: frozenset[int] = frozenset()
    """Brokers whose request logs are thinned."""
    disowned: frozenset[str] = frozenset()
    """Logs that are nobody's evidence."""
    checkpoints: Mapping[str, tuple[FileKind, ...]] = field(default_factory=dict)
    """Which checkpoints of each log dir were read whole."""
    bearers: tuple[Bearer, ...] = ()
    exchanged: tuple[Exchanged, ...] = ()
    loose: tuple[LooseFolder, ...] = ()
    """Folders of which nobody vouches that they are in their places."""
    counts: PartitionCounts = NOTHING_COUNTED
    coordinators: Coordinators = NO_COORDINATORS
    copied_live: bool = False
    copied: str = ""
    thresholds: Thresholds = DEFAULTS
    brokers_in_dump: int = 1
    unread_copies: UnreadCopies = ALL_READ
