"""The bill of an incident: what each new epoch left out, who was told that it was written, and who still holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.extents import NO_OFFSETS, Extents
from rules.evidence import PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.facts.stretch import EpochRun
from rules.facts.surviving_copies import CopyRead
from rules.history.repetitions import times_told
from rules.history.statements import Produced
from rules.loss.accounts import accounts, committed_end_of
from rules.loss.after_succession import late_answers
from rules.loss.gone import perhaps_for_others
from rules.loss.held_again import first_life, held_again, surely_gone, unread
from rules.loss.held_by_none import as_left_out, held_by_none
from rules.loss.last_answers import sent_again
from rules.loss.left_out import answers_of, left_out
from rules.loss.lost_stretch import LeftOut
from rules.loss.perhaps_answered import as_far_as_heard
from rules.loss.read_before import GroupAtRisk, LostReader, groups_at_risk, readers
from rules.loss.readable import without_transactions
from rules.loss.survivors import Survivor, in_order, of_the_deposed, survivors, untold_epochs
from rules.loss.worth import Contents, LostClient, Portion, ToldProducers, clients, contents, end_at_most, portions
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.replicas.remote import RemoteCopy
from rules.replicas.unread_copies import owners
from rules.words import epoch_or_range


class Loss(Struct, frozen=True, kw_only=True):
    """Offsets of one epoch that the next leader did not have, or that no log here holds."""

    epoch: int
    leader: int | None
    next_epoch: int | None
    """Null where no leader left them out: no log here holds them, though they were written."""
    next_leader: int | None
    start_offset: int
    end_offset: int
    end_at_most: int | None
    """Where the last batch ends at the latest, unless it is compressed; null where its size is unknown."""
    end_known: bool
    """False where the range ends at the first record of a batch of which nothing tells how many it held."""
    committed_end: int
    """Offsets from the start up to here were certainly committed."""
    acknowledged_end: int
    """Offsets up to here were answered to producers, with acks=1 or better; the last batch counts its first record."""
    answers: int
    answers_known: bool
    """False where a busy log's answers are kept in part: then there were at least as many, and perhaps before."""
    first_time: int | None
    last_time: int | None
    clock: str | None
    """Whose clock the times are of."""
    reused_end: int
    """Offsets from the start up to here hold other records now; who read them must read them again."""
    survivors: tuple[Survivor, ...]
    """Copies of the lost epoch's records at these offsets, the most lasting ones first."""
    searched: tuple[int, ...]
    """Brokers whose disks are here to be searched for copies: of none, nothing tells whether one stands."""
    restored: bool
    """Whether the log that leads now holds the records again."""
    restored_seen: bool
    """Whether that log is here to show it: else logs tell that its broker had them still."""
    because: str
    latest_epoch: int | None = None
    """The newest epoch that the records may be of; null where their epoch is sure."""
    unsearched: tuple[int, ...] = ()
    """Brokers with a replica here of which segments that may hold a copy could not be read or were not copied."""
    unread: tuple[int, ...] = ()
    """Later leaders of which nothing here tells whether they still had the records: disk or server.log would."""
    portions: tuple[Portion, ...] = ()
    """The offsets by what they were worth."""
    contents: Contents | None = None
    """What the copies that still stand say of the records; null where none does."""
    clients: tuple[LostClient, ...] = ()
    readers: tuple[LostReader, ...] = ()
    groups: tuple[GroupAtRisk, ...] = ()
    groups_known: int = 0
    """Groups of which it is known what they committed here: of none, nothing is known."""
    again: bool = False
    """Whether the next leader had had them, and opened its epoch once more without them."""
    reused_epochs: tuple[int, ...] = ()
    """Epochs of the records that stand at these offsets now."""
    cleaned_since: bool = False
    """Whether other records were written there, and compaction has left none of them in the log that leads."""
    remote: tuple[RemoteCopy, ...] = ()
    """Segments in remote storage with records of the lost epoch here, as `__remote_log_metadata` tells."""

    @property
    def matters(self) -> bool:
        """Whether anybody had been told that something of it was written; else it is the protocol at work."""
        return max(self.committed_end, self.acknowledged_end) > self.start_offset

    @property
    def for_good(self) -> bool:
        """Whether the log that leads now surely lacks what somebody had been told is written."""
        return self.matters and not (self.restored or self.unread)

    @property
    def reopened(self) -> bool:
        """Whether its own leader lost them, and opened the same epoch once more."""
        return self.next_epoch == self.epoch

    @property
    def epochs(self) -> str:
        """The epoch of the records, or those of which it is one."""
        return epoch_or_range(self.epoch, self.newest)

    @property
    def newest(self) -> int:
        """The newest epoch that the records may be of."""
        return self.epoch if self.latest_epoch is None else self.latest_epoch

    @property
    def among(self) -> range:
        """The epochs of one of which the records are."""
        return range(self.epoch, self.newest + 1)

    @property
    def standing(self) -> tuple[tuple[int, int], ...]:
        """Ranges of the records of which a copy still stands."""
        return self._among(self.survivors)

    @property
    def kept_remotely(self) -> tuple[tuple[int, int], ...]:
        """Ranges of the records that segments in remote storage hold."""
        return self._among(self.remote)

    def _among(self, copies: Iterable[Survivor | RemoteCopy]) -> tuple[tuple[int, int], ...]:
        held = Extents.of((copy.start_offset, copy.end_offset) for copy in copies)
        return tuple((Extents.of([(self.start_offset, self.end_offset)]) & held).parts)

    @property
    def offsets(self) -> int:
        """How many offsets were left out."""
        return self.end_offset - self.start_offset


