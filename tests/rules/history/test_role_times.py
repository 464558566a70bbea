"""When brokers took roles, by each file that shows it: files that disagree are of two clocks, others are not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.role_times import clocks_apart, role_times_in
from rules.history.sources_disagree import contradiction
from rules.history.statements import statement

STATES, REQUESTS, SERVER = "state-change.log", "kafka-request.log", "server.log"


def line(kind: str, time: int, source: str, place: int = 0, **told: int) -> Moment:
    span = Span(source=source, start=place, end=place + 1)
    values: dict[str, int] = {"broker": 1, "witness": 1, **told}
    return statement(kind, clock="broker 1", time=time, span=span, **values)


def role(time: int, epoch: int = 3, place: int = 0) -> Moment:
    return line("leader-starts", time, STATES, place, epoch=epoch, former=epoch - 1)


def order(came: int, answered: int) -> Moment:
    return line("leadership", answered, REQUESTS, epoch=3, arrived=came, error=0, leader=1)


def fetch(answered: int) -> Moment:
    return line("fetched", answered, REQUESTS, epoch=3, broker=2, offset=5, error=0, arrived=answered)


def apart(told: Sequence[Moment]) -> bool:
    return clocks_apart(role_times_in({("t", 0): told})) == {"broker 1"}


@pytest.mark.parametrize(
    ("told", "disagree"),
    [
        ([role(10_100), order(10_000, 10_200)], False),
        ([role(12_100), order(10_000, 10_200)], True),
        ([role(8_100), order(10_000, 10_200)], True),
        ([role(10_100), fetch(10_200)], False),
        ([role(12_100), fetch(10_200)], True),
        ([role(8_100), fetch(10_200)], False),
    ],
)
def test_a_role_is_taken_while_its_order_is_served_and_before_its_first_answer(
    told: Sequence[Moment], disagree: bool
) -> None:
    assert apart(told) == disagree


@pytest.mark.parametrize(("again", "disagree"), [([], True), ([34_100], False), ([20_000], True)])
def test_a_broker_that_was_stopped_before_it_answered_the_order_gets_its_role_again(
    again: Sequence[int], disagree: bool
) -> None:
    """No log tells of the first order; the second one comes after the start."""
    told = [role(10_100), order(34_000, 34_200)]
    told += [line("leader-starts", at, STATES, 1, epoch=3, fresh=True) for at in again]
    assert apart(told) == disagree
    assert (contradiction(told) is not None) == disagree


def test_epochs_that_may_stand_for_others_show_nothing() -> None:
    told = [role(12_100), order(10_000, 10_200)]
    assert apart(told)
    assert not apart([*told, line("log-deleted", 11_000, SERVER)])
    assert not apart([*told, role(20_000, epoch=0, place=1)])


def test_files_of_different_partitions_bound_nothing() -> None:
    assert not clocks_apart(role_times_in({("t", 0): [role(12_100)], ("t", 1): [order(10_000, 10_200)]}))
