"""The last answers of a leader: whether all of them are here, and what stands where nobody was answered any more."""

from __future__ import annotations

from typing import Final

from rules.chronicle.extents import NO_OFFSETS, Extents
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.asked_once import asked_once
from rules.history.moments import DISTURBED, ROLE_KINDS, STARTING, succeeded
from rules.history.statements import Answered, LogEvent, Produced, RoleTaken
from rules.settings import STOPPED

_WROTE_ALL_OR_NONE: Final = (0, 19)
"""What a producer is told whose records were written, and one whose were not (NOT_ENOUGH_REPLICAS)."""


@asked_once
def _last_requests(evidence: PartitionEvidence) -> dict[int | None, int]:
    """When each witness answered the last request of this partition that is told; 0 where none has a time."""
    last: dict[int | None, int] = {}
    for m in evidence.moments:
        if isinstance(m, Answered):
            last[m.witness] = max(m.last_time or m.time or 0, last.get(m.witness, 0))
    return last


class Answering:
    """A leader while it led an epoch: what of its answers is told here, and what is not."""

    def __init__(self, evidence: PartitionEvidence, leader: int, epoch: int) -> None:
        self._evidence, self._leader, self.epoch = evidence, leader, epoch
        self._own, self._log = evidence.chronicle.told_by(leader), evidence.request_log(leader)
        self._opened = next((m.time for m in self._own if m.kind == "leader-starts" and m.epoch == epoch), None)
        self._following = self._next(self._opened)

    def _next(self, opened: int | None) -> RoleTaken | LogEvent | None:
        """The role or the start after it had opened the epoch."""
        after = (m for m in self._own if opened is not None and m.time is not None and m.time > opened)
        return next((m for m in after if m.epoch != self.epoch and m.kind in (*ROLE_KINDS, *STARTING)), None)

    @property
    def end_unseen(self) -> bool:
        """Whether requests are logged, and none that it answered after it had led the epoch: its log may be cut.

        A request of any partition shows that its log goes on.
        """
        last, following = _last_requests(self._evidence), self._following
        if not last or following is None or following.time is None:
            return bool(last)
        return max(self._log.until, last.get(self._leader, 0)) <= following.time

    @property
    def saw_its_last(self) -> bool:
        """Whether it answered in the epoch, and its process went on afterwards or shut down cleanly.

        What a broker answers before it is killed may not have reached its log of requests. That it went on shows in its
        own log alone (server.log), which would tell of a restart: a role is taken after one too.
        """
        following = self._following
        if self._opened is None or not self._any:
            return False
        if self._log.ends_before(None if following is None else following.time):
            return False
        if following is None or following.kind in ROLE_KINDS:
            return following is not None and any(m.kind in (*STARTING, *DISTURBED) for m in self._own)
        stops = [s.since or 0 for s in self._evidence.settings.states(self._leader) if s.value == STOPPED]
        return any(self._opened < since <= (following.time or 0) for since in stops)

    @property
    def _any(self) -> bool:
        """Whether any of its answers in the epoch is told."""
        return any(m.kind in ("produced", "fetched") and m.term == self.epoch for m in self._own)

    def goes_on_behind(self, end: int) -> bool:
        """Whether its log of requests tells of an answer after the records below an offset were written."""
        later = (m.offset or 0 for m in self._produced if succeeded(m) and m.term == self.epoch)
        return not self.end_unseen or max(later, default=-1) >= end

    def requests_missing(self, start: int) -> bool:
        """Whether answers to producers are logged, and the log of what it answered is not here or not whole."""
        if self._log.ends_before(None):
            return True
        logged = self._log.until > 0 or any(m.kind == "produced" for m in self._evidence.moments)
        return logged and (bool(self._log.gaps) or self.begins_behind(start) or not self._any)

    @property
    def may_be_unheard(self) -> bool:
        """Whether its log of requests begins after it had opened the epoch, or lacks lines of an unknown time."""
        begun = self._opened is not None and self._log.begins_after(self._opened)
        return begun or any(gap.told_by is None for gap in self._log.gaps)

    @property
    def tells_no_produce(self) -> bool:
        """Whether its log tells of requests, and of none that may have written a record of the epoch.

        A request that failed may have written it too, as one whose epoch is open.
        """
        if not self._log.until or self._ends_transactions:
            return False
        own = self._produced
        return not any(m.term is None or m.term <= self.epoch <= m.newest_term(m.term) for m in own)

    def left_one_out(self, start: int, end: int) -> bool:
        """Whether its log tells of requests up to its last answers, and of none that may have written some records.

        None is logged for acks=0, and those that wait for all replicas may have failed when they had written, unless
        too few were in sync before they began. Of a thinned log the first may be left out. An answer in an older epoch,
        in which the same broker led, may be of these records.
        """
        if self._ends_transactions:
            return False
        own = self._produced
        if any(m.acks == 0 or m.left_out or (m.acks == -1 and m.error not in _WROTE_ALL_OR_NONE) for m in own):
            return False
        answers = [(m.offset or 0, m.term) for m in self._produced if succeeded(m)]
        goes_on = self._log.until or any(term == self.epoch and at >= end for at, term in answers)
        answered = any(at < end and self._evidence.batch_end(at, term) > start for at, term in answers)
        return bool(goes_on) and not answered

    @property
    def _produced(self) -> list[Produced]:
        """Producers' requests, of whatever epoch."""
        return [m for m in self._evidence.moments if m.kind == "produced" and m.witness == self._leader]

    @property
    def _ends_transactions(self) -> bool:
        """Whether there are transactions: their coordinator, which ends them, is told of no produce."""
        transactions = (replica.log.transactions for replica in self._evidence.current)
        return any(each.closed_count or each.open or each.untold for each in transactions)

    def lacks_a_role(self, until: int) -> bool:
        """Whether its log lacks a role that it had since the epoch, and before another: what it answered then as well.

        Records that no role of it tells of are taken for the epoch's, and may be of that one.
        """
        return any(self.epoch <= epoch < until for epoch in self._evidence.lacked_roles.get(self._leader, ()))

    def begins_behind(self, start: int) -> bool:
        """Whether its request log begins after the epoch did, and perhaps after a record of it was written."""
        opening = next((m for m in self._own if m.kind == "leader-starts" and m.epoch == self.epoch), None)
        if opening is None or opening.time is None or not self._log.begins_after(opening.time):
            return False
        own = (m for m in self._own if m.kind == "produced" and m.term == self.epoch)
        return min((m.offset for m in own if m.offset is not None), default=start + 1) > max(start, opening.offset or 0)


