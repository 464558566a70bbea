"""Which records of each epoch ceased to count, and who opened the epoch that left them out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.extents import Extents
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.evidence.deleted import deleted
from rules.facts.stretch import HIGHEST_OFFSET
from rules.history.log_cuts import Cut
from rules.history.moments import gives_role, own_log_end
from rules.history.statements import RoleTaken
from rules.loss.gone import Gone, fates
from rules.protocol.offsets import without
from rules.protocol.steps import StepLimit
from rules.replicas.epoch_ends import EpochReach
from rules.replicas.kept_older import cut_since, older_run


class LeftOut(Struct, frozen=True, kw_only=True):
    """A stretch of one epoch's records that ceased to count, and who opened the epoch after it."""

    epoch: int
    leader: int | None
    next_epoch: int
    next_leader: int | None
    start: int
    end: int
    because: str
    older: bool = False
    """Whether the records may be of older epochs: nothing tells that the replica had any of this one there."""
    known_end: int = 0
    """Up to where the replica that cut them, or whoever tells of what no log holds, knew them to be committed."""
    reopening: RoleTaken | None = None
    """Its leader's word that it took the same epoch once more: what it wrote since bears the same number."""
    anew: bool = False
    """Whether the next leader had them at first, and opened its epoch once more with a log that ended before them."""
    latest_epoch: int | None = None
    """The newest epoch that they may be of, where their epoch is not sure."""
    held_by_none: bool = False
    """Whether no leader left them out: they stand in no log here that should hold them (`held_by_none`)."""

    @property
    def newest(self) -> int:
        """The newest epoch that the records may be of."""
        return self.epoch if self.latest_epoch is None else self.latest_epoch

    @property
    def extent(self) -> Extents:
        """Its offsets."""
        return Extents.of([(self.start, self.end)])


@asked_once
def left_out(evidence: PartitionEvidence) -> tuple[LeftOut, ...]:
    """Every stretch that a new epoch left out, a replica cut, or a leader answered for in vain: each record once.

    None of them had been deleted.
    """
    parted: list[LeftOut] = []
    by_epoch: dict[int, list[int]] = {}
    begins, successors = deleted(evidence), _Successors(evidence)
    opened = (*_by_reopenings(evidence), *_by_openings(evidence, successors))
    unsure = [*_by_ends_of_some_epoch(evidence, successors)]
    for stretch in (*opened, *unsure, *_by_cuts(evidence), *_inferred(evidence)):
        places = by_epoch.setdefault(stretch.epoch, [])
        billed = [(parted[place].start, parted[place].end) for place in places]
        if unsure:
            billed += [(b.start, b.end) for b in parted if b.epoch <= stretch.newest and stretch.epoch <= b.newest]
        if stretch.older:
            earlier = (b for b in parted if b.epoch < stretch.epoch and b.next_epoch <= stretch.next_epoch)
            billed += [(b.start, b.end) for b in earlier]
        start = max(stretch.start, begins.below(stretch.leader, stretch.epoch))
        for low, high in without(start, stretch.end, billed):
            _put(parted, places, replace(stretch, start=low, end=high))
    for gone in _by_answers(evidence):
        billed = [(b.start, b.end) for b in parted if b.epoch <= gone.newest and gone.epoch <= b.newest]
        start = max(gone.start, begins.below(gone.leader, gone.epoch))
        for low, high in without(start, gone.end, billed):
            _put(parted, by_epoch.setdefault(gone.epoch, []), replace(gone, start=low, end=high))
    return tuple(parted)


def _put(parted: list[LeftOut], places: list[int], stretch: LeftOut) -> None:
    """One stretch more; what goes on where another one of the same two epochs ends is a part of that."""
    for place in places:
        if (parted[place].next_epoch, parted[place].end) == (stretch.next_epoch, stretch.start):
            parted[place] = replace(parted[place], end=stretch.end, because=stretch.because)
            return
    places.append(len(parted))
    parted.append(stretch)


