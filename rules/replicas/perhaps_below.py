"""Openings below what was committed in an epoch before them, or in one that its witness leaves untold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules.chronicle.chronicle import Chronicle
from rules.history.moments import Committed
from rules.history.statements import RoleTaken
from rules.replicas.lineage import LostTerm


def opening_perhaps_below(
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
