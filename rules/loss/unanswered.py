"""Records that no later leader had and of which no answer is told, though one may have been given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rules.evidence import Moment, PartitionEvidence
from rules.finding import capital
from rules.history.gaps import ends_unseen
from rules.history.moments import DISTURBED, ROLE_KINDS, STARTING, succeeded
from rules.history.statements import RoleTaken
from rules.loss.last_answers import end_unseen, reign_of
from rules.loss.left_out import LeftOut, left_out
from rules.protocol.offsets import without
from rules.replay.reign.reigns import FIRST_FETCH_MS
from rules.settings import STOPPED

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
        gone = f"no later leader had the records [{self.start}, {self.end}) of epoch {self.epoch}."
        if self.by_one:
            return f"{gone} {who}, whose producers did not wait for all replicas, may have acknowledged them"
        if self.log_missing:
            return f"{gone} {who}'s request log is not here, or not all of it. With acks=1 it acknowledged them"
        ends = " Its request log here ends before it stopped." if self.end_unseen else ""
        return f"{gone} {who} may have acknowledged them, if a producer used acks=1.{ends} No such producer is seen"


def unanswered(evidence: PartitionEvidence) -> Iterator[Unanswered]:
    """Every such stretch whose leader was killed, or of whose last answers no log is here."""
    leaders = evidence.chronicle.leaders
    by_one = not_of_all_seen(evidence.moments)
    for stretch in left_out(evidence):
        leader = leaders.get(stretch.epoch, stretch.leader)
        for start, end in _untold_parts(evidence, stretch):
            seen = leader is not None and _saw_its_last_answers(evidence, leader, stretch.epoch)
            missing = leader is not None and by_one and _answer_missing(evidence, leader, stretch.epoch, (start, end))
            if leader is None or not seen or missing or _begins_behind(evidence, leader, stretch.epoch, start):
                yield Unanswered(
                    epoch=stretch.epoch,
                    leader=leader,
                    opening=evidence.openings.get(stretch.next_epoch),
                    start=start,
                    end=end,
                    by_one=by_one,
                    log_missing=leader is not None and _requests_missing(evidence, leader, stretch.epoch, start),
                    end_unseen=leader is not None and end_unseen(evidence, leader, stretch.epoch),
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


def _saw_its_last_answers(evidence: PartitionEvidence, leader: int, epoch: int) -> bool:
    """Whether a leader answered in the epoch, and its process went on afterwards or stopped in order.

    What a broker answers before it is killed may not have reached its log of requests. That it went on shows in its own
    log alone (server.log), which would tell of a restart: a role is taken after one too.
    """
    own = evidence.chronicle.told_by(leader)
    opened, following = reign_of(own, epoch)
    if opened is None or not _requests(own, epoch):
        return False
    if ends_unseen(evidence.gaps, leader, None if following is None else following.time):
        return False
    if following is None or following.kind in ROLE_KINDS:
        return following is not None and any(m.kind in (*STARTING, *DISTURBED) for m in own)
    stops = [state.since or 0 for state in evidence.settings.states(leader) if state.value == STOPPED]
    return any(opened < since <= (following.time or 0) for since in stops)


def _requests(own: Sequence[Moment], epoch: int) -> bool:
    return any(m.kind in ("produced", "fetched") and m.term == epoch for m in own)


def _requests_missing(evidence: PartitionEvidence, leader: int, epoch: int, start: int) -> bool:
    """Whether answers to producers are logged, and the log of what this broker answered is not here or not whole."""
    logged = any(m.kind == "produced" for m in evidence.moments)
    own = [m for m in evidence.moments if m.clock == f"broker {leader}"]
    if any(gap.broker == leader and gap.told is not None for gap in evidence.gaps):
        return True
    holed = any(gap.broker == leader for gap in evidence.gaps) or _begins_behind(evidence, leader, epoch, start)
    return logged and (holed or not _requests(own, epoch))


def _answer_missing(evidence: PartitionEvidence, leader: int, epoch: int, part: tuple[int, int]) -> bool:
    """Whether a leader's log has answers for what was written after some records, and none for these nor a cause.

    None is logged for acks=0, and those that wait for all replicas may have failed; of a thinned log the first may be
    left out.
    """
    own = [m for m in evidence.moments if m.kind == "produced" and m.witness == leader]
    if any(m.acks == 0 or m.left_out or (m.acks == -1 and m.error != 0) for m in own):
        return False
    told = [m for m in own if succeeded(m)]
    if any(part[0] <= (m.offset or 0) < part[1] for m in told):
        return False  # of an older epoch, in which the same broker led
    return any(m.term == epoch and m.latest_term is None and (m.offset or 0) >= part[1] for m in told)


def _begins_behind(evidence: PartitionEvidence, leader: int, epoch: int, start: int) -> bool:
    """Whether a leader's request log begins after its epoch did, and perhaps after a record of it was written."""
    own = [m for m in evidence.moments if m.clock == f"broker {leader}"]
    begun = min((m.time for m in own if m.kind == "trace-begins" and m.time is not None), default=None)
    opening = next((m for m in own if m.kind == "leader-starts" and m.epoch == epoch), None)
    if begun is None or opening is None or opening.time is None or begun - opening.time <= FIRST_FETCH_MS:
        return False
    written = (m.offset for m in own if m.kind == "produced" and m.term == epoch and m.offset is not None)
    return min(written, default=start + 1) > max(start, opening.offset or 0)
