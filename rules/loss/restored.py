"""Whether the log that leads now holds again what an epoch before had left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rules.evidence import PartitionEvidence, Replica
from rules.history.moments import OF_SERVER_LOG, Moment, held_up_to
from rules.history.statements import RoleTaken
from rules.loss.left_out import LeftOut
from rules.loss.reopened import held_again
from rules.protocol.offsets import UNDEFINED_EPOCH, without


def restored(evidence: PartitionEvidence, part: LeftOut) -> bool:
    """Whether it holds all the records of a stretch."""
    if part.reopening is None:
        return held_end(evidence, part) >= part.end
    return not [*without(part.start, part.end, held_again(evidence, part))]


def held_end(evidence: PartitionEvidence, part: LeftOut) -> int:
    """How far into the stretch it holds the epoch's records; what it deleted below is no loss."""
    if not evidence.leaders_at_the_end:
        return part.end if _LedAgain(evidence, part).kept else part.start
    runs = (run for replica in evidence.leaders_at_the_end for run in replica.runs_by_epoch.get(part.epoch, ()))
    own = (run for run in runs if run.start_offset < part.end and run.end_offset > part.start)
    return max((min(part.end, run.end_offset) for run in own), default=part.start)


def unread(evidence: PartitionEvidence, part: LeftOut) -> tuple[int, ...]:
    """Brokers whose server.log would tell whether a later leader still had them; none where that is known."""
    if part.reopening is not None or evidence.leaders_at_the_end:
        return ()
    since = ((r.broker, r.runs_within(part.start, part.end)) for r in evidence.perhaps_led_since)
    holding = {broker for broker, runs in since if any(run.epoch == part.epoch for run in runs)}
    return tuple(sorted({*holding, *_LedAgain(evidence, part).unread}))


class _LedAgain:
    """Without the last leader's disk: whether who wrote the records led again with all of them, and nobody without.

    Only a broker's server.log tells that its log was cut; that no line tells it shows something where that log is here.
    """

    def __init__(self, evidence: PartitionEvidence, part: LeftOut) -> None:
        self._evidence, self._part = evidence, part
        openings = evidence.openings
        own = [o for o in openings.values() if o.broker == part.leader and (o.offset or 0) >= part.end]
        again = max(own, key=lambda o: -1 if o.epoch is None else o.epoch, default=None)
        self._again = -1 if again is None or again.epoch is None or part.leader is None else again.epoch
        self._later = [opening for epoch, opening in openings.items() if epoch > self._again]
        shown = self._again > part.next_epoch and not self._gone()
        self.unread = tuple(sorted(self._untold(again))) if shown and again is not None else ()
        self.kept = shown and not self.unread

    def _gone(self) -> bool:
        """Whether something tells that the records were lost before it led again, or by a leader after it."""
        part, moments = self._part, self._evidence.moments
        between = [m for m in moments if m.term is not None and part.epoch <= m.term < self._again]
        own = f"broker {part.leader}"
        return (
            any(m.clock == own and (end := held_up_to(m)) is not None and end < part.end for m in between)
            or any(_fetched_below(m, part) for m in between)
            or any((opening.offset or 0) < part.end for opening in self._later)
            or any(self._holds_others(replica) for replica in self._evidence.current)
        )

    def _holds_others(self, replica: Replica) -> bool:
        """Whether a log that was its own, or goes on from its own, holds other records there."""
        part = self._part
        if replica.broker != part.leader and max(replica.runs_by_epoch, default=UNDEFINED_EPOCH) < self._again:
            return False
        return any(r.epoch not in (part.epoch, UNDEFINED_EPOCH) for r in replica.runs_within(part.start, part.end))

    def _untold(self, again: RoleTaken) -> Iterator[int]:
        """The brokers of which nothing tells that they had the records when they led."""
        part, evidence = self._part, self._evidence
        own = (replica for replica in evidence.current if replica.broker == part.leader)
        runs = (run for replica in own for run in replica.runs_by_epoch.get(part.epoch, ()))
        away = [*without(part.start, part.end, [(run.start_offset, run.end_offset) for run in runs])]
        if part.leader is not None and away and not _read_through(evidence, part, again):
            yield part.leader
        cuts = (c for c in evidence.chronicle.cuts if c.offset <= part.start and (c.epoch or 0) >= self._again)
        cut_off = {cut.broker for cut in cuts}
        yield from {o.broker for o in self._later if o.broker is not None} - {part.leader} - cut_off


def _read_through(evidence: PartitionEvidence, part: LeftOut, again: RoleTaken) -> bool:
    """Whether one file of its server.log reaches from when it still led the epoch up to when it led again."""
    clock = f"broker {part.leader}"
    if again.clock != clock or again.time is None:
        return False
    own = [m for m in evidence.moments if m.clock == clock and m.time is not None]
    led = [m.time or 0 for m in own if m.kind in _LEADING and part.epoch == (m.term if m.epoch is None else m.epoch)]
    told = [(m.span.source, m.time or 0) for m in own if m.kind in OF_SERVER_LOG]
    told += [(s.span.source, s.since) for s in evidence.settings.states(part.leader or 0) if s.since is not None]
    before = {source for source, time in told if time <= max(led, default=-1)}
    return any(source in before for source, time in told if time >= again.time)


_LEADING: Final = ("leader-starts", "produced", "fetched", "consumed")


def _fetched_below(moment: Moment, part: LeftOut) -> bool:
    """Whether who wrote the records asked another leader for them, or was told to cut them."""
    if moment.kind not in ("fetched", "epoch-asked"):
        return False
    if moment.error not in (None, 0) or moment.broker != part.leader or moment.term == part.epoch:
        return False
    told = [moment.offset if moment.kind == "fetched" else None, moment.answer_offset]
    return any(offset is not None and 0 <= offset < part.end for offset in told)
