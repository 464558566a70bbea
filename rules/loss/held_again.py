"""What of a stretch that went the log that leads now holds again, by its disk or by who led since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rules.chronicle.extents import Extents, Possible
from rules.evidence import Moment, PartitionEvidence, Replica, same_topic
from rules.facts.stretch import EpochRun
from rules.history.moments import BEGUN_ANEW, OF_SERVER_LOG, agreed, held_up_to, succeeded
from rules.history.statements import RoleTaken
from rules.loss.held_on import WrittenRecord, held_unseen, holder
from rules.loss.lost_stretch import LeftOut
from rules.loss.survivors import Survivor, copies, of_the_deposed
from rules.protocol.offsets import UNDEFINED_EPOCH


def held_again(evidence: PartitionEvidence, part: LeftOut) -> Possible:
    """The offsets of the stretch at which it holds the epoch's own records; what it deleted below is no loss.

    What it shows no more, or where it is not here, is told by those who led since.
    """
    if part.reopening is not None:
        return _of_before(evidence, part)
    leading = evidence.leaders_at_the_end
    runs = (run for replica in leading for run in _runs(replica, part))
    own = (run for run in runs if run.start_offset < part.end and run.end_offset > part.start)
    held = Extents.of((part.start, min(part.end, run.end_offset)) for run in own)
    shown = min((replica.log_start_offset for replica in leading), default=part.end)
    deleted = Extents.of([(part.start, min(part.end, shown))]) - held
    return Possible.known(*(held | deleted if deleted and _untold_since(evidence, part) == () else held).parts)


def surely_gone(evidence: PartitionEvidence, part: LeftOut) -> Extents:
    """All of it; of an epoch opened again what no copy holds under its number, where that leader's log is not here."""
    if part.reopening is None or _reopened(evidence, part) is not None:
        return part.extent
    return part.extent - _held(run for replica in evidence.own_logs for run in _runs(replica, part))


def unread(evidence: PartitionEvidence, part: LeftOut) -> tuple[int, ...]:
    """Brokers whose server.log would tell whether a later leader still had them; none where that is known."""
    if part.reopening is not None:
        stands = _of_before(evidence, part)
        return (evidence.chronicle.last_leader[1],) if part.extent & (stands.possible - stands.sure) else ()
    first = WrittenRecord(epoch=part.epoch, offset=part.start, leader=part.leader)
    lost = part.next_epoch, part.next_leader
    if evidence.leaders_at_the_end:
        unseen = held_unseen(evidence, first, lost, None)
        # Without epochs nothing tells whether records of that leader stand again, or later ones that both logs hold.
        alike = of_the_deposed(evidence, part.leader, part.next_leader, part.start, part.end)
        leading = {replica.path: replica.broker for replica in evidence.leaders_at_the_end}
        perhaps = {leading[copy.path] for copy in alike if copy.path in leading}
        return tuple(sorted(perhaps | ({unseen.broker} if unseen is not None else set())))
    held = holder(evidence, first, lost, None)
    known = {held.broker} if held is not None else set()
    return tuple(sorted({*known, *(_untold_since(evidence, part) or ()), *_perhaps_leading(evidence, part)}))


def _perhaps_leading(evidence: PartitionEvidence, part: LeftOut) -> Iterator[int]:
    """Where it is open who led last, those of whom it may have been and whose logs hold some of the records."""
    since = evidence.perhaps_led_since
    last = (r for r in evidence.current if since and r.broker == evidence.chronicle.last_leader[1])
    yield from (r.broker for r in (*last, *since) if part.extent & _held(_runs(r, part)))


# --- an epoch that its leader opened once more ----------------------------------------------------------------------


def first_life(evidence: PartitionEvidence, part: LeftOut) -> Iterator[Survivor]:
    """The copies of what was surely written before the epoch was opened again, but for that leader's own log."""
    reopened = _reopened(evidence, part)
    for replica in (replica for replica in evidence.own_logs if replica is not reopened):
        for start, end in _first_life(evidence, part, replica).sure.parts:
            yield from copies(replica, part.epoch, start, end)