def _by_reopenings(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """What a leader had committed and no longer had when it took its role again, without a new epoch."""
    for lost in evidence.lost_terms:
        first = evidence.openings.get(lost.epoch)
        begun = max(lost.start_offset, 0 if first is None else first.offset or 0)
        learnt = lost.committed.moment.term
        own = lost.committed.term == lost.epoch and learnt in (None, lost.epoch)
        if own and begun < lost.committed.end_offset:
            yield LeftOut(
                epoch=lost.epoch,
                leader=lost.leader,
                next_epoch=lost.epoch,
                next_leader=lost.leader,
                start=begun,
                end=lost.committed.end_offset,
                because=lost.committed.because,
                reopening=lost.opening,
            )


def _by_openings(evidence: PartitionEvidence, successors: _Successors) -> Iterator[LeftOut]:
    """Of each epoch the records that later leaders had not; an epoch may have written none."""
    for epoch, reach in sorted(evidence.epoch_ends.items()):
        yield from _by_successors(evidence, successors, epoch, reach)


def _by_ends_of_some_epoch(evidence: PartitionEvidence, successors: _Successors) -> Iterator[LeftOut]:
    """The same of epochs of which it is not known which they were: what is gone in any case, as of the newest one."""
    for oldest, reach in evidence.ends_of_some_epoch:
        newest = max(epoch for epoch in evidence.openings if epoch <= (reach.last_epoch or oldest))
        for part in _by_successors(evidence, successors, newest, reach):
            latest = min(reach.last_epoch or oldest, part.next_epoch - 1)
            yield replace(part, epoch=oldest, leader=evidence.chronicle.leaders.get(oldest), latest_epoch=latest)


def _by_successors(
    evidence: PartitionEvidence, successors: _Successors, epoch: int, reach: EpochReach
) -> Iterator[LeftOut]:
    """What was written up to an end in an epoch, in parts by the later leaders that had it not."""
    opening = evidence.openings.get(epoch)
    begun = (opening.offset if opening is not None else None) or 0
    leader = evidence.chronicle.leaders.get(epoch) if opening is None or opening.broker is None else opening.broker
    due = reach.offset
    for following, successor in successors.of(epoch, begun):
        if due <= begun:
            break
        start = max(begun, _goes_on(evidence, epoch, (begun, due), successor))
        if start < due:
            yield LeftOut(
                epoch=epoch,
                leader=leader,
                next_epoch=following,
                next_leader=successor.broker,
                start=start,
                end=due,
                because=reach.because if due == reach.offset else "an earlier leader left out the rest",
                anew=successor is not evidence.openings[following],
            )
            due = start


class _Successors:
    """The epochs after another one that can have left out its records: those that opened lower than all before them."""

    def __init__(self, evidence: PartitionEvidence) -> None:
        """The openings in order, for each the next lower one, and how far every log holds older records."""
        again = evidence.reopenings
        first = sorted(evidence.openings.items())
        self._openings = [(epoch, one) for epoch, opening in first for one in (opening, *again.get(epoch, ()))]
        offsets = [opening.offset for _, opening in self._openings]
        self._lower = _next_lower([HIGHEST_OFFSET if offset is None else offset for offset in offsets])
        self._held = [_reaches(replica) for replica in evidence.current if not replica.cleaned]

    def of(self, epoch: int, begun: int) -> Iterator[tuple[int, RoleTaken]]:
        """The openings, in order; all of them where some log holds older records at offsets that were the epoch's."""
        place = bisect_right(self._openings, epoch, key=lambda opened: opened[0])
        older = any(_up_to(epoch, *reaches) > begun for reaches in self._held)
        bound = StepLimit(len(self._openings), "going through the openings after an epoch")
        while place < len(self._openings):
            bound.step()
            yield self._openings[place]
            place = place + 1 if older else self._lower[place]


def _next_lower(offsets: Sequence[int]) -> list[int]:
    """For each place the next one with a lower offset, or the end."""
    found = [len(offsets)] * len(offsets)
    waiting: list[int] = []
    bound = StepLimit(len(offsets), "looking for lower openings")
    for place, offset in enumerate(offsets):
        while waiting and offsets[waiting[-1]] > offset:
            bound.step()
            found[waiting.pop()] = place
        waiting.append(place)
    return found


def _reaches(replica: Replica) -> tuple[list[int], list[int]]:
    """The epochs of a log in order, and how far the records up to each of them reach."""
    epochs = sorted(epoch for epoch in replica.runs_by_epoch if epoch >= 0)
    return epochs, [*accumulate((max(r.end_offset for r in replica.runs_by_epoch[e]) for e in epochs), max)]


def _up_to(epoch: int, epochs: Sequence[int], ends: Sequence[int]) -> int:
    place = bisect_left(epochs, epoch)
    return ends[place - 1] if place else 0


def _goes_on(evidence: PartitionEvidence, epoch: int, written: tuple[int, int], successor: RoleTaken) -> int:
    """Up to where a later leader went on from the epoch's records: where it opened, or before, on older records."""
    begun, end = written
    opened = end if successor.offset is None else successor.offset
    leader = next((replica for replica in evidence.current if replica.broker == successor.broker), None)
    if leader is None or leader.cleaned or epoch not in evidence.openings:
        return opened
    older = older_run(leader, epoch, begun, min(end, opened))
    # What it cut since may have been the epoch's, and what it holds a later leader's.
    cut = older is not None and cut_since(leader.broker, successor.epoch or 0, older[2], evidence.chronicle)
    return opened if older is None or cut else min(opened, older[1])


def _by_cuts(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """A leader that comes back with its own log can take other records' offsets without opening below them."""
    leaders = evidence.chronicle.leaders
    for cut in evidence.chronicle.cuts:
        term, end = cut.former_epoch, cut.log_end_offset
        if term is None or term < 0 or cut.epoch is None or end is None:
            continue
        for wrote, start in (*_written_in(evidence, cut, term), (None, cut.offset)):
            epoch, low = term if wrote is None else wrote, max(start, cut.of_this_life)
            if low < end:
                yield LeftOut(
                    epoch=epoch,
                    leader=leaders.get(epoch, cut.broker),
                    next_epoch=cut.epoch,
                    next_leader=cut.leader,
                    start=low,
                    end=end,
                    because=f"broker {cut.broker} cut its log there",
                    older=wrote is None,
                    known_end=cut.high_watermark or 0,
                )
                end = low


def _written_in(evidence: PartitionEvidence, cut: Cut, latest: int) -> Iterator[tuple[int, int]]:
    """The epochs of which a broker had records when it cut its log, the newest first, and from where on it had them.

    It had some of an epoch if it led it, or fetched beyond where it opened; of none that was over when its log ended
    there or before.
    """
    own = ((own_log_end(m), m.epoch if gives_role(m) else m.term) for m in evidence.chronicle.told_by(cut.broker))
    ended = (epoch for end, epoch in own if end is not None and end <= cut.offset and epoch is not None)
    since = max((epoch for epoch in ended if epoch <= latest), default=-1)
    for epoch in sorted((e for e in evidence.openings if since <= e <= latest), reverse=True):
        opening = evidence.openings[epoch]
        begun = opening.offset
        if begun is None or latest not in evidence.openings:
            continue
        if opening.broker == cut.broker or evidence.chronicle.fetched_up_to(cut.broker, epoch) > begun:
            yield epoch, begun


def _by_answers(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """What producers were answered for, though nothing else tells that it was written; see `fates` for the order."""
    for gone in () if evidence.epochs_used_twice else fates(evidence):
        if isinstance(gone, Gone):
            yield _acknowledged(gone)


def _acknowledged(gone: Gone) -> LeftOut:
    following = gone.following
    return LeftOut(
        epoch=gone.epoch,
        leader=gone.leader,
        next_epoch=gone.epoch + 1 if following is None or following.epoch is None else following.epoch,
        next_leader=None if following is None else following.broker,
        start=gone.start_offset,
        end=gone.end_offset,
        because="nothing tells of more that a producer was answered for",
        latest_epoch=gone.latest_epoch if gone.latest_epoch > gone.epoch else None,
    )


def _inferred(evidence: PartitionEvidence) -> Iterator[LeftOut]:
    """Cuts of which no log tells, where what they left names the epoch of the records that went."""
    leaders = evidence.chronicle.leaders
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
