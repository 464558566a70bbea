"""Which records of each epoch ceased to count, and who opened the epoch that left them out."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.facts.stretch import HIGHEST_OFFSET
from rules.history.log_cuts import Cut
from rules.history.moments import gives_role, own_log_end, succeeded
from rules.history.statements import Produced, RoleTaken
from rules.loss.accounts import accounts
from rules.loss.before_reopening import before_reopenings
from rules.loss.gone import AnsweredStretch, Gone, fates
from rules.loss.lost_stretch import LeftOut
from rules.loss.successors import Successors
from rules.protocol.offsets import without
from rules.replicas.epoch_ends import EpochReach
from rules.replicas.kept_older import cut_since, older_run


@asked_once
def left_out(evidence: PartitionEvidence) -> tuple[LeftOut, ...]:
    """Every stretch that a new epoch left out, a replica cut, or a leader answered for in vain: each record once.

    None of them had been deleted.
    """
    parted: list[LeftOut] = []
    by_epoch: dict[int, list[int]] = {}
    begins, successors = evidence.deleted, Successors(evidence)
    opened = (*before_reopenings(evidence), *_by_openings(evidence, successors))
    unsure = _by_ends_of_some_epoch(evidence, successors)
    every = [*opened, *unsure, *_by_cuts(evidence), *_inferred(evidence)]
    # Whoever cut records knows more of them than who opened an epoch that nobody tells of.
    every.sort(key=lambda stretch: stretch.older and stretch.known_end == 0)
    mixed = any(stretch.latest_epoch is not None for stretch in every)
    for stretch in every:
        places = by_epoch.setdefault(stretch.epoch, [])
        billed = [(parted[place].start, parted[place].end) for place in places]
        if mixed:
            billed += [(b.start, b.end) for b in parted if b.epoch <= stretch.newest and stretch.epoch <= b.newest]
        if stretch.older:
            earlier = (b for b in parted if b.epoch < stretch.epoch and b.next_epoch <= stretch.next_epoch)
            alike = (b for b in parted if b.older and b.first <= stretch.newest and stretch.first <= b.newest)
            billed += [(b.start, b.end) for b in (*earlier, *alike)]
        begun = begins.lost_later(stretch.leader, stretch.epoch, stretch.end, stretch.next_epoch, stretch.reopening)
        start = max(stretch.start, begun)
        for low, high in without(start, stretch.end, billed):
            _put(parted, places, replace(stretch, start=low, end=high))
    for gone in _by_answers(evidence):
        billed = [(b.start, b.end) for b in parted if b.first <= gone.newest and gone.first <= b.newest]
        start = max(gone.start, begins.lost_later(gone.leader, gone.epoch, gone.end, gone.next_epoch))
        for low, high in without(start, gone.end, billed):
            _put(parted, by_epoch.setdefault(gone.epoch, []), replace(gone, start=low, end=high))
    return tuple(parted)


def _put(parted: list[LeftOut], places: list[int], stretch: LeftOut) -> None:
    """One stretch more; what goes on where another one of the same epochs ends is a part of that."""
    for place in places:
        before = parted[place]
        alike = before.epochs == stretch.epochs and before.reopening is stretch.reopening
        if before.end == stretch.start and alike:
            parted[place] = replace(before, end=stretch.end, because=stretch.because)
            return
    places.append(len(parted))
    parted.append(stretch)


def _by_openings(evidence: PartitionEvidence, successors: Successors) -> Iterator[LeftOut]:
    """Of each epoch the records that later leaders had not; an epoch may have written none."""
    for epoch, reach in sorted(evidence.epoch_ends.items()):
        yield from _by_successors(evidence, successors, epoch, reach)


def _by_ends_of_some_epoch(evidence: PartitionEvidence, successors: Successors) -> Iterator[LeftOut]:
    """The same of epochs of which it is not known which they were: what is gone in any case, as of the newest one.

    Below where one of them opened, records need not be of any of them.
    """
    for oldest, reach in evidence.ends_of_some_epoch:
        possible = reach.last_epoch or oldest
        opened = {epoch: o.offset or 0 for epoch, o in evidence.openings.items() if epoch <= possible}
        begun = max((offset for epoch, offset in opened.items() if epoch >= oldest), default=0)
        for part in _by_successors(evidence, successors, max(opened, default=possible), reach):
            latest, start = min(possible, part.next_epoch - 1), max(part.start, begun)
            if start < part.end:
                leader = evidence.chronicle.leaders.get(oldest)
                yield replace(part, epoch=oldest, leader=leader, start=start, latest_epoch=latest)


def _by_successors(
    evidence: PartitionEvidence, successors: Successors, epoch: int, reach: EpochReach
) -> Iterator[LeftOut]:
    """What was written up to an end in an epoch, in parts by the later leaders that had it not."""
    opening = evidence.openings.get(epoch)
    opened = None if opening is None else opening.offset
    begun, own = opened or 0, _first_own(evidence, epoch) if opened is None else opened
    leader = evidence.chronicle.leaders.get(epoch) if opening is None or opening.broker is None else opening.broker
    due = reach.offset
    for following, successor in successors.of(epoch, begun):
        if due <= begun:
            break
        start = max(begun, _goes_on(evidence, epoch, (begun, due), successor))
        for low, high, oldest in ((max(start, own), due, None), (start, min(own, due), 0)):
            if low < high:
                yield LeftOut(
                    epoch=epoch,
                    leader=leader,
                    next_epoch=following,
                    next_leader=successor.broker,
                    start=low,
                    end=high,
                    because=reach.because if high == reach.offset else "an earlier leader left out the rest",
                    oldest=oldest,
                    reached=True,
                    anew=successor is not evidence.openings[following],
                )
        due = min(due, start)


def _first_own(evidence: PartitionEvidence, epoch: int) -> int:
    """From where on records are its own for all that is known, where nothing tells where an epoch opened."""
    if epoch <= 0:
        return 0
    sure = (m for m in evidence.moments if succeeded(m) and m.term == epoch and m.latest_term in (None, epoch))
    answered = [m.offset for m in sure if m.offset is not None]
    held = (run.start_offset for replica in evidence.own_logs for run in replica.runs_by_epoch.get(epoch, ()))
    return min([*answered, *held], default=HIGHEST_OFFSET)


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
        term, end = cut.former_epoch, least_end(evidence, cut)
        if term is None or cut.epoch is None or end is None or of_unknown_epoch(evidence, cut):
            continue
        newest, since = term, _over_before(evidence, cut, term)
        for wrote, start in (*_written_in(evidence, cut, (since, term)), (None, cut.offset)):
            epoch, low = newest if wrote is None else wrote, max(start, cut.begun, cut.of_this_life)
            newest = _before(evidence, epoch)
            if low < end:
                yield LeftOut(
                    epoch=epoch,
                    leader=leaders.get(epoch, cut.broker),
                    next_epoch=cut.epoch,
                    next_leader=cut.leader,
                    start=low,
                    end=end,
                    because=f"broker {cut.broker} cut its log there",
                    oldest=max(0, since) if wrote is None else None,
                    known_end=cut.high_watermark or 0,
                    latest_epoch=None if wrote is None else _untold_after(evidence, wrote, term),
                )
                end = low


def least_end(evidence: PartitionEvidence, cut: Cut) -> int | None:
    """Where a log ended at least that was cut: since 1.0 another line tells of a cut that removed nothing.

    What its broker told of its end may be older than what it fetched since.
    """
    known = cut.log_end_offset
    if known is not None and known > cut.offset:
        return known
    release = evidence.release_of(cut.broker, cut.moment)
    return cut.offset + 1 if release is not None and release.at_least(1, 0) else known


def _before(evidence: PartitionEvidence, epoch: int) -> int:
    """The newest epoch of which records may be that end where another one opened; that very one where it is the first.

    Of epochs that were given to nobody there are none.
    """
    older = range(epoch - 1, -1, -1)
    return next((other for other in older if other not in evidence.chronicle.led_by_nobody), epoch)


def of_unknown_epoch(evidence: PartitionEvidence, cut: Cut) -> bool:
    """Whether a broker's log leaves open of which epochs the records were that it cut: it may lack a role before."""
    former, epoch = cut.former_epoch, cut.epoch
    if former is None or former < 0 or epoch is None:
        return True
    led = (each for each, leader in evidence.chronicle.leaders.items() if leader == cut.broker)
    return any(former < lacked < epoch for lacked in (*evidence.lacked_roles.get(cut.broker, ()), *led))