def _of_before(evidence: PartitionEvidence, part: LeftOut) -> Possible:
    """What the log that leads now holds of before: by its disk, else by how far its broker had fetched and cut."""
    _, leader = evidence.chronicle.last_leader
    if leader != part.next_leader and all(replica.broker != leader for replica in evidence.current):
        had = min(_fetched(evidence, part, leader), part.end)
        least, most = (min([had, *_cut_to(evidence, leader, newest)]) for newest in (None, part.epoch))
        return Possible(sure=Extents.of([(part.start, least)]), possible=Extents.of([(part.start, most)]))
    found = Possible()
    for replica in evidence.leaders_at_the_end:
        found |= Possible.known(*_held(_runs(replica, part)).parts) & _first_life(evidence, part, replica)
    return found


def _fetched(evidence: PartitionEvidence, part: LeftOut, broker: int) -> int:
    """How far a broker had fetched before the epoch was opened again, by the word of that leader."""
    own = [m for m in evidence.moments if m.kind == "fetched" and m.broker == broker and m.term == part.epoch]
    again = part.reopening
    ends = (m.offset or 0 for m in own if again is not None and m.clock == again.clock and _before(m, again))
    return max(ends, default=part.start)


def _before(moment: Moment, other: Moment) -> bool:
    return moment.error == 0 and moment.time is not None and other.time is not None and moment.time < other.time


def _cut_to(evidence: PartitionEvidence, broker: int, beyond: int | None = None) -> Iterator[int]:
    """Where a broker's log was cut, at any time, or surely after an epoch; one begun anew holds nothing of before."""
    cuts = ((cut.offset, cut.epoch) for cut in evidence.chronicle.cuts if cut.broker == broker)
    anew = ((0, m.term) for m in evidence.chronicle.told_by(broker) if m.kind in BEGUN_ANEW)
    for offset, epoch in (*cuts, *anew):
        if beyond is None or (epoch is not None and epoch > beyond):
            yield offset


def _cut_since(evidence: PartitionEvidence, broker: int | None, time: int) -> Iterator[int]:
    """Where a broker's log was cut since a time by its clock; one that was begun anew keeps nothing."""
    cuts = ((cut.offset, cut.moment) for cut in evidence.chronicle.cuts if cut.broker == broker)
    anew = ((0, m) for m in evidence.moments if m.clock == f"broker {broker}" and m.kind in BEGUN_ANEW)
    yield from (offset for offset, moment in (*cuts, *anew) if moment.time is None or moment.time >= time)


def _reopened(evidence: PartitionEvidence, part: LeftOut) -> Replica | None:
    return next((replica for replica in evidence.current if replica.broker == part.next_leader), None)


def _runs(replica: Replica, part: LeftOut) -> Iterable[EpochRun]:
    return replica.runs_by_epoch.get(part.epoch, ())


def _held(runs: Iterable[EpochRun]) -> Extents:
    return Extents.of((run.start_offset, run.end_offset) for run in runs)


def _first_life(evidence: PartitionEvidence, part: LeftOut, replica: Replica) -> Possible:
    """Where a copy's records are of before: others than in that leader's log, or beyond what its broker wrote since.

    None where that log is not here.
    """
    reopened = _reopened(evidence, part)
    if reopened is None or not same_topic(replica, reopened):
        return Possible()
    pair, whole = {id(replica), id(reopened)}, Possible.known((part.start, part.end))
    apart = ((d.start_offset, d.end_offset) for d in evidence.differences if {id(d.left), id(d.right)} == pair)
    return whole & (whole - _since(evidence, part, reopened) | Possible.known(*apart))


def _since(evidence: PartitionEvidence, part: LeftOut, reopened: Replica) -> Possible:
    """What that leader's log holds of the epoch that its broker wrote since: no more than it had when it followed next.

    Where no line tells that, it wrote as far as its answers reach, and may have copied the rest from a later leader.
    """
    held, again = _held(_runs(reopened, part)), part.reopening
    if again is None or again.time is None:
        return Possible.known(*held.parts)
    lives = [r for r in evidence.chronicle.reigns if (r.broker, r.epoch) == (part.next_leader, part.epoch)]
    led = (d.role for d in evidence.chronicle.deposed if (d.broker, d.led) == (part.next_leader, part.epoch))
    followed = next((role for role in led if role.time is not None and role.time >= again.time), None)
    if followed is not None and lives and lives[-1].opening is again:
        # What it lost behind that it may have copied from a later leader since.
        end = followed.offset or 0
        kept = min([end, *_cut_since(evidence, part.next_leader, again.time)])
        return Possible(sure=held & Extents.of([(0, kept)]), possible=held & Extents.of([(0, end)]))
    leaders = evidence.chronicle.perhaps_leaders
    newer = (epoch for epoch in (*leaders, *reopened.runs_by_epoch) if epoch > part.epoch)
    if all(leaders.get(epoch) == part.next_leader for epoch in newer):
        return Possible.known(*held.parts)
    said = (m for life in lives if (life.opening.time or 0) >= again.time for m in life.said)
    reached = ((0, (m.offset or 0) + succeeded(m)) for m in said if succeeded(m) or (m.kind == "fetched" and agreed(m)))
    return Possible(sure=held & Extents.of(reached), possible=held)