@asked_once
def _answered(evidence: PartitionEvidence) -> dict[int, int]:
    """Of each epoch of which all answers are here where the last batch ends that a producer was answered for.

    Of an epoch no answer is told where its leader's log of requests is not here, begins later or has a hole.
    """
    last: dict[int, int] = {}
    for m in evidence.moments:
        if succeeded(m) and m.term is not None:
            last[m.term] = max(m.offset or 0, last.get(m.term, 0))
    # Of an epoch whose last answers may not be here nothing tells that a producer had to send its records again.
    leaders = evidence.chronicle.leaders
    traced = (epoch for epoch in last if epoch in leaders and not evidence.request_log(leaders[epoch]).gaps)
    whole = (epoch for epoch in traced if not Answering(evidence, leaders[epoch], epoch).end_unseen)
    telling = _last_requests(evidence)
    silent = (epoch for epoch, leader in leaders.items() if leader not in telling)
    ends = {epoch: 0 for epoch in silent if not evidence.request_log(leaders[epoch]).here}
    untold = (Answering(evidence, leader, epoch) for epoch, leader in leaders.items() if epoch not in last)
    ends |= {answering.epoch: 0 for answering in untold if answering.may_be_unheard}
    return ends | {epoch: evidence.batch_end(last[epoch], epoch) for epoch in whole}


def sent_again(evidence: PartitionEvidence, epoch: int) -> Extents:
    """Offsets of an epoch at which older records stand that its leader had left out and nobody was answered for.

    A producer that is not answered sends its records again, to the next leader. Where the log of the deposed one comes
    back, the records that the next one acknowledged may be those that stand there.
    """
    opening, leading = evidence.openings.get(epoch), _perhaps_leading(evidence)
    if opening is None or opening.offset is None or not leading:
        return NO_OFFSETS
    answered = _answered(evidence)
    runs = ((e, run) for replica in leading for e, own in replica.runs_by_epoch.items() for run in own)
    older = [run for e, run in runs if e < epoch and e in answered]
    return Extents.of((max(run.start_offset, opening.offset, answered[run.epoch]), run.end_offset) for run in older)


def _perhaps_leading(evidence: PartitionEvidence) -> list[Replica]:
    """The log that leads at the end, or all of which one may; of a cleaned log it is not known what stood there."""
    if evidence.leader_at_the_end is not None:
        leading = [evidence.leader_at_the_end]
    else:
        _, last = evidence.chronicle.last_leader
        by_word = (r for r in evidence.current if r.broker == last)
        leading = [*by_word, *evidence.leaders_at_the_end, *evidence.perhaps_led_since]
    return [replica for replica in leading or evidence.current if not replica.cleaned]