def _untold_after(evidence: PartitionEvidence, epoch: int, latest: int) -> int | None:
    """The newest epoch that nobody tells of between one and the next that is told: records may be of it as well."""
    following = min((other for other in evidence.openings if other > epoch), default=epoch + 1)
    between = range(min(following - 1, latest), epoch, -1)
    return next((other for other in between if other not in evidence.chronicle.led_by_nobody), None)


def _over_before(evidence: PartitionEvidence, cut: Cut, latest: int) -> int:
    """The newest epoch in which a broker's log ended where it was cut later, or before: no older one wrote beyond."""
    known = evidence.chronicle
    own = ((own_log_end(m), m.epoch if gives_role(m) else known.earliest_term(m)) for m in known.told_by(cut.broker))
    ended = ((end, epoch) for end, epoch in own if end is not None and end <= cut.offset and epoch is not None)
    return max((_opened_by(evidence, end, epoch) for end, epoch in ended if epoch <= latest), default=-1)


def _opened_by(evidence: PartitionEvidence, end: int, epoch: int) -> int:
    """The epoch, or a newest older one that opened at an offset or below: a follower copies what is older behind it."""
    starts = evidence.openings
    if epoch not in starts or (starts[epoch].offset or 0) <= end:
        return epoch
    return max((older for older in starts if older < epoch and (starts[older].offset or 0) <= end), default=-1)


