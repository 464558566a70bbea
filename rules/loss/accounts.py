"""What anybody was told of an epoch's records: that they are committed, or that they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from rules.evidence import Moment, PartitionEvidence
from rules.evidence.asked_once import asked_once
from rules.history.moments import ROLE_KINDS, Committed, succeeded
from rules.history.repetitions import begin_unseen
from rules.history.statements import Fetched, Inquiry, Produced
from rules.loss.held_on import wrote_older
from rules.loss.lost_stretch import LeftOut
from rules.replicas.kept_older import cut_since, older_run
from rules.replicas.openings import ON_DISK


class Accounts:
    """The proofs, answers and consumers' fetches of every epoch, looked up once for all stretches of a partition."""

    def __init__(self, evidence: PartitionEvidence) -> None:
        """By the terms in which they were learnt."""
        self._batch_end = evidence.batch_end
        self._committed: dict[int, int] = {}
        for proof in evidence.committed_batches:
            self._committed[proof.term] = max(proof.end_offset, self._committed.get(proof.term, 0))
        self._answers: dict[int, list[Produced]] = {}
        self._consumed: dict[int, list[Fetched]] = {}
        for moment in evidence.moments:
            if moment.term is not None and succeeded(moment):
                self._answers.setdefault(moment.term, []).append(moment)
            elif moment.term is not None and moment.kind == "consumed":
                self._consumed.setdefault(moment.term, []).append(moment)

    def committed_end(self, epoch: int, start: int, end: int) -> int:
        """How far the offsets of a stretch are certainly committed; its start where nothing proves it."""
        return min(end, max(start, self._committed.get(epoch, start)))

    def answers(
        self, epoch: int, start: int, end: int, counts: Callable[[Produced], bool] = lambda _: True
    ) -> list[Produced]:
        """What producers were told of the stretch, as far as the answers count."""
        return [m for m in self._answers.get(epoch, ()) if start <= (m.offset or 0) < end and counts(m)]

    def left_out(self, epoch: int, answers: Sequence[Produced]) -> bool:
        """Whether other answers may be of the same stretch that a busy log's reading has left out."""
        return any(m.left_out for m in answers) or begin_unseen(self._answers.get(epoch, ()), answers)

    def acknowledged_end(self, epoch: int, start: int, end: int, answers: Sequence[Moment]) -> int:
        """Where the last batch ends that one of the answers names by its first record."""
        last = max((m.offset or 0 for m in answers), default=None)
        return start if last is None else min(end, self._batch_end(last, epoch))

    def consumed(self, epoch: int) -> Sequence[Fetched]:
        """Consumers' fetches in the epoch."""
        return self._consumed.get(epoch, ())


@asked_once
def accounts(evidence: PartitionEvidence) -> Accounts:
    """Those of a partition."""
    return Accounts(evidence)


def answers_by_epoch(evidence: PartitionEvidence) -> dict[int, list[Produced]]:
    """Answers of the epochs that their broker opened by its own word, or led by the controllers' orders or record.

    Where another one led, its answer is of a later epoch, whose role it does not tell.
    """
    answers: dict[int, list[Produced]] = {}
    given, starts, led = evidence.chronicle.given_terms, evidence.openings, evidence.chronicle.leaders
    for m in evidence.moments:
        if succeeded(m) and m.term is not None and led.get(m.term, m.witness) == m.witness:
            opening = starts.get(m.term)
            if (m.clock, m.term) in given or (opening is not None and opening.clock == m.clock):
                answers.setdefault(m.term, []).append(m)
    return answers


