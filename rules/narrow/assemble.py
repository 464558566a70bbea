"""Facts as they travel between readers and judges, and how the facts about one partition become its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from parsers.provenance import LOG_DIR_CHECKPOINTS, FileKind, ReplicaState, Span
from rules.chronicle.chronicle import Chronicle
from rules.evidence import (
    NO_EPOCH_FILE,
    BrokerVersion,
    EpochFile,
    Leftover,
    Level,
    OffsetClaim,
    PartitionEvidence,
    ProducerClaim,
    Replica,
    SegmentFile,
)
from rules.evidence.absent_segments import with_absent_segments
from rules.facts.indexes import NO_INDEXES, IndexFacts, join_all_indexes
from rules.facts.join import join_all
from rules.facts.read_again import UnreadFile
from rules.facts.stretch import LogFacts
from rules.history.falling_times import Falls, TimesFall
from rules.history.gaps import TraceGap
from rules.history.last_life import deleted_before, gave_up, left_behind, not_made
from rules.history.loads import of_one_folder
from rules.history.moments import Moment
from rules.history.repetitions import collapse, once
from rules.history.rotated import FileOrder
from rules.history.set_back import going_on
from rules.history.steady import Steady, Times
from rules.history.terms import in_terms
from rules.history.trace_ends import SessionBroken, TraceEnd
from rules.history.unheard import told_once
from rules.narrow.rejoined import rejoined
from rules.protocol.epochs import EpochChain
from rules.replicas.belied import EpochsOf, LooseFolder, belied
from rules.replicas.commits_of_groups import GroupAssignment, GroupCommit, GroupHome, in_order
from rules.replicas.compacting import is_compacted
from rules.replicas.coordinators import NO_COORDINATORS, CoordinatorLog, Coordinators
from rules.replicas.exchanged import Exchanged
from rules.replicas.foreign import found_foreign
from rules.replicas.lives import of_incarnation, with_lives
from rules.replicas.metadata_snapshots import SnapshotSeen
from rules.replicas.partition_counts import NOTHING_COUNTED, PartitionCount, PartitionCounts
from rules.replicas.placing import Placing
from rules.replicas.remote import RemoteCopy, of_the_topic
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
    """What the checkpoint files of a log dir claim about one partition, and whether its broker stopped in order."""

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
        told = bool(of_logs or self.falls or self.steady or self.names or self.nameless)
        return told or bool(self.checkpoints or self.counts or self.coordinators)


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a partition's judges must know of the rest of its cluster."""

    cluster_id: str | None
    level: Level = "full"
    versions: tuple[BrokerVersion, ...] = ()
    settings: Settings = NO_SETTINGS
    gaps: tuple[TraceGap, ...] = ()
    requests_until: Mapping[int, int] = field(default_factory=dict)
    """When each broker answered the last request that its log tells, of whatever partition."""
    falls: Falls = field(default_factory=dict)
    steady: Mapping[str, Sequence[Times]] = field(default_factory=dict)
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


def owned(facts: Iterable[Fact], surroundings: Surroundings) -> list[Fact]:
    """The facts without what logs tell that are nobody's; a fact of which nothing is left is none."""
    nobodys = surroundings.disowned
    if not nobodys:
        return list(facts)
    kept: list[Fact] = []
    for fact in facts:
        moments = tuple(moment for moment in fact.moments if moment.span.source not in nobodys)
        if moments or not fact.moments:
            kept.append(fact if len(moments) == len(fact.moments) else replace(fact, moments=moments))
    return kept


def nothing_read(path: str) -> EpochChain:  # noqa: ARG001 - as whoever reads a file is asked
    """Of no folder is the epoch file known."""
    return ()