@asked_once
def losses(evidence: PartitionEvidence) -> tuple[Loss, ...]:
    """Every stretch of offsets that a new epoch left out, a replica cut or no log holds; each is billed once.

    The oldest epoch comes first.
    """
    gone = (part for found in held_by_none(evidence) if found.sure for part in as_left_out(evidence, found))
    parts = (part for stretch in (*left_out(evidence), *gone) for part in _parts(evidence, stretch))
    return tuple(_bill(evidence, part) for part in sorted(parts, key=lambda part: (part.epoch, part.start)))


def _parts(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[LeftOut]:
    """The stretch without what may stand again, cut where the log that leads now holds it again or not."""
    if stretch.held_by_none:
        yield stretch
        return
    away = NO_OFFSETS if stretch.older else sent_again(evidence, stretch.epoch)
    for start, end in (stretch.extent - away).parts:
        part = _part(stretch, start, end)
        gone, held = surely_gone(evidence, part), held_again(evidence, part)
        fared = gone - held.possible, gone & held.possible - held.sure, gone & held.sure
        yield from (_part(part, *one) for one in sorted(one for own in fared for one in own.parts))


def _part(stretch: LeftOut, start: int, end: int) -> LeftOut:
    """A part of the stretch, with the reason why it ends where it ends."""
    because = stretch.because if end == stretch.end else "what lies behind it fared otherwise"
    return replace(stretch, start=start, end=end, because=because)


def _bill(evidence: PartitionEvidence, part: LeftOut) -> Loss:
    account, epoch, start, end = accounts(evidence), part.epoch, part.start, part.end
    again = not part.held_by_none and part.extent <= held_again(evidence, part).sure
    committed_end = committed_end_of(evidence, part, again=again)
    answers = answers_of(evidence, part)
    times = [m.clock_time for m in answers if m.clock_time is not None]
    read = _copies_read(evidence, part.first, start, end)
    reused_end, leader = min(end, _reused(evidence, part)), evidence.leader_at_the_end
    log_end = None if leader is None else leader.log_end_offset
    worths = by_worth(evidence, part.first, (start, end, committed_end), answers, dense=not part.older)
    known_end = part.reopening is None and evidence.batch_ends.boundaries.told_beyond(epoch, end)
    last = None if known_end else next((m for m in answers if m.offset == end - 1), None)
    return Loss(
        epoch=part.first,
        leader=part.leader,
        next_epoch=None if part.held_by_none else part.next_epoch,
        next_leader=part.next_leader,
        start_offset=start,
        end_offset=end,
        end_at_most=end if last is None else end_at_most(last),
        end_known=last is None,
        committed_end=committed_end,
        acknowledged_end=account.acknowledged_end(epoch, start, end, answers),
        answers=times_told(answers),
        answers_known=not account.left_out(epoch, answers),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        clock=answers[0].clock if answers else None,
        reused_end=reused_end,
        survivors=_survivors(evidence, part),
        again=part.reopening is not None or part.anew,
        searched=tuple(sorted({r.broker for r in evidence.replicas if r.state != "foreign"})),
        unsearched=_unsearched(evidence, start, end),
        restored=again,
        restored_seen=bool(evidence.leaders_at_the_end),
        because=part.because,
        latest_epoch=part.newest if part.newest > part.first else None,
        unread=() if part.held_by_none else unread(evidence, part),
        portions=as_far_as_heard(evidence, part, worths),
        contents=contents(read),
        clients=clients(answers),
        readers=readers(account.consumed(epoch), epoch, part.leader, start, end),
        groups=() if again else groups_at_risk(evidence.group_offsets, epoch, start, end, log_end),
        groups_known=len({commit.group for commit in evidence.group_offsets}),
        remote=tuple(copy for copy in evidence.remote_copies if copy.within(epoch, start, end)),
        cleaned_since=reused_end == start and not part.held_by_none and _cleaned(evidence, start, end),
        reused_epochs=tuple(sorted({run.epoch for run in _others_there(evidence, part, reused_end)})),
    )


def by_worth(
    evidence: PartitionEvidence,
    epoch: int,
    stretch: tuple[int, int, int],
    answers: Sequence[Produced],
    *,
    dense: bool = True,
) -> tuple[Portion, ...]:
    """Records of an epoch, from a start to an end, in parts by who was told of them; the third is how far all knew."""
    start, end, committed_end = stretch
    producers = _heard(evidence, epoch, answers, whole=dense and not accounts(evidence).left_out(epoch, answers))
    read, dense = _copies_read(evidence, epoch, start, end), dense and not evidence.compacted
    markers = not without_transactions(evidence.own_logs)
    return portions((start, end), committed_end, producers, read, dense=dense, markers=markers)


def _copies_read(evidence: PartitionEvidence, epoch: int, start: int, end: int) -> list[CopyRead]:
    return [c for c in evidence.aftermath if c.lost_epoch == epoch and start <= c.start_offset < end]


def _heard(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], *, whole: bool) -> ToldProducers:
    """What producers heard, in batches as far as their ends are told.

    Of answers that are kept in part, each tells of its first record alone. So does one with acks=1 where others wait
    for all replicas: their batches, not answered yet, may lie before the next one that is told.
    """
    late, waiting = late_answers(evidence, epoch), evidence.chronicle.wait_for_all
    others = perhaps_for_others(evidence)
    heard = [m for m in answers if not (late(m) or (others and m in others))]
    alone = {m.offset or 0 for m in heard if not whole or (waiting and m.acks != -1)}
    offsets = {m.offset or 0 for m in heard}
    batches = Extents.of((at, at + 1 if at in alone else evidence.batch_end(at, epoch)) for at in offsets)
    return ToldProducers(answers, batches, frozenset(m.offset or 0 for m in answers) - offsets)


