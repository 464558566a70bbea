"""Epochs that opened below what was committed: what was proved before each, and what its opening left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from operator import itemgetter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.chronicle import Chronicle
from rules.facts.stretch import EpochRun
from rules.history.moments import DESCRIPTION_CLOCK, Committed, Moment, gives_role
from rules.history.statements import LogEvent, RoleTaken
from rules.protocol.offsets import UNDEFINED_EPOCH
from rules.protocol.steps import StepLimit
from rules.replicas.deleted import Deleted
from rules.replicas.markers import NEVER
from rules.replicas.openings import ON_DISK
from rules.replicas.replica import Replica

_UNDATED: Final = (ON_DISK, DESCRIPTION_CLOCK)


class LostTerm(Struct, frozen=True, kw_only=True):
    """An epoch that opened below what was committed before it."""

    epoch: int
    leader: int | None
    start_offset: int
    """Of the first record that was lost and had not been deleted before."""
    committed: Committed
    opening: RoleTaken
    dated_end: int | None = None
    """Up to where a witness dated the loss, of which another one tells; null where this one is not of the rest."""
    deleted_below: int = 0
    """Up to where the leaders before had deleted."""
    perhaps_before: tuple[int, ...] = ()
    """Epochs in between that others led, and of which nothing tells where they opened: one may have left it out."""

    @property
    def checkpointed(self) -> bool:
        """Whether what was committed is the word of a checkpoint, which no witness dated."""
        return self.committed.moment.clock == ON_DISK

    @property
    def inferred(self) -> bool:
        """Whether a file that no witness dated tells one of the two: a checkpoint, or only the leader's epoch file."""
        return self.checkpointed or self.opening.doubtful


def openings_below_committed(
    chronicle: Chronicle, first: Mapping[int, RoleTaken], proofs: Sequence[Committed], deleted: Deleted
) -> Iterator[LostTerm]:
    """Every time an epoch was opened below a proved end of committed records, by its leader's own word.

    A leader that is started again opens its epoch again, with what its disk has kept. What an opening has thrown away
    does not count against its successors.
    """
    pool = _Proofs(chronicle, proofs)
    for opening in _openings(chronicle.moments, first):
        best = pool.furthest_before(opening)
        again = opening is not first[opening.epoch or 0]
        if best is not None and opening.offset is not None and best.end_offset > opening.offset:
            for lost in _lost_terms(opening, opening.offset, best, pool):
                between = tuple(sorted(_unopened(chronicle, lost)))
                yield from _undeleted(replace(lost, perhaps_before=between), chronicle.leaders, deleted)
            pool.throw_away(opening, again=again)
        pool.pass_by(opening, again=again)


def _unopened(chronicle: Chronicle, lost: LostTerm) -> Iterator[int]:
    """Epochs between a proof and an opening below it that neither's leader led, and of which no opening is told."""
    proof, leaders = lost.committed, chronicle.leaders
    term, dated = proof.term, proof.moment.clock not in _UNDATED
    since = min(term, chronicle.earliest_term(proof.moment)) if dated else term
    had_them = lost.leader, leaders.get(term), proof.moment.witness if dated else None
    for epoch, leader in leaders.items():
        if leader not in had_them and since < epoch < lost.epoch and epoch not in chronicle.opened:
            yield epoch


def _lost_terms(opening: RoleTaken, start: int, best: Committed, pool: _Proofs) -> Iterator[LostTerm]:
    """What an opening left out; beyond what a witness told at a time, a checkpoint or a tool may tell of more."""
    epoch = -1 if opening.epoch is None else opening.epoch
    dated_end, dated = None, pool.furthest_dated() if best.moment.clock in _UNDATED else None
    if dated is not None and start < dated.end_offset:
        yield LostTerm(epoch=epoch, leader=opening.broker, start_offset=start, committed=dated, opening=opening)
        start = dated_end = dated.end_offset
    if start < best.end_offset:
        yield LostTerm(
            epoch=epoch, leader=opening.broker, start_offset=start, committed=best, opening=opening, dated_end=dated_end
        )


