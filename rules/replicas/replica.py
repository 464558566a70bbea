"""One replica as its disk shows it: its log, what its checkpoints claim, what its directory holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, takewhile

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import FileKind, ReplicaState, Span
from rules.chronicle.extents import NOTHING_POSSIBLE, Extents, Possible
from rules.facts.indexes import NO_INDEXES, IndexFacts
from rules.facts.read_again import UnreadFile, Zoom
from rules.facts.stretch import NO_LOG, UNOPENED, EpochRun, LogFacts, Stray, UnreadBytes
from rules.protocol import replica_log as protocol
from rules.protocol.epochs import EpochChain, EpochStart, assign_all, rebuild, truncate_from_end, truncate_from_start
from rules.protocol.offsets import UNDEFINED_EPOCH, Epoch, Offset, OffsetRange
from rules.replicas.claims import NO_EPOCH_FILE, EpochFile, OffsetClaim, ProducerClaim


class SegmentFile(Struct, frozen=True, kw_only=True):
    """One segment in plain use, in the order in which the broker would read it."""

    base_offset: int
    source: str
    size: int


class Leftover(Struct, frozen=True, kw_only=True):
    """A segment that the broker has put aside for deletion; never part of the log, though its records are real."""

    base_offset: int
    source: str
    size: int
    epochs: tuple[EpochRun, ...] = ()
    """What stands in it by batches that can be believed; only read where records are missed."""
    sound: bool = True
    """Whether nothing in it failed its checksum, and no offset is missing between its batches."""


class Replica(Struct, frozen=True, kw_only=True, dict=True):
    """One replica as its disk shows it."""

    broker: int
    log_dir: str
    path: str
    state: ReplicaState = "current"
    topic_id: str | None = None
    earlier: Possible = NOTHING_POSSIBLE
    """Offsets at which its records are or may be of an earlier life of the topic: `rules.replicas.lives`."""
    segments: tuple[SegmentFile, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    log: LogFacts = NO_LOG
    epoch_file: EpochFile = NO_EPOCH_FILE
    high_watermark: OffsetClaim | None = None
    recovery_point: OffsetClaim | None = None
    log_start_claim: OffsetClaim | None = None
    cleaner_offset: OffsetClaim | None = None
    clean_shutdown: Span | None = None
    """The log dir's `.kafka_cleanshutdown`; null of a crash, or of a broker that ran when it was copied."""
    snapshot_offsets: tuple[OffsetClaim, ...] = ()
    producer_claims: tuple[ProducerClaim, ...] = ()
    """Of the newest snapshots."""
    indexes: IndexFacts = NO_INDEXES
    untold: frozenset[FileKind] = frozenset()
    """Checkpoints of its log dir that were not copied or could not be read: whether they claim anything is open.

    None of the metadata log, of which no checkpoint of a log dir has a line.
    """
    voters: tuple[int, ...] = ()
    """Voters that the metadata log's quorum-state names; none where the quorum is kept in the log itself."""
    strays: tuple[Stray, ...] = ()
    """Batches whose headers are not believed; the log is told as their surroundings tell it (`rules.zoom.headers`)."""
    log_as_written: LogFacts | None = None
    """The log as all its headers tell it, where some are not believed."""
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
        return max(base if self.log.end_offset is None else self.log.end_offset, base, 0)

    @cached_property
    def earlier_life(self) -> bool:
        """Whether all of its log is of a life of the topic before it was created again, without topic ids."""
        held, older = Extents.of([(self.log_start_offset, self.log_end_offset)]), self.earlier.sure
        return bool(older) and held <= older

    @cached_property
    def cleaned(self) -> bool:
        """Whether the log cleaner has left its marks on this replica."""
        return self.cleaner_offset is not None or self.log.sparse_batches > 0

    @cached_property
    def last_epoch(self) -> int:
        """Highest leader epoch among the batches; -1 for none."""
        return max((run.epoch for run in self.log.epochs), default=-1)

    @cached_property
    def runs_by_epoch(self) -> Mapping[int, Sequence[EpochRun]]:
        """The runs of every epoch, in physical order."""
        found: dict[int, list[EpochRun]] = {}
        for run in self.log.epochs:
            found.setdefault(run.epoch, []).append(run)
        return found

    def runs_within(self, start: int, end: int) -> Iterator[EpochRun]:
        """The runs that share offsets with a range, by their first offsets."""
        starts, furthest, runs = self._by_start
        last = bisect_left(starts, end)
        beyond = takewhile(lambda place: furthest[place] > start, range(last - 1, -1, -1))
        first = min(beyond, default=last)
        return (run for run in runs[first:last] if run.end_offset > start)

    @cached_property
    def _by_start(self) -> tuple[list[int], list[int], list[EpochRun]]:
        """First offsets in order, how far any run up to each reaches, and the runs."""
        runs = sorted(self.log.epochs, key=lambda run: run.start_offset)
        return [run.start_offset for run in runs], [*accumulate((run.end_offset for run in runs), max)], runs

    @cached_property
    def dense_from(self) -> int:
        """Offset from which the cleaner cannot have rewritten batches."""
        rewritten = self.cleaner_offset.offset if self.cleaner_offset else self.log_end_offset
        return rewritten if self.cleaned else self.log_start_offset

    @property
    def end_known(self) -> bool:
        """Whether all segments from the log start on could be opened: else the log may go on where it seems to end."""
        return not any(u.next_offset is None or u.next_offset > self.log_start_offset for u in self.unopened)

    @cached_property
    def unopened(self) -> tuple[UnreadBytes, ...]:
        """Segments whose bytes could not be had: nobody may judge by what is not seen of them."""
        return tuple(unread for unread in self.log.unread if unread.kind in UNOPENED)

    def unseen(self, start_offset: int, end_offset: int) -> bool:
        """Whether offsets of a range may stand in one of those."""
        ends = ((u.expected_offset or 0, u.next_offset or end_offset) for u in self.unopened)
        return any(low < end_offset and start_offset < high for low, high in ends)

    @cached_property
    def end_kept(self) -> bool:
        """Whether nothing on the disk says that the log once went on beyond its end, or ends in what is no batch."""
        torn = any(unread.next_offset is None and unread.kind != "zero_tail" for unread in self.log.unread)
        failed = any(fault.end_offset == self.log.end_offset for fault in self.log.checksum_faults)
        claims = (self.high_watermark, self.recovery_point)
        beyond = any(claim is not None and claim.offset > self.log_end_offset for claim in claims)
        return self.end_known and not (torn or failed or beyond)

    @cached_property
    def may_be_live(self) -> bool:
        """Whether the log may merely have been copied before its checkpoints, from a broker that went on writing.

        A running broker leaves no marker of a clean shutdown; zeros below a recovery point no copy explains.
        """
        return self.clean_shutdown is None and not any(u.kind == "zero_tail" for u in self.log.unread)

    def watermark_alone_is_wrong(self, *, stopped: bool) -> bool:
        """Whether its high watermark is beyond the log, which ended here at a clean shutdown by its recovery point."""
        mark, point, end = self.high_watermark, self.recovery_point, self.log_end_offset
        return stopped and point is not None and point.offset == end and mark is not None and mark.offset > end

    def holds(self, start_offset: int, end_offset: int) -> bool:
        """Whether every offset of the range stands in a batch that no known defect touches."""
        log = self.log
        first = self.log_start_offset if log.first_offset is None and log.unknown_bases else log.first_offset
        if first is None or not first <= start_offset < end_offset <= self.log_end_offset:
            return False
        holes = [(step.expected, step.found) for step in log.gaps]
        holes += [(fault.base_offset, fault.end_offset) for fault in log.checksum_faults]
        holes += [(s.start_offset or 0, s.end_offset or 0) for s in self.strays if s.field != "leader epoch"]
        holes += [(u.expected_offset or 0, u.next_offset or u.expected_offset or 0) for u in log.unread]
        known_to = min((step.found for step in log.gaps[-1:] if log.gap_count > len(log.gaps)), default=end_offset)
        return end_offset <= known_to and not any(a < end_offset and start_offset < b for a, b in holes)

    @cached_property
    def bare(self) -> bool:
        """Whether the copy brought segments alone: no line in a checkpoint, no topic id, no snapshot, no epochs."""
        claims = self.high_watermark or self.recovery_point or self.log_start_claim or self.cleaner_offset
        return not (claims or self.topic_id or self.snapshot_offsets or self.epoch_file.entries)

    @cached_property
    def snapshot_beyond(self) -> OffsetClaim | None:
        """The furthest producer snapshot of a log that is known to end before it."""
        furthest = max(self.snapshot_offsets, key=lambda claim: claim.offset, default=None)
        return furthest if furthest and self.end_known and furthest.offset > self.log_end_offset else None

    @cached_property
    def log_chain(self) -> EpochChain:
        """Epochs and their first offsets as the batches of the log show them; legacy formats carry none."""
        runs = ((Epoch(run.epoch), Offset(run.start_offset)) for run in self.log.epochs if run.epoch >= 0)
        return truncate_from_start(rebuild([*runs]), Offset(self.log_start_offset))

    @cached_property
    def file_chain(self) -> EpochChain:
        """Entries of the leader-epoch-checkpoint as they stand there; none of a file that no broker would load."""
        entries = self.epoch_file.entries if self.epoch_file.state == "entries" else ()
        return tuple(EpochStart(epoch=Epoch(each.epoch), start_offset=Offset(each.start_offset)) for each in entries)

    @cached_property
    def loaded_chain(self) -> EpochChain:
        """The cache after the broker's next start: the file, mended by recovery, cut to the log's bounds."""
        chain = assign_all((), self.file_chain)
        if self.clean_shutdown is None:
            # Recovery walks the batches, whose epochs rise in the chain, and adds only what is newer than all it has.
            newest = chain[-1].epoch if chain else UNDEFINED_EPOCH
            chain = assign_all(chain, (entry for entry in self.log_chain if entry.epoch > newest))
        chain = truncate_from_end(chain, Offset(self.log_end_offset))
        return truncate_from_start(chain, Offset(self.log_start_offset))

    def at(self, end_offset: int) -> protocol.ReplicaLog:
        """The replica as the protocol saw it when its log ended at `end_offset`.

        Its broker starts from the log start where the checkpoint has no line of it. Where that file was not copied, the
        log end stands in its place, so that no cut rests on it.
        """
        end = min(end_offset, self.log_end_offset)
        untold = end if self.watermark_untold else self.log_start_offset
        watermark = self.high_watermark.offset if self.high_watermark else untold
        return protocol.ReplicaLog(
            epochs=truncate_from_end(self.loaded_chain, Offset(end)),
            log_start_offset=Offset(self.log_start_offset),
            log_end_offset=Offset(end),
            high_watermark=Offset(min(max(watermark, self.log_start_offset), end)),
            batches=self._known_batches,
        )

    @property
    def watermark_untold(self) -> bool:
        """Whether the file was not copied in which its broker keeps the high watermark that it starts with."""
        return self.high_watermark is None and "replication-offset-checkpoint" in self.untold

    @property
    def epochs_untold(self) -> bool:
        """Whether its records carry epochs, and the file was not copied in which its broker keeps them."""
        return self.epoch_file.state == "missing" and self.last_epoch >= 0

    def next_starts(self) -> tuple[protocol.ReplicaLog, ...]:
        """The replica at its broker's next start, in every way that files which were not copied leave open."""
        known = self.at(self.log_end_offset)
        chains = [known.epochs, *([self.log_chain] if self.epochs_untold else [])]
        marks = [known.high_watermark, *([Offset(self.log_start_offset)] if self.watermark_untold else [])]
        each = (replace(known, epochs=chain, high_watermark=mark) for chain in chains for mark in marks)
        return tuple(dict.fromkeys(each))

    @cached_property
    def _known_batches(self) -> tuple[OffsetRange, ...]:
        """The batches that were read one by one."""
        return tuple(
            OffsetRange(start_offset=Offset(batch.base_offset), end_offset=Offset(batch.end_offset))
            for zoom in self.zooms
            for batch in zoom.batches
            if batch.end_offset > batch.base_offset >= 0
        )

    @cached_property
    def last_known_epoch(self) -> int:
        """The epoch that the replica would name after its next start; without any entry, its batches' highest."""
        return self.loaded_chain[-1].epoch if self.loaded_chain else self.last_epoch


def same_topic(left: Replica, right: Replica) -> bool:
    """Whether two replicas belong to one incarnation of the topic; an unknown id matches any."""
    if left.earlier_life != right.earlier_life:
        return False
    return left.topic_id is None or right.topic_id is None or left.topic_id == right.topic_id
