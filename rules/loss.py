"""The bill of an incident: what each new epoch left out, who was told that it was written, and who still holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.bill import (
    Contents,
    GroupAtRisk,
    LostClient,
    LostReader,
    Portion,
    clients,
    contents,
    groups_at_risk,
    portions,
    readers,
)
from rules.evidence import PartitionEvidence, Replica, leaders_by_epoch
from rules.history import Moment
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.repetitions import times_told
from rules.survivors import Survivor, of_the_deposed, survivors, untold_epochs
from rules.turns import cuts


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Offsets of one epoch that the next leader did not have."""

    epoch: int
    leader: int | None
    next_epoch: int
    next_leader: int | None
    start_offset: int
    end_offset: int
    committed_end: int
    """Offsets from the start up to here were certainly committed."""
    acknowledged_end: int
    """Offsets up to here were answered to producers, with acks=1 or better; the last batch counts its first record."""
    answers: int
    first_time: int | None
    last_time: int | None
    clock: str | None
    """Whose clock the times are of."""
    reused_end: int
    """Offsets from the start up to here hold other records now; who read them must read them again."""
    survivors: tuple[Survivor, ...]
    """Copies of the lost epoch's records at these offsets, the most lasting ones first."""
    restored: bool
    """Whether the replica that would lead now holds the records again."""
    because: str
    portions: tuple[Portion, ...] = ()
    """The offsets by what they were worth."""
    contents: Contents | None = None
    """What the copies that still stand say of the records; null where none does."""
    clients: tuple[LostClient, ...] = ()
    readers: tuple[LostReader, ...] = ()
    groups: tuple[GroupAtRisk, ...] = ()
    groups_known: int = 0
    """Groups of which it is known what they committed here: of none, nothing is known."""
    reused_epochs: tuple[int, ...] = ()
    """Epochs of the records that stand at these offsets now."""

    @property
    def matters(self) -> bool:
        """Whether anybody had been told that something of it was written; else it is the protocol at work."""
        return max(self.committed_end, self.acknowledged_end) > self.start_offset

    @property
    def offsets(self) -> int:
        """How many offsets were left out."""
        return self.end_offset - self.start_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeftOut:
    """A stretch of one epoch's records that ceased to count, and who opened the epoch after it."""

    epoch: int
    leader: int | None
    next_epoch: int
    next_leader: int | None
    start: int
    end: int
    because: str


def losses(evidence: PartitionEvidence) -> tuple[Loss, ...]:
    """Every stretch of offsets that a new epoch left out or a replica cut, oldest epoch first; each is billed once."""
    billed: list[_LeftOut] = []
    for stretch in (*_by_openings(evidence), *_by_cuts(evidence.moments), *_inferred(evidence)):
        same = (b for b in billed if b.epoch == stretch.epoch and b.start <= stretch.start and stretch.end <= b.end)
        if not any(same):
            billed.append(stretch)
    return tuple(_bill(evidence, stretch) for stretch in sorted(billed, key=lambda b: (b.epoch, b.start)))


def _by_openings(evidence: PartitionEvidence) -> Iterator[_LeftOut]:
    """Of each epoch the records that the first opening below their end left out; an epoch may have written none."""
    starts = evidence.openings
    for epoch, told in sorted(evidence.epoch_ends.items()):
        opening = starts.get(epoch)
        later = (starts[other] for other in sorted(starts) if other > epoch)
        successor = next((m for m in later if m.offset is not None and m.offset < told.offset), None)
        if successor is None or successor.offset is None or successor.epoch is None:
            continue
        start = max(successor.offset, (opening.offset if opening is not None else None) or 0)
        if start < told.offset:
            yield _LeftOut(
                epoch=epoch,
                leader=None if opening is None else opening.broker,
                next_epoch=successor.epoch,
                next_leader=successor.broker,
                start=start,
                end=told.offset,
                because=told.because,
            )


def _by_cuts(moments: Sequence[Moment]) -> Iterator[_LeftOut]:
    """A leader that comes back with its own log can take other records' offsets without opening below them."""
    for cut in cuts(moments):
        term = cut.former_epoch
        if term is not None and cut.epoch is not None and cut.log_end_offset is not None:
            yield _LeftOut(
                epoch=term,
                leader=cut.broker,
                next_epoch=cut.epoch,
                next_leader=cut.leader,
                start=cut.offset,
                end=cut.log_end_offset,
                because=f"broker {cut.broker} cut its log there",
            )


