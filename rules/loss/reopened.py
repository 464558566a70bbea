"""Of which of its epoch's two lives records are, where a leader lost its log and opened its epoch once more."""

from __future__ import annotations

from collections.abc import Iterator

from rules.evidence import Moment, PartitionEvidence, Replica, same_topic
from rules.history.moments import BEGUN_ANEW
from rules.loss.left_out import LeftOut
from rules.loss.survivors import Survivor, copies
from rules.protocol.offsets import without


def first_life(evidence: PartitionEvidence, part: LeftOut) -> Iterator[Survivor]:
    """The copies of what was written before the epoch was opened again; none where that leader's own log is not here.

    The leader's own log holds only what came after. Another copy is of before where it holds something else than that
    log, or the epoch's records where that log has none.
    """
    reopened = _reopened(evidence, part)
    for replica in evidence.own_logs if reopened is not None else ():
        if reopened is None or replica is reopened or not same_topic(replica, reopened):
            continue
        for start, end in _apart(evidence, replica, reopened, part):
            yield from copies(replica, part.epoch, start, end)


def parts(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """What of the stretch is surely gone from that leader, cut where the log that leads now holds it again or not."""
    own = [*held_again(evidence, stretch)]
    for start, end in _gone(evidence, stretch):
        away = [*without(start, end, own)]
        yield from sorted([*away, *without(start, end, away)])


def held_again(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """What the log that leads now holds of before: by its disk, else by how far its broker had fetched and cut."""
    _, leader = evidence.chronicle.last_leader
    if leader == stretch.next_leader or any(replica.broker == leader for replica in evidence.current):
        leading = {replica.path for replica in evidence.leaders_at_the_end}
        own = (copy for copy in first_life(evidence, stretch) if copy.path in leading)
        yield from ((copy.start_offset, copy.end_offset) for copy in own)
        return
    kept = min([_fetched(evidence, stretch, leader), *_cut_to(evidence, leader)])
    if kept > stretch.start:
        yield stretch.start, min(kept, stretch.end)


def _fetched(evidence: PartitionEvidence, stretch: LeftOut, broker: int) -> int:
    """How far a broker had fetched before the epoch was opened again, by the word of that leader."""
    own = [m for m in evidence.moments if m.kind == "fetched" and m.broker == broker and m.term == stretch.epoch]
    again = stretch.reopening
    ends = (m.offset or 0 for m in own if again is not None and m.clock == again.clock and _before(m, again))
    return max(ends, default=stretch.start)


def _before(moment: Moment, other: Moment) -> bool:
    return moment.error == 0 and moment.time is not None and other.time is not None and moment.time < other.time


def _cut_to(evidence: PartitionEvidence, broker: int) -> Iterator[int]:
    """Where a broker's log was cut, at any time; a log that was dropped or begun anew holds nothing of before."""
    yield from (cut.offset for cut in evidence.chronicle.cuts if cut.broker == broker)
    yield from (0 for m in evidence.chronicle.told_by(broker) if m.kind in BEGUN_ANEW)


def _gone(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """All of the stretch; or what no copy holds under its number, where that leader's own log is not here."""
    held: list[tuple[int, int]] = []
    if _reopened(evidence, stretch) is None:
        runs = (run for replica in evidence.own_logs for run in replica.runs_by_epoch.get(stretch.epoch, ()))
        held = [(run.start_offset, run.end_offset) for run in runs]
    yield from without(stretch.start, stretch.end, held)


def _reopened(evidence: PartitionEvidence, part: LeftOut) -> Replica | None:
    return next((replica for replica in evidence.current if replica.broker == part.next_leader), None)


def _apart(
    evidence: PartitionEvidence, replica: Replica, reopened: Replica, part: LeftOut
) -> Iterator[tuple[int, int]]:
    """Ranges in which a copy's records of the epoch are not those that the leader wrote since."""
    end = _wrote_up_to(evidence, part)
    own = ((run.start_offset, run.end_offset) for run in reopened.runs_by_epoch.get(part.epoch, ()))
    since = [(low, high if end is None else min(high, end)) for low, high in own if end is None or low < end]
    yield from without(part.start, part.end, since)
    for difference in evidence.differences:
        if replica in (difference.left, difference.right) and reopened in (difference.left, difference.right):
            start, end = max(part.start, difference.start_offset), min(part.end, difference.end_offset)
            if start < end:
                yield start, end


def _wrote_up_to(evidence: PartitionEvidence, part: LeftOut) -> int | None:
    """Where its log ended when it followed after its second life: what it holds beyond it has copied since."""
    again = part.reopening
    lives = [r for r in evidence.chronicle.reigns if (r.broker, r.epoch) == (part.next_leader, part.epoch)]
    if again is None or again.time is None or not lives or lives[-1].opening is not again:
        return None
    for deposed in evidence.chronicle.deposed:
        later = deposed.role.time is not None and deposed.role.time >= again.time
        if (deposed.broker, deposed.led) == (part.next_leader, part.epoch) and later:
            return deposed.role.offset
    return None