def assemble(
    facts: Iterable[Fact], surroundings: Surroundings, epochs_of: EpochsOf = nothing_read
) -> PartitionEvidence:
    """The evidence about one partition from all facts about it, in whatever order they come."""
    ordered = sorted(facts, key=lambda fact: (fact.broker, fact.log_dir, fact.state, fact.path or "", fact.order))
    claims = {(fact.broker, fact.log_dir): fact for fact in ordered if fact.root is not None}
    pieces = [fact for fact in ordered if fact.path is not None]
    grouped = groupby(pieces, key=lambda fact: (fact.broker, fact.log_dir, fact.path))
    untold = {
        log_dir: frozenset(LOG_DIR_CHECKPOINTS).difference(surroundings.checkpoints.get(log_dir, ()))
        for log_dir in {fact.log_dir for fact in pieces}
    }
    replicas = tuple(
        _replica(list(group), claims.get((broker, log_dir)), untold[log_dir])
        for (broker, log_dir, _), group in grouped
    )
    ids = frozenset(_ids_given(moment for fact in ordered for moment in fact.moments))
    told = _told(ordered, surroundings)
    first = ordered[0]
    if first.topic is None or first.partition is None:
        message = "facts without a partition are no evidence about one"
        raise ValueError(message)
    here = [replica for replica in replicas if replica.state == "current"]
    foreign = found_foreign((first.topic, first.partition), here, ids, surroundings)
    replicas = foreign.put_aside(replicas)
    own = of_incarnation(told, replicas)
    beside = {r.broker for r in replicas if r.state in ("deleted", "stray")} | gave_up(told)
    chronicle = Chronicle(in_terms(tuple(collapse(of_one_folder(own, beside)))), not_made(told, own))
    compacted = is_compacted(first.topic, here, surroundings.settings)
    strange = belied(replicas, chronicle, surroundings.loose, epochs_of, compacted=compacted)
    foreign = replace(foreign, belied=strange)
    replicas = foreign.put_aside(replicas)
    evidence = PartitionEvidence(
        cluster_id=surroundings.cluster_id,
        topic=first.topic,
        partition=first.partition,
        replicas=with_lives(replicas, left_behind(told, own), deleted_before(told, own), chronicle.not_made),
        foreign=foreign,
        level=surroundings.level,
        versions=surroundings.versions,
        settings=surroundings.settings,
        gaps=surroundings.gaps,
        requests_until=surroundings.requests_until,
        falls=surroundings.falls,
        steady=surroundings.steady,
        told_ids=ids,
        copied_live=surroundings.copied_live,
        copied=surroundings.copied,
        thresholds=surroundings.thresholds,
        coordinators=surroundings.coordinators,
        brokers_in_dump=surroundings.brokers_in_dump,
        unread_copies=surroundings.unread_copies.of(first.topic, first.partition),
        chronicle=chronicle,
        placing=Placing(
            homes=tuple(_in_place((home for fact in ordered for home in fact.group_homes), replicas)),
            assignments=tuple(told for fact in ordered for told in fact.assignments),
            counts=surroundings.counts,
        ),
        metadata_snapshots=tuple(seen for fact in ordered for seen in fact.metadata_snapshots),
        remote_copies=of_the_topic((c for fact in ordered for c in fact.remote_copies), _held_ids(replicas)),
        group_offsets=in_order((c for fact in ordered for c in fact.group_commits), _held_ids(replicas)),
    )
    return with_absent_segments(evidence)


def _told(facts: Sequence[Fact], surroundings: Surroundings) -> list[Moment]:
    """What was told, with what is repeated across the cuts of a trace told once, and busy traces thinned."""
    every = once(moment for fact in facts for moment in fact.moments)
    begun = {(moment.clock, moment.span.source): moment for moment in every if moment.kind == "trace-begins"}
    told = [moment for moment in every if moment.kind != "trace-begins"]
    files = FileOrder((moment.span.source, moment.time) for moment in told)
    told.sort(key=lambda moment: (moment.clock, files.place(moment.span.source), moment.span.start))
    return [*begun.values(), *going_on(rejoined(told_once(told), surroundings.busy), surroundings.falls)]


def _ids_given(moments: Iterable[Moment]) -> Iterable[str]:
    """Topic ids by those that know the topic's name too: of traces some only tell the id, which directories name."""
    return (moment.topic_id for moment in moments if moment.kind == "leadership" and moment.topic_id is not None)


def _in_place(homes: Iterable[GroupHome], replicas: Sequence[Replica]) -> Iterator[GroupHome]:
    """The groups that have records in a log of this partition, not in another log under its name."""
    strange = tuple(f"{replica.path}/" for replica in replicas if replica.state == "foreign")
    return (home for home in homes if not home.span.source.startswith(strange))


def _held_ids(replicas: Sequence[Replica]) -> frozenset[str]:
    return frozenset(r.topic_id for r in replicas if r.state == "current" and r.topic_id is not None)


def _replica(facts: Sequence[Fact], claimed: Fact | None, untold: frozenset[FileKind]) -> Replica:
    first = facts[0]
    directory = next((fact.directory for fact in facts if fact.directory is not None), DirectoryFacts())
    # A deleted or stray copy shares its log dir's files with a live one of the same name: the lines are the live one's.
    root = claimed.root if claimed and claimed.root and first.state in ("current", "future") else RootClaims()
    return Replica(
        broker=first.broker,
        log_dir=first.log_dir,
        path=first.path or "",
        state=first.state,
        topic_id=first.topic_id,
        segments=directory.segments,
        leftovers=directory.leftovers,
        log=join_all(fact.log for fact in facts if fact.log is not None),
        epoch_file=directory.epoch_file,
        high_watermark=root.high_watermark,
        recovery_point=root.recovery_point,
        log_start_claim=root.log_start,
        cleaner_offset=root.cleaner,
        clean_shutdown=first.clean_shutdown,
        snapshot_offsets=directory.snapshot_offsets,
        producer_claims=directory.producer_claims,
        indexes=join_all_indexes(fact.indexes for fact in facts),
        voters=directory.voters,
        untold=untold,
        refusals=directory.refusals + root.refusals,
        bytes_seen=sum(fact.bytes_seen for fact in facts),
        bytes_read=sum(fact.bytes_read for fact in facts),
    )