def committed_end_of(evidence: PartitionEvidence, part: LeftOut, *, again: bool) -> int:
    """How far it was committed: in its epoch, in those of later leaders that had all of it, by its leader's own word.

    A high watermark on disk tells nothing of records that stand again: they may have been committed since. Of records
    that were cut and may be older than the epoch its proofs tell nothing: only who cut them knows. Of an epoch that was
    opened once more they may be of what was written since.
    """
    if (part.older and not part.reached) or part.held_by_none or part.reopening is not None:
        return min(part.end, max(part.start, part.known_end))
    later = sorted(e for e in evidence.openings if part.epoch < e < part.next_epoch)
    # What goes on from a log that began without them has others there.
    reached = takewhile(lambda epoch: (evidence.openings[epoch].offset or 0) >= part.end, later)
    held = (e for e in reached if not _led_without(evidence, part, e))
    terms = (part.epoch, *held)
    if again:
        proofs = (c for c in evidence.committed_batches if c.term in terms and c.moment.clock != ON_DISK)
        ends = [part.start, *(min(part.end, proof.end_offset) for proof in proofs), _known_by_a_cut(evidence, part)]
    else:
        ends = [accounts(evidence).committed_end(e, part.start, part.end) for e in terms]
    since = [c for c in evidence.committed_batches if part.epoch < c.term < part.next_epoch]
    own = (
        c
        for c in since
        if _of_its_log(c.moment, part.leader)
        and not (_led_without(evidence, part, c.term) or _had_older(evidence, part, c.term))
    )
    unsure = (c for c in since if _perhaps_of_its_epoch(evidence, part, c))
    return max([*ends, *(min(part.end, c.end_offset) for c in (*own, *unsure))])


def _perhaps_of_its_epoch(evidence: PartitionEvidence, part: LeftOut, proof: Committed) -> bool:
    """Whether a proof may be of a stretch's epoch or of one after it of which nobody tells: no epoch parts the two.

    Who had written older records there tells of those.
    """
    witness = proof.moment.witness
    if witness != part.leader and wrote_older(evidence, witness, part.epoch, part.start):
        return False
    oldest = proof.term if proof.moment.term is None else proof.moment.term
    return oldest <= part.epoch and not any(part.epoch < epoch <= proof.term for epoch in evidence.openings)


def _led_without(evidence: PartitionEvidence, part: LeftOut, epoch: int) -> bool:
    """Whether a later leader had written other records there before, and is not seen to fetch these.

    Or it answered a follower that it has none of these epochs: nothing between an older one and the one asked for.
    """
    leader = evidence.chronicle.leaders.get(epoch)
    if leader != part.leader and wrote_older(evidence, leader, part.epoch, part.start):
        return True
    answers = (m for m in evidence.moments if isinstance(m, Inquiry | Fetched) and m.term == epoch and not m.doubtful)
    ends = ((m.answered_epoch, m.asked_epoch) for m in answers if m.answered_epoch is not None and m.error == 0)
    return any(0 <= answered < part.first and part.newest <= (asked or 0) for answered, asked in ends)


def _had_older(evidence: PartitionEvidence, part: LeftOut, epoch: int) -> bool:
    """Whether the log of its leader has older records there, and tells of no cut since an epoch that made room."""
    for replica in evidence.current:
        if replica.broker != part.leader or replica.cleaned:
            continue
        older = older_run(replica, part.epoch, part.start, part.end)
        if older is not None:
            return not cut_since(replica.broker, epoch, older[2], evidence.chronicle)
    return False


def _known_by_a_cut(evidence: PartitionEvidence, part: LeftOut) -> int:
    """How far a replica that cut the records knew them to be committed."""
    cuts = (c for c in evidence.chronicle.cuts if c.former_epoch is not None and c.former_epoch < part.next_epoch)
    own = (c for c in cuts if c.of_this_life <= part.start < (c.log_end_offset or 0))
    return min(part.end, max((c.high_watermark or 0 for c in own), default=0))


def _of_its_log(moment: Moment, broker: int | None) -> bool:
    """Whether a broker tells of the log that it holds itself."""
    return moment.clock == f"broker {broker}" and moment.kind in (*ROLE_KINDS, "high-watermark-loaded")
