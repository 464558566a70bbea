"""Whether answers that a busy log's reading leaves out may be of those that are asked for, before the first of them."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.repetitions import begin_unseen
from rules.history.statements import Produced


def answer(offset: int, *, left_out: int = 0, client: str = "x", acks: int = -1) -> Moment:
    return Produced(
        kind="produced", clock="broker 1", witness=1, broker=1, offset=offset, acks=acks, error=0, client_id=client,
        left_out=left_out, span=Span(source="log", start=offset, end=offset + 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "unseen"),
    [
        (answer(1, left_out=3), True),
        (answer(1), False),
        (answer(1, left_out=3, client="y"), False),
        (answer(1, left_out=3, acks=1), False),
    ],
)
def test_what_one_client_was_answered_between_two_answers_may_be_of_either_side(before: Moment, unseen: bool) -> None:
    asked_for = answer(9, left_out=2)
    assert begin_unseen([before, asked_for], [asked_for]) is unseen


def test_what_lies_between_two_that_are_asked_for_begins_behind_the_first() -> None:
    told = [answer(1, left_out=3), answer(9)]
    assert not begin_unseen(told, told)