# --- without the last leader's disk ---------------------------------------------------------------------------------

_LEADING: Final = ("leader-starts", "produced", "fetched", "consumed")


def _untold_since(evidence: PartitionEvidence, part: LeftOut) -> tuple[int, ...] | None:
    """Brokers that led and of which nothing tells that they still had the records; null where they are not held again.

    They are where who wrote them led again with all of them, and nobody without. Only a broker's server.log tells that
    its log was cut; that no line tells it shows something where that log is here.
    """
    own = [o for o in evidence.openings.values() if o.broker == part.leader and (o.offset or 0) >= part.end]
    again = max(own, key=lambda o: -1 if o.epoch is None else o.epoch, default=None)
    if part.leader is None or again is None or again.epoch is None or again.epoch <= part.next_epoch:
        return None
    later = [opening for epoch, opening in evidence.openings.items() if epoch > again.epoch]
    if any((opening.offset or 0) < part.end for opening in later) or _gone(evidence, part, again.epoch):
        return None
    cuts = (c for c in evidence.chronicle.cuts if c.offset <= part.start and (c.epoch or 0) >= again.epoch)
    untold = {o.broker for o in later if o.broker is not None} - {part.leader} - {cut.broker for cut in cuts}
    held = _held(run for replica in evidence.current if replica.broker == part.leader for run in _runs(replica, part))
    if not (part.extent <= held or _read_through(evidence, part, again)):
        untold.add(part.leader)
    return tuple(sorted(untold))


def _gone(evidence: PartitionEvidence, part: LeftOut, again: int) -> bool:
    """Whether something tells that the records were lost before their leader led again."""
    between = [m for m in evidence.moments if m.term is not None and part.epoch <= m.term < again]
    own = f"broker {part.leader}"
    return (
        any(m.clock == own and (end := held_up_to(m)) is not None and end < part.end for m in between)
        or any(_fetched_below(m, part) for m in between)
        or any(_holds_others(replica, part, again) for replica in evidence.current)
    )


def _holds_others(replica: Replica, part: LeftOut, again: int) -> bool:
    """Whether a log that was its own, or goes on from its own, holds other records there."""
    if replica.broker != part.leader and max(replica.runs_by_epoch, default=UNDEFINED_EPOCH) < again:
        return False
    return any(r.epoch not in (part.epoch, UNDEFINED_EPOCH) for r in replica.runs_within(part.start, part.end))


def _read_through(evidence: PartitionEvidence, part: LeftOut, again: RoleTaken) -> bool:
    """Whether one file of its server.log reaches from when it still led the epoch up to when it led again."""
    clock = f"broker {part.leader}"
    if again.clock != clock or again.time is None:
        return False
    own = [m for m in evidence.moments if m.clock == clock and m.time is not None]
    led = [m.time or 0 for m in own if m.kind in _LEADING and part.epoch == (m.term if m.epoch is None else m.epoch)]
    lines = [(m.span.source, m.time or 0) for m in own if m.kind in OF_SERVER_LOG]
    lines += [(s.span.source, s.since) for s in evidence.settings.states(part.leader or 0) if s.since is not None]
    before = {source for source, time in lines if time <= max(led, default=-1)}
    return any(source in before for source, time in lines if time >= again.time)


def _fetched_below(moment: Moment, part: LeftOut) -> bool:
    """Whether who wrote the records asked another leader for them, or was told to cut them."""
    if moment.kind not in ("fetched", "epoch-asked"):
        return False
    if moment.error not in (None, 0) or moment.broker != part.leader or moment.term == part.epoch:
        return False
    ends = [moment.offset if moment.kind == "fetched" else None, moment.answer_offset]
    return any(offset is not None and 0 <= offset < part.end for offset in ends)
