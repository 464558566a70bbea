"""An ISR is in force when whoever it takes in has asked for all that its leader had told, whatever its line's time."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.statements import PartitionState, statement
from rules.replay.reign.taken_in import once_reached
from rules.replay.reign.told_isr import InForce

SPAN = Span(source="kafka-request.log", start=0, end=1)


def in_force(isr: set[int], since: int) -> InForce:
    told = PartitionState(kind="isr", clock="broker 1", span=SPAN, isr=tuple(isr), time=since, epoch=4)
    return InForce(isr=frozenset(isr), earliest=None, latest=since, partition_epoch=None, moment=told)


def asked(at: int, broker: int, offset: int, watermark: int, epoch: int = 4) -> Moment:
    values = {"clock": "broker 1", "span": SPAN, "witness": 1, "error": 0, "time": at, "taken_in": at}
    return statement("fetched", broker=broker, offset=offset, high_watermark=watermark, epoch=epoch, **values)


CATCHES_UP = [asked(10, 2, 20, 20), asked(40, 3, 15, 20), asked(50, 3, 20, 20)]
"""Broker 2 follows closely; broker 3 comes and has all at 50."""


@pytest.mark.parametrize(
    ("rows", "since", "surely"),
    [
        (CATCHES_UP, 60, 60),
        (CATCHES_UP, 30, 50),
        ([*CATCHES_UP, asked(70, 2, 30, 30)], 60, 60),
        ([asked(1, 3, 20, 10, epoch=3), *CATCHES_UP], 30, 50),
        (CATCHES_UP[:2], 30, 30),
    ],
    ids=["after it", "a line that comes too early", "it falls behind later", "by an older epoch", "it never has all"],
)
def test_a_replica_is_taken_in_when_it_has_asked_for_all_that_was_told(
    rows: list[Moment], since: int, surely: int
) -> None:
    told = [in_force({1, 2}, 0), in_force({1, 2, 3}, since)]
    assert [each.latest for each in once_reached(told, rows)] == [0, surely]


def test_an_isr_that_takes_nobody_in_is_as_it_was_told() -> None:
    told = [in_force({1, 2, 3}, 0), in_force({1, 2}, 30)]
    assert once_reached(told, CATCHES_UP) == told