def _undeleted(lost: LostTerm, leaders: Mapping[int, int], deleted: Deleted) -> Iterator[LostTerm]:
    """The same without what the leaders before had deleted: the opening has not lost that."""
    term, end = lost.committed.term, lost.committed.end_offset
    again = lost.opening if term >= lost.epoch else None
    begun = deleted.lost_later(leaders.get(term), term, end, lost.epoch, again)
    if begun < end:
        yield replace(lost, start_offset=max(lost.start_offset, begun), deleted_below=begun)


class _Proofs:
    """The proofs of committed records in the order of their terms, each taken up once as the openings go by."""

    def __init__(self, chronicle: Chronicle, proofs: Sequence[Committed]) -> None:
        self._place = {id(moment): index for index, moment in enumerate(chronicle.moments)}
        self._sure = chronicle.sure_terms
        self._pending: dict[int, list[tuple[int, Committed]]] = {}
        for index, proof in enumerate(proofs):
            self._pending.setdefault(proof.term, []).append((index, proof))
        self._terms = sorted(self._pending, reverse=True)
        self._pool: list[tuple[int, int, Committed]] = []
        self._lowest: list[tuple[int, bool, int]] = []
        self._roles: dict[tuple[str, int | None], int] = {}
        ordered = not (chronicle.roles_fall_back or chronicle.epochs_begin_anew)
        for index, moment in enumerate(chronicle.moments):
            if ordered and gives_role(moment):
                self._roles.setdefault((moment.clock, moment.epoch), index)

    def pass_by(self, opening: RoleTaken, *, again: bool) -> None:
        """Note where an epoch began; one that began lower counts for those before it too."""
        if opening.offset is None:
            return
        del self._lowest[bisect_left(self._lowest, opening.offset, key=itemgetter(2)) :]
        self._lowest.append((-1 if opening.epoch is None else opening.epoch, again, opening.offset))

    def _counts(self, proof: Committed) -> bool:
        return told_in_its_term(proof, self._sure) or not self._lost_already(proof)

    def _lost_already(self, proof: Committed) -> bool:
        """Whether an earlier opening may have lost it, so that one of an unsure term proves nothing any more.

        What a broker tells after it took a role was learnt in that epoch or later: its opening had lost nothing of it.
        """
        moment = proof.moment
        role = self._roles.get((moment.clock, moment.term))
        after = role is not None and role < self._place.get(id(moment), -1)
        since = (-1 if moment.term is None else moment.term, False, NEVER) if after else (-2, True, NEVER)
        place = bisect_right(self._lowest, since)
        return place < len(self._lowest) and self._lowest[place][2] < proof.end_offset

    def furthest_before(self, opening: RoleTaken) -> Committed | None:
        """What was committed furthest before an opening and still counts; epochs may only rise from call to call."""
        epoch = -1 if opening.epoch is None else opening.epoch
        terms = StepLimit(len(self._terms), "taking up proofs of committed records")
        while self._terms and self._terms[-1] < epoch:
            terms.step()
            self._take(self._pending[self._terms.pop()])
        same = self._pending.get(epoch)
        if same and self._terms and self._terms[-1] == epoch:
            earlier = [entry for entry in same if self._said_before(entry[1], opening)]
            self._take(earlier)
            taken = {index for index, _ in earlier}
            self._pending[epoch] = [entry for entry in same if entry[0] not in taken]
        proofs = StepLimit(len(self._pool), "laying proofs of committed records aside")
        while self._pool and not self._counts(self._pool[0][2]):
            proofs.step()
            heappop(self._pool)
        return self._pool[0][2] if self._pool else None

    def furthest_dated(self) -> Committed | None:
        """Of what was taken up and counts, the furthest that a witness told at a time."""
        dated = (proof for _, _, proof in self._pool if proof.moment.clock not in _UNDATED)
        return max(filter(self._counts, dated), key=lambda proof: proof.end_offset, default=None)

    def throw_away(self, opening: RoleTaken, *, again: bool) -> None:
        """Forget what an opening has lost: it does not count against later ones."""
        self._pool.clear()
        if again and opening.epoch in self._pending:
            # What others learnt of the term cannot be told from what they learnt before it was opened again.
            pending = self._pending[opening.epoch]
            self._pending[opening.epoch] = [entry for entry in pending if entry[1].moment.clock == opening.clock]

    def _take(self, entries: Iterable[tuple[int, Committed]]) -> None:
        for index, proof in entries:
            heappush(self._pool, (-proof.end_offset, index, proof))

    def _said_before(self, proof: Committed, opening: RoleTaken) -> bool:
        """Whether this leader wrote it in the same term, before it opened it again."""
        moment = proof.moment
        own = moment.clock == opening.clock and moment.clock != ON_DISK
        return own and self._place[id(moment)] < self._place[id(opening)]