def _unsearched(evidence: PartitionEvidence, start: int, end: int) -> tuple[int, ...]:
    """Brokers of whose disks a part was not read that may hold a copy."""
    unseen = {replica.broker for replica in evidence.replicas if replica.unseen(start, end)}
    judged = [replica.broker for replica in evidence.replicas]
    return tuple(sorted(unseen | owners(evidence.unread_copies, evidence.assignment, judged)))


def _survivors(evidence: PartitionEvidence, part: LeftOut) -> tuple[Survivor, ...]:
    start, end = part.start, part.end
    if part.reopening is not None:
        return in_order(first_life(evidence, part))
    if part.held_by_none:
        return tuple(copy for copy in survivors(evidence, part.epoch, start, end) if copy.kind != "replica")
    found = survivors(evidence, part.epoch, start, end)
    return found or of_the_deposed(evidence, part.leader, part.next_leader, start, end)


def _cleaned(evidence: PartitionEvidence, start: int, end: int) -> bool:
    leader = evidence.leader_at_the_end
    return evidence.compacted and leader is not None and leader.log_end_offset > end and not leader.unseen(start, end)


def _reused(evidence: PartitionEvidence, part: LeftOut) -> int:
    """How far the offsets hold other records now."""
    untold = untold_epochs(evidence, part.leader, part.next_leader)
    others = [d.end_offset for d in untold if d.start_offset < part.end and d.end_offset > part.start]
    there = [min(part.end, run.end_offset) for run in _others_there(evidence, part, part.end)]
    # Where it is open who leads, on any replica.
    logs = evidence.leaders_at_the_end or evidence.current
    runs = (run for replica in logs for run in replica.runs_within(part.start, part.end))
    since = (run.end_offset for run in runs if run.epoch >= part.next_epoch)
    return max([part.start, *since, *there, *others])


def _others_there(evidence: PartitionEvidence, part: LeftOut, end: int) -> Iterator[EpochRun]:
    """Runs of other epochs, older ones too, from the start of the part up to an end in the log that leads."""
    own = (UNDEFINED_EPOCH, part.epoch) if part.reopening is None else (UNDEFINED_EPOCH,)
    runs = (run for replica in evidence.leaders_at_the_end for run in replica.runs_within(part.start, end))
    return (run for run in runs if run.epoch not in own)
