"""Openings below what was committed in an epoch before them, or in one that its witness leaves untold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.silence import Silence, would_tell
from rules.history.moments import Committed
from rules.history.statements import RoleTaken
from rules.replicas.lineage import LostTerm, known_to_none
from rules.replicas.replica import Replica


@dataclass(frozen=True, slots=True, kw_only=True)
class PerhapsBelow:
    """An opening that may have left committed records out, and what would decide it."""

    lost: LostTerm
    records: str
    """Of which epoch the committed records are, in words."""
    would_tell: str
    shown_by: str
    """What told that they were committed, in words."""

    @property
    def brokers(self) -> tuple[int, ...]:
        """Who opened the epoch, where that is told, and who told what was committed."""
        concerned = (self.lost.leader, self.lost.committed.moment.witness)
        return tuple(sorted({broker for broker in concerned if broker is not None}))


def unknown_openings(
    chronicle: Chronicle, below: Sequence[LostTerm], replicas: Sequence[Replica]
) -> Iterator[PerhapsBelow]:
    """Openings below a checkpoint, which no witness dated, where no disk is here that knows the epoch."""
    for lost in below:
        if lost.checkpointed and known_to_none(lost, replicas):
            term = lost.committed.term
            who = "its leader" if lost.leader is None else f"broker {lost.leader}"
            former = chronicle.leaders.get(term)
            led = "who led" if former is None else f"broker {former}, which led"
            yield PerhapsBelow(
                lost=lost,
                records=f"of epoch {term}. No log here knows epoch {lost.epoch}",
                would_tell=f"{who}'s disk, or the request log of {led} epoch {term}",
                shown_by="the high watermark on disk",
            )


def openings_behind_holes(
    chronicle: Chronicle, first: Mapping[int, RoleTaken], proofs: Sequence[Committed]
) -> Iterator[PerhapsBelow]:
    """The first opening below records that may be of an epoch before it, as their witness leaves its roles untold."""
    lost = _first_below(chronicle, first, proofs)
    if lost is not None:
        told = lost.committed.moment
        yield PerhapsBelow(
            lost=lost,
            records=f"of epoch {told.term} or of a later one",
            would_tell=would_tell(Silence(broker=told.witness, log="roles", since_epoch=told.term)),
            shown_by="the proof of what was committed",
        )


def _first_below(
    chronicle: Chronicle, first: Mapping[int, RoleTaken], proofs: Sequence[Committed]
) -> LostTerm | None:
    """The first epoch that opened below committed records, if these are of the role that their witness told before.

    Its log of roles has a hole there: they may be of that epoch, or of a later one. Who tells no role before, or
    whose log begins later, leaves all of that untold and raises no such question.
    """
    questions: list[tuple[int, int, LostTerm]] = []
    for (term, latest), proof in _furthest(chronicle, proofs).items():
        for epoch, opening in first.items():
            start = opening.offset
            if term < epoch <= latest and start is not None and start < proof.end_offset:
                lost = LostTerm(
                    epoch=epoch, leader=opening.broker, start_offset=start, committed=proof, opening=opening
                )
                questions.append((epoch, -proof.end_offset, lost))
    return min(questions, key=lambda each: each[:2], default=(0, 0, None))[2]


def _furthest(chronicle: Chronicle, proofs: Sequence[Committed]) -> dict[tuple[int, int], Committed]:
    """What was committed furthest, by the role that its witness told before and the latest one that it may be of."""
    sure = chronicle.sure_terms
    found: dict[tuple[int, int], Committed] = {}
    for proof in proofs:
        term = proof.moment.term
        if term is None or term == proof.term or (proof.moment.clock, term) not in sure:
            continue
        known = found.setdefault((term, proof.term), proof)
        if proof.end_offset > known.end_offset:
            found[term, proof.term] = proof
    return found
