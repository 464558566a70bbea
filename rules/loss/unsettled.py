"""Acknowledged records of which it is not known whether they are gone: what stands against it, and what would tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from rules.evidence import PartitionEvidence
from rules.history.moments import Moment
from rules.history.statements import Produced
from rules.words import it_or_them

FIRST: Final = "the first acknowledgement"
Shown = tuple[Moment, str]
"""A statement, and what it is."""


class Unsettled(Struct, frozen=True, kw_only=True):
    """One question about what a broker answered, or may have answered, to producers."""

    broker: int | None
    words: str
    missing: str
    start_offset: int | None = None
    end_offset: int | None = None
    epoch: int | None = None
    """The one epoch whose records it is about, where it is of one."""
    shown: tuple[Shown, ...] = ()
    """Statements that the question rests on."""
    blocking: bool = True
    perhaps_for_others: tuple[Produced, ...] = ()
    """Answers that may have been given for the records that stand there now, and not for those that are in question."""


def of_answers(
    evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced], why: str, missing: str, *more: Shown
) -> Unsettled:
    """Answers of a known epoch, and why it is open what became of their records."""
    first, (start, end) = answers[0], _range(evidence, epoch, answers)
    return Unsettled(
        broker=first.witness,
        words=f"{acknowledged(first.witness, (start, end), epoch)}. {why}",
        missing=missing,
        start_offset=start,
        end_offset=end,
        epoch=epoch,
        shown=((first, FIRST), *more),
    )


def them(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced]) -> str:
    """The answers' records, once they were named: it, them."""
    start, end = _range(evidence, epoch, answers)
    return it_or_them(end - start)


def _range(evidence: PartitionEvidence, epoch: int, answers: Sequence[Produced]) -> tuple[int, int]:
    return answers[0].offset or 0, evidence.batch_end(answers[-1].offset or 0, epoch)


def acknowledged(broker: int | None, stretch: tuple[int, int], epoch: int) -> str:
    """What a broker answered for, in words."""
    return f"broker {broker} acknowledged records [{stretch[0]}, {stretch[1]}) of epoch {epoch}"
