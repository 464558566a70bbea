"""Answers that are written when their broker has another role already are of the term in which they were handled."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.statements import Produced, statement
from rules.history.terms import in_terms

ROLES = (
    (1000, "leader-starts", 3), (2000, "follower-starts", 4), (3000, "leader-starts", 5), (4000, "leader-starts", 6),
)  # fmt: skip


def role(number: int, time: int, kind: str, epoch: int, *, former: int | None) -> Moment:
    span, own = Span(source="server.log", start=number, end=number + 1), {"clock": "broker 1", "broker": 1}
    return statement(kind, **own, time=time, witness=1, epoch=epoch, former=former, fresh=former is None, span=span)


def term_of(
    time: int, taken_in: int | None, *, epoch: int | None = None, before: int | None = 2, named: Sequence[Moment] = ()
) -> tuple[int | None, int | None]:
    """The first and the last term that an answer can be of; `before` is the epoch that the first role tells."""
    answer = Produced(
        kind="produced", clock="broker 1", time=time, taken_in=taken_in, answered=taken_in, witness=1, broker=1,
        leader=1, offset=7, acks=1, error=0, epoch=epoch, span=Span(source="kafka-request.log", start=0, end=1),
    )  # fmt: skip
    roles = [role(number, *told, former=before if number == 0 else told[2] - 1) for number, told in enumerate(ROLES)]
    found = next(m for m in in_terms([*roles, *named, answer]) if m.kind == "produced")
    return found.term, found.latest_term


def test_an_answer_is_of_the_term_in_which_it_was_handled() -> None:
    assert term_of(1500, 1400) == (3, None)
    assert term_of(3500, 1400) == (3, None)
    assert term_of(4500, 3500) == (5, None)


def test_only_who_leads_answers() -> None:
    assert term_of(3004, 2999) == (5, None)
    assert term_of(2004, 1999) == (3, None)


def test_within_the_same_milliseconds_it_may_be_of_either() -> None:
    assert term_of(4003, 3998) == (5, None)
    assert term_of(4003, 3999) == (5, 6)
    assert term_of(4003, 4000) == (5, 6)
    assert term_of(4003, 4001) == (6, None)


def test_without_its_times_an_answer_is_of_the_role_before_its_line() -> None:
    assert term_of(4003, None) == (6, None)
    assert term_of(3999, None) == (5, None)


def test_an_epoch_that_is_named_outranks_times() -> None:
    assert term_of(4500, 3500, epoch=6) == (6, None)


def test_what_was_handled_before_all_that_is_told_may_be_of_any_older_role() -> None:
    assert term_of(1500, 900) == (-1, 2)
    assert term_of(950, 900) == (-1, 2)
    assert term_of(999, 999) == (2, None)


def test_whoever_was_started_again_may_have_led_in_the_same_epoch_before() -> None:
    assert term_of(1500, 900, before=None) == (-1, 3)
    assert term_of(999, 999, before=None) == (2, 3)


def fetch(time: int, epoch: int, kind: str) -> Moment:
    span = Span(source="kafka-request.log", start=2, end=3)
    own = {"clock": "broker 1", "witness": 1, "leader": 1, "broker": 2, "error": 0, "span": span}
    return statement(kind, **own, time=time, epoch=epoch, offset=7)


@pytest.mark.parametrize("kind", ["fetched", "consumed"])
def test_an_answer_behind_a_fetch_that_named_its_epoch_is_of_none_before_that(kind: str) -> None:
    assert term_of(4700, 4600, named=[fetch(4500, 8, kind)]) == (8, None)
    assert term_of(4700, 4400, named=[fetch(4500, 8, kind)]) == (6, 8)
    assert term_of(4700, None, named=[fetch(4500, 8, kind)]) == (6, 8)
    assert term_of(4700, 4600, named=[fetch(4500, 5, kind)]) == (6, None)
