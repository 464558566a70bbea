"""Which records of each epoch ceased to count, and who opened the epoch that left them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.evidence import PartitionEvidence, leaders_by_epoch
from rules.history.moments import Moment
from rules.history.turns import cuts
from rules.replicas.lineage import cut_since, older_run


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A stretch of one epoch's records that ceased to count, and who opened the epoch after it."""

    epoch: int
    leader: int | None
    next_epoch: int
    next_leader: int | None
    start: int
    end: int
    because: str


def left_out(evidence: PartitionEvidence) -> list[LeftOut]:
    """Every stretch that a new epoch left out or a replica cut, each once."""
    told: list[LeftOut] = []
    for stretch in (*_by_openings(evidence), *_by_cuts(evidence.moments), *_inferred(evidence)):
        same = (b for b in told if b.epoch == stretch.epoch and b.start <= stretch.start and stretch.end <= b.end)
        if not any(same):
            told.append(stretch)
    return told


def _by_openings(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """Of each epoch the records that later leaders had not; an epoch may have written none."""
    for epoch, told in sorted(evidence.epoch_ends.items()):
        opening = evidence.openings.get(epoch)
        begun = (opening.offset if opening is not None else None) or 0
        due = told.offset
        for following in sorted(other for other in evidence.openings if other > epoch):
            successor = evidence.openings[following]
            start = max(begun, _goes_on(evidence, epoch, (begun, due), successor))
            if start < due:
                yield LeftOut(
                    epoch=epoch,
                    leader=None if opening is None else opening.broker,
                    next_epoch=following,
                    next_leader=successor.broker,
                    start=start,
                    end=due,
                    because=told.because if due == told.offset else "an earlier leader left out the rest",
                )
                due = start


def _goes_on(evidence: PartitionEvidence, epoch: int, written: tuple[int, int], successor: Moment) -> int:
    """Up to where a later leader went on from the epoch's records: where it opened, or before, on older records."""
    begun, end = written
    opened = end if successor.offset is None else successor.offset
    leader = next((replica for replica in evidence.current if replica.broker == successor.broker), None)
    if leader is None or leader.cleaned or epoch not in evidence.openings:
        return opened
    older = older_run(leader, epoch, begun, min(end, opened))
    # What it cut since may have been the epoch's, and what it holds a later leader's.
    cut = older is not None and cut_since(leader.broker, successor.epoch or 0, older[2], evidence.moments)
    return opened if older is None or cut else min(opened, older[1])


def _by_cuts(moments: Sequence[Moment]) -> Iterator[LeftOut]:
    """A leader that comes back with its own log can take other records' offsets without opening below them."""
    for cut in cuts(moments):
        term = cut.former_epoch
        if term is not None and cut.epoch is not None and cut.log_end_offset is not None:
            yield LeftOut(
                epoch=term,
                leader=cut.broker,
                next_epoch=cut.epoch,
                next_leader=cut.leader,
                start=cut.offset,
                end=cut.log_end_offset,
                because=f"broker {cut.broker} cut its log there",
            )


def _inferred(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """Cuts of which no log tells, where what they left names the epoch of the records that went."""
    leaders = leaders_by_epoch(evidence.moments)
    for cut in evidence.inferred_cuts:
        if cut.epoch is not None:
            following = cut.epoch + 1 if cut.next_epoch is None else cut.next_epoch
            yield LeftOut(
                epoch=cut.epoch,
                leader=leaders.get(cut.epoch),
                next_epoch=following,
                next_leader=leaders.get(following),
                start=cut.offset,
                end=cut.log_end_offset,
                because=cut.because,
            )
