"""The bill of an incident: what each new epoch left out, who was told that it was written, and who still holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.evidence import PartitionEvidence, Replica
from rules.history import Moment, committed, epoch_starts


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
    survivors: tuple[int, ...]
    """Brokers on whose disks records of the lost epoch still stand at these offsets."""
    because: str

    @property
    def offsets(self) -> int:
        """How many offsets were left out."""
        return self.end_offset - self.start_offset


def losses(evidence: PartitionEvidence) -> tuple[Loss, ...]:
    """Every stretch of offsets that a new epoch left out, oldest first."""
    starts = epoch_starts(evidence.moments)
    epochs = sorted(starts)
    return tuple(
        loss
        for epoch, following in zip(epochs, epochs[1:], strict=False)
        for loss in _loss(evidence, starts[epoch], starts[following])
    )


def _loss(evidence: PartitionEvidence, opening: Moment, following: Moment) -> Iterator[Loss]:
    epoch, start = opening.epoch, following.offset
    if epoch is None or start is None or following.epoch is None:
        return
    end, because = _end_of(evidence.moments, opening)
    if end <= start:
        return
    proofs = [p.end_offset for p in committed(evidence.moments) if p.term == epoch and p.end_offset > start]
    answers = [m for m in evidence.moments if _answered(m, epoch) and (m.offset or 0) >= start]
    times = [m.time for m in answers if m.time is not None]
    yield Loss(
        epoch=epoch,
        leader=opening.broker,
        next_epoch=following.epoch,
        next_leader=following.broker,
        start_offset=start,
        end_offset=end,
        committed_end=min(end, max(proofs, default=start)),
        acknowledged_end=max([start, *((m.offset or 0) + 1 for m in answers)]),
        answers=len(answers),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        clock=answers[0].clock if answers else None,
        reused_end=min(end, _written_since(evidence, following.epoch, start)),
        survivors=tuple(sorted(r.broker for r in evidence.replicas if _holds(r, epoch, start, end))),
        because=because,
    )


def _answered(moment: Moment, epoch: int) -> bool:
    written = moment.kind == "produced" and moment.error == 0 and moment.offset is not None and moment.offset >= 0
    return written and moment.term == epoch and moment.acks != 0


def _end_of(moments: Sequence[Moment], opening: Moment) -> tuple[int, str]:
    """How far the epoch's leader had written, by the best word there is."""
    ends: list[tuple[int, str]] = []
    for moment in moments:
        if moment.term != opening.epoch:
            continue
        own = moment.broker == opening.broker and moment.clock == f"broker {opening.broker}"
        if own and moment.kind in ("follower-starts", "log-loaded"):
            told = moment.offset if moment.end_offset is None else moment.end_offset
            ends.append((told or 0, f"broker {opening.broker}'s log ended there when it was loaded again"))
        elif own and moment.kind == "produced" and moment.error == 0:
            ends.append(((moment.offset or 0) + 1, "the last answer to a producer names the first record of its batch"))
        elif moment.kind == "fetched" and moment.witness == opening.broker and _agreed(moment):
            ends.append((moment.offset or 0, "a follower asked for it"))
    return max(ends, default=(0, "nothing tells"))


def _agreed(fetch: Moment) -> bool:
    """Whether the leader took the follower's position for one in its own log."""
    return fetch.error == 0 and fetch.answered_epoch is None and not fetch.doubtful


def _written_since(evidence: PartitionEvidence, epoch: int, start: int) -> int:
    """How far offsets from `start` hold records of this epoch or a later one, on any replica."""
    runs = (run for replica in evidence.current for run in replica.log.epochs if run.epoch >= epoch)
    return max((run.end_offset for run in runs if run.end_offset > start), default=start)


def _holds(replica: Replica, epoch: int, start: int, end: int) -> bool:
    return any(r.epoch == epoch and r.start_offset < end and r.end_offset > start for r in replica.log.epochs)