def _inferred(evidence: PartitionEvidence) -> Iterator[_LeftOut]:
    """Cuts of which no log tells, where what they left names the epoch of the records that went."""
    leaders = leaders_by_epoch(evidence.moments)
    for cut in evidence.inferred_cuts:
        if cut.epoch is not None:
            following = cut.epoch + 1 if cut.next_epoch is None else cut.next_epoch
            yield _LeftOut(
                epoch=cut.epoch,
                leader=leaders.get(cut.epoch),
                next_epoch=following,
                next_leader=leaders.get(following),
                start=cut.offset,
                end=cut.log_end_offset,
                because=cut.because,
            )


def _bill(evidence: PartitionEvidence, left_out: _LeftOut) -> Loss:
    epoch, start, end = left_out.epoch, left_out.start, left_out.end
    proofs = [p.end_offset for p in evidence.committed_batches if p.term == epoch and p.end_offset > start]
    committed_end = min(end, max(proofs, default=start))
    answers = [m for m in evidence.moments if answered(m, epoch) and start <= (m.offset or 0) < end]
    times = [m.time for m in answers if m.time is not None]
    restored = any(_holds(r, epoch, start, end) for r in evidence.presumed_leaders)
    read = [c for c in evidence.aftermath if c.lost_epoch == epoch and start <= c.start_offset < end]
    reused_end = min(end, _reused(evidence, left_out))
    return Loss(
        epoch=epoch,
        leader=left_out.leader,
        next_epoch=left_out.next_epoch,
        next_leader=left_out.next_leader,
        start_offset=start,
        end_offset=end,
        committed_end=committed_end,
        acknowledged_end=_acknowledged_end(evidence, epoch, start, end, answers),
        answers=times_told(answers),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        clock=answers[0].clock if answers else None,
        reused_end=reused_end,
        survivors=_survivors(evidence, left_out),
        restored=restored,
        because=left_out.because,
        portions=portions((start, end), committed_end, answers, read),
        contents=contents(read),
        clients=clients(answers),
        readers=readers(evidence.moments, epoch, left_out.leader, start, end),
        groups=() if restored else groups_at_risk(evidence.group_offsets, epoch, start, end, _log_end(evidence)),
        groups_known=len({commit.group for commit in evidence.group_offsets}),
        reused_epochs=tuple(_epochs_there(evidence, epoch, start, reused_end)),
    )


def _acknowledged_end(
    evidence: PartitionEvidence, epoch: int, start: int, end: int, answers: Sequence[Moment]
) -> int:
    last = max((m.offset or 0 for m in answers), default=None)
    return start if last is None else min(end, evidence.batch_end(last, epoch))


def _log_end(evidence: PartitionEvidence) -> int | None:
    leader = evidence.leader_at_the_end
    return None if leader is None else leader.log_end_offset


def _survivors(evidence: PartitionEvidence, left_out: _LeftOut) -> tuple[Survivor, ...]:
    start, end = left_out.start, left_out.end
    found = survivors(evidence, left_out.epoch, start, end)
    return found or of_the_deposed(evidence, left_out.leader, left_out.next_leader, start, end)


def _reused(evidence: PartitionEvidence, left_out: _LeftOut) -> int:
    """How far the offsets hold other records now."""
    untold = untold_epochs(evidence, left_out.leader, left_out.next_leader)
    others = [d.end_offset for d in untold if d.start_offset < left_out.end and d.end_offset > left_out.start]
    return max([_written_since(evidence, left_out.next_epoch, left_out.start), *others])


def answered(moment: Moment, epoch: int) -> bool:
    """Whether a producer was told that its records were written in this epoch."""
    written = moment.kind == "produced" and moment.error == 0 and moment.offset is not None and moment.offset >= 0
    return written and moment.term == epoch and moment.acks != 0


def _written_since(evidence: PartitionEvidence, epoch: int, start: int) -> int:
    """How far offsets from `start` hold records of this epoch or a later one, on any replica."""
    runs = (run for replica in evidence.current for run in replica.log.epochs if run.epoch >= epoch)
    return max((run.end_offset for run in runs if run.end_offset > start), default=start)


def _epochs_there(evidence: PartitionEvidence, epoch: int, start: int, end: int) -> list[int]:
    """Other epochs whose records stand in the range in the logs that would lead."""
    runs = (run for replica in evidence.presumed_leaders for run in replica.log.epochs)
    own = (run for run in runs if run.start_offset < end and run.end_offset > start)
    return sorted({run.epoch for run in own} - {epoch, UNDEFINED_EPOCH})


def _holds(replica: Replica, epoch: int, start: int, end: int) -> bool:
    return any(r.epoch == epoch and r.start_offset < end and r.end_offset > start for r in replica.log.epochs)