def _written_in(evidence: PartitionEvidence, cut: Cut, among: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The epochs of which a broker had records when it cut its log, the newest first, and from where on it had them.

    It had some of an epoch if it led it, or fetched beyond where it opened.
    """
    since, latest = among
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
            yield from (_acknowledged(gone, stretch) for stretch in gone.stretches)


def answers_of(evidence: PartitionEvidence, part: LeftOut) -> list[Produced]:
    """What producers were told of it; where its epoch is not sure, what is surely gone of no other epochs than its.

    What its leader answered in an older epoch or in this one, and is surely gone, is told of it too.
    """
    fated = [fate for fate in fates(evidence) if isinstance(fate, Gone) and fate.sure]
    if part.older:
        own: list[Produced] = []
        gone = (m for f in fated if f.epoch >= part.first for m in f.answers if m.newest_term(f.epoch) <= part.newest)
    else:
        own = accounts(evidence).answers(part.epoch, part.start, part.end, part.in_time)
        before = (fate for fate in fated if fate.epoch < part.epoch and fate.leader == part.leader)
        gone = (m for f in before for m in f.answers if m.newest_term(f.epoch) >= part.epoch)
    return own + [m for m in gone if part.start <= (m.offset or 0) < part.end]


def _acknowledged(gone: Gone, stretch: AnsweredStretch) -> LeftOut:
    following = gone.following
    return LeftOut(
        epoch=gone.epoch,
        leader=gone.leader,
        next_epoch=gone.epoch + 1 if following is None or following.epoch is None else following.epoch,
        next_leader=None if following is None else following.broker,
        start=stretch.start_offset,
        end=stretch.end_offset,
        because="nothing tells of more that a producer was answered for",
        latest_epoch=stretch.latest_epoch if stretch.latest_epoch > gone.epoch else None,
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