def told_in_its_term(proof: Committed, sure: frozenset[tuple[str, int]]) -> bool:
    """Whether the term is the one in which the proof was learnt, not merely the highest that it can be."""
    moment = proof.moment
    named = moment.kind in ("produced", "fetched", "consumed", "described") and moment.epoch == proof.term
    own = moment.latest_term is None and (moment.clock, proof.term) in sure
    return named or moment.clock == ON_DISK or own


def _openings(moments: Sequence[Moment], first: Mapping[int, RoleTaken]) -> list[RoleTaken]:
    """The first opening of each epoch, and every later one by the same broker."""
    starts = [m for m in moments if m.kind == "leader-starts" and m.epoch is not None and m.offset is not None]
    openings = [m for m in starts if (own := first.get(m.epoch or 0)) is not None and own.clock == m.clock]
    openings += [m for m in first.values() if m.clock == ON_DISK]
    return sorted(openings, key=lambda m: m.epoch or 0)


def committed_on_disk(replicas: Sequence[Replica]) -> Iterator[Committed]:
    """What the high watermark on disk proves of the log beside it: its records up to there, of the last one's epoch."""
    for replica in replicas:
        claim = replica.high_watermark
        term = None if claim is None else epoch_held(replica, claim.offset - 1)
        if replica.state == "current" and claim is not None and term is not None:
            watermark = LogEvent(
                kind="high-watermark-loaded",
                clock=ON_DISK,
                witness=replica.broker,
                broker=replica.broker,
                high_watermark=claim.offset,
                span=claim.span,
            )
            because = f"broker {replica.broker}'s high watermark on disk is {claim.offset}"
            yield Committed(end_offset=claim.offset, term=term, because=because, moment=watermark)


def parted(lost: LostTerm, leaders: Sequence[Replica], replicas: Sequence[Replica]) -> bool:
    """Whether the log that would lead goes on from the opening, and the checkpoint's own log with older records."""
    runs = (run for replica in leaders for run in replica.log.epochs)
    leads_on = any(run.epoch == lost.epoch and run.start_offset == lost.opening.offset for run in runs)
    return leads_on and _older_beside(lost, replicas)


def known_to_none(lost: LostTerm, replicas: Sequence[Replica]) -> bool:
    """Whether the checkpoint's own log goes on with older records, and no replica here knows an epoch so new."""
    return all(replica.last_known_epoch < lost.epoch for replica in replicas) and _older_beside(lost, replicas)


def _older_beside(lost: LostTerm, replicas: Sequence[Replica]) -> bool:
    span = lost.committed.moment.span
    holders = (r for r in replicas if r.high_watermark is not None and r.high_watermark.span == span)
    own = (epoch_held(replica, lost.start_offset) for replica in holders)
    return any(epoch is not None and epoch < lost.epoch for epoch in own)


def epoch_held(replica: Replica, offset: int) -> int | None:
    """Epoch of the batch that holds an offset; null where no batch without fault does, or its format carries none."""
    if replica.cleaned or not replica.holds(offset, offset + 1):
        return None
    covering: Iterator[EpochRun] = (r for r in replica.log.epochs if r.start_offset <= offset < r.end_offset)
    return next((run.epoch for run in covering if run.epoch != UNDEFINED_EPOCH), None)
