"""Openings below what was committed in an epoch before them, or in one that its witness leaves untold."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rules.chronicle.silence import Silence, would_tell
from rules.evidence import PartitionEvidence
from rules.history.moments import Committed
from rules.history.statements import RoleTaken
from rules.replicas.lineage import LostTerm, known_to_none


class PerhapsBelow(Struct, frozen=True, kw_only=True):
    """An opening that may have left committed records out, and what would decide it."""

    lost: LostTerm
    doubt: str
    """Of which epoch the records are, or may be, and what follows from that, in words."""
    would_tell: str
    shown_by: str
    """What told that they were committed, in words."""

    @property
    def brokers(self) -> tuple[int, ...]:
        """Who opened the epoch, where that is told, and who told what was committed."""
        concerned = (self.lost.leader, self.lost.committed.moment.witness)
        return tuple(sorted({broker for broker in concerned if broker is not None}))


def unknown_openings(evidence: PartitionEvidence) -> Iterator[PerhapsBelow]:
    """Openings below a checkpoint, which no witness dated, where no disk is here that knows the epoch."""
    for lost in evidence.opened_below:
        if lost.checkpointed and known_to_none(lost, evidence.current):
            term = lost.committed.term
            former = Silence(broker=evidence.chronicle.leaders.get(term), log="requests", window=f"of epoch {term}")
            yield PerhapsBelow(
                lost=lost,
                doubt=f"Records {_left_out(lost)} are of epoch {term}. No log here knows epoch {lost.epoch}",
                would_tell=would_tell(Silence(broker=lost.leader, log="disk"), former),
                shown_by="the high watermark on disk",
            )


def openings_behind_holes(evidence: PartitionEvidence) -> Iterator[PerhapsBelow]:
    """The first opening below records that may be of an epoch before it, as their witness leaves its roles untold."""
    lost = _first_below(evidence)
    if lost is not None:
        moment = lost.committed.moment
        when = f"That was in epoch {moment.term} or in a later one"
        who = f"the leader of epoch {lost.epoch}" if lost.leader is None else f"broker {lost.leader}"
        lacked = f"{who} lacked committed records at offsets {_left_out(lost)}"
        yield PerhapsBelow(
            lost=lost,
            doubt=f"{when}. If it was before epoch {lost.epoch}, {lacked}",
            would_tell=would_tell(Silence(broker=moment.witness, log="roles", since_epoch=moment.term)),
            shown_by="the proof of what was committed",
        )


def _left_out(lost: LostTerm) -> str:
    return f"[{lost.start_offset}, {lost.committed.end_offset})"


def _first_below(evidence: PartitionEvidence) -> LostTerm | None:
    """The first epoch that opened below committed records, if these are of the role that their witness told before.

    Its log of roles has a hole there: they may be of that epoch, or of a later one. Who tells no role before, or
    whose log begins later, leaves all of that untold and raises no such question.
    """
    unsure = _unsure(evidence)
    for epoch, opening in sorted(evidence.openings.items()):
        start = opening.offset
        if start is None:
            continue
        behind = (p for p in unsure if _may_be_before(p, epoch) and start < p.end_offset and not _went_on(opening, p))
        furthest = max(behind, key=lambda proof: proof.end_offset, default=None)
        if furthest is not None:
            return LostTerm(
                epoch=epoch, leader=opening.broker, start_offset=start, committed=furthest, opening=opening
            )
    return None


def _may_be_before(proof: Committed, epoch: int) -> bool:
    return proof.moment.term is not None and proof.moment.term < epoch <= proof.term


def _went_on(opening: RoleTaken, proof: Committed) -> bool:
    """Whether who opened the epoch told by the same clock, later on, that they are committed: it held them then."""
    moment = proof.moment
    if opening.clock != moment.clock or opening.time is None or moment.time is None:
        return False
    return opening.time < moment.time


def _unsure(evidence: PartitionEvidence) -> list[Committed]:
    """What was committed in the role that its witness told before, or in a later one."""
    sure, proofs = evidence.chronicle.sure_terms, evidence.committed_batches
    return [p for p in proofs if p.moment.term not in (None, p.term) and (p.moment.clock, p.moment.term) in sure]
