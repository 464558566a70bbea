"""Records that no later leader had and of which no answer is told, though one may have been given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rules.evidence import Moment, PartitionEvidence
from rules.finding import capital
from rules.history.moments import succeeded
from rules.history.statements import RoleTaken
from rules.loss.last_answers import Answering
from rules.loss.left_out import LeftOut, left_out
from rules.protocol.offsets import without
from rules.words import it_or_them

NOT_OF_ALL: Final = (0, 1)
"""acks of producers that are answered, or go on, before other replicas hold their records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A stretch of one epoch's records, and what tells that its leader may have answered for them."""

    epoch: int
    leader: int | None
    opening: RoleTaken | None
    """The next leader's, which left them out."""
    start: int
    end: int
    by_one: bool
    """Whether producers of the partition are seen that do not wait for all replicas."""
    log_missing: bool
    """Whether other brokers' requests are told of here, and of this one's in the epoch none, or not all."""
    end_unseen: bool
    """Whether requests are told of here, and nothing shows that its log of them goes on behind its last answer."""

    @property
    def who(self) -> str:
        """Its leader in words."""
        return "its leader" if self.leader is None else f"broker {self.leader}"

    @property
    def words(self) -> str:
        """What went, and why it is open whether somebody was told that it is written."""
        who = capital(self.who)
        gone = f"no later leader had records [{self.start}, {self.end}) of epoch {self.epoch}."
        them = it_or_them(self.end - self.start)
        if self.by_one:
            return f"{gone} {who}, whose producers did not wait for all replicas, may have acknowledged {them}"
        if self.log_missing:
            return f"{gone} {who}'s request log is not here, or not all of it. With acks=1 it acknowledged {them}"
        ends = " Its request log here ends before it stopped." if self.end_unseen else ""
        return f"{gone} {who} may have acknowledged {them}, if a producer used acks=1.{ends} No such producer is seen"


def unanswered(evidence: PartitionEvidence) -> Iterator[Unanswered]:
    """Every such stretch whose leader was killed, or of whose last answers no log is here."""
    by_one = not_of_all_seen(evidence.moments)
    for stretch in left_out(evidence):
        leader = evidence.chronicle.leaders.get(stretch.epoch, stretch.leader)
        own = None if leader is None else Answering(evidence, leader, stretch.epoch)
        for start, end in _untold_parts(evidence, stretch):
            seen = own is not None and own.saw_its_last and not own.begins_behind(start)
            if own is None or not seen or (by_one and own.left_one_out(start, end)):
                yield Unanswered(
                    epoch=stretch.epoch,
                    leader=leader,
                    opening=evidence.openings.get(stretch.next_epoch),
                    start=start,
                    end=end,
                    by_one=by_one,
                    log_missing=own is not None and own.requests_missing(start),
                    end_unseen=own is not None and own.end_unseen,
                )


def not_of_all_seen(moments: Sequence[Moment]) -> bool:
    """Whether any producer of the partition is told of that does not wait for all replicas."""
    return any(m.acks in NOT_OF_ALL for m in moments if m.kind == "produced")


def silent_leaders(evidence: PartitionEvidence) -> Mapping[int, int | None]:
    """Brokers that led before another one and of which no log is here, and the lowest offset where one opened next."""
    leaders = evidence.chronicle.leaders
    clocks = {moment.clock for moment in evidence.moments}
    found: dict[int, int | None] = {}
    for before, after in pairwise(sorted(leaders)):
        broker, opening = leaders[before], evidence.openings.get(after)
        if broker != leaders[after] and f"broker {broker}" not in clocks:
            offsets = [found.get(broker), None if opening is None else opening.offset]
            found[broker] = min((offset for offset in offsets if offset is not None), default=None)
    return found


def _untold_parts(evidence: PartitionEvidence, stretch: LeftOut) -> Iterator[tuple[int, int]]:
    """What of a stretch nobody tells to be acknowledged or committed, and is not in the log that leads."""
    epoch = stretch.epoch
    answers = [m.offset or 0 for m in evidence.moments if succeeded(m) and m.term == epoch]
    own = [offset for offset in answers if stretch.start <= offset < stretch.end]
    known = [(min(own), evidence.batch_end(max(own), epoch))] if own else []
    known += [(0, proof.end_offset) for proof in evidence.committed_batches if proof.term == epoch]
    last = evidence.leader_at_the_end
    if last is not None:
        older = () if not stretch.older else (e for e in last.runs_by_epoch if e < epoch)
        held = (run for e in (epoch, *older) for run in last.runs_by_epoch.get(e, ()))
        known += [(run.start_offset, run.end_offset) for run in held]
        newer = (m.offset for e, m in evidence.openings.items() if e > epoch and m.offset is not None)
        known.append((0, min([last.log_start_offset, *newer])))
    yield from without(stretch.start, stretch.end, sorted(known))
