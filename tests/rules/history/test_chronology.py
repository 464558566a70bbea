"""The order of statements of several clocks: epochs never go back, and a restart is placed by time between roles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.provenance import Span
from rules.history.chronology import in_order
from rules.history.clocks import clocks_of
from rules.history.milestones import milestones
from rules.history.moments import Moment
from rules.history.statements import statement
from tests.replaced import replace


def said(kind: str, broker: int, time: int, **values: int | None) -> Moment:
    span = Span(source=f"broker-{broker}.log", start=time, end=time + 1)
    return statement(kind, clock=f"broker {broker}", time=time, witness=broker, broker=broker, span=span, **values)


def told(restart: int) -> list[Moment]:
    return [
        said("leader-starts", 1, 100, epoch=0, offset=0),
        said("follower-starts", 2, 110, epoch=0, offset=0),
        said("leader-starts", 2, 300, epoch=1, offset=5, term=0),
        said("log-loaded", 1, restart, term=0, end_offset=9),
        said("high-watermark-loaded", 1, restart, term=0, high_watermark=9),
        said("follower-starts", 1, 900, epoch=2, offset=9, term=0),
        said("leader-starts", 3, 600, epoch=2, offset=7),
        said("leader-starts", 2, 1200, epoch=3, offset=7, term=1),
    ]


@given(st.integers(101, 899))
def test_a_restart_stands_by_time_among_all_the_elections(restart: int) -> None:
    rows = in_order(told(restart), lambda moment: moment.time)
    assert [row.time for row in rows] == sorted(row.time or 0 for row in told(restart))


@given(st.integers(102, 899), st.integers(1, 3))
def test_what_a_start_saves_before_its_log_is_loaded_is_told_with_that_start(start: int, many: int) -> None:
    saved = [said("producer-state-saved", 1, start - 1, term=0, offset=9 - n) for n in range(many)]
    rows = in_order([*told(start), *saved], lambda moment: moment.time)
    assert [row.time for row in rows] == sorted(row.time or 0 for row in rows)


def test_what_a_broker_saves_last_is_told_by_its_time_and_what_it_saves_between_its_answers_is_of_its_epoch() -> None:
    others = [*told(500)[:3], said("producer-state-saved", 1, 350, term=0, offset=8)]
    answer = said("produced", 1, 400, term=0, offset=8, acks=1, error=0)
    for statements, times in (([], [100, 110, 300, 350]), ([answer], [100, 110, 350, 400, 300])):
        rows = in_order([*others, *statements], lambda moment: moment.time)
        assert [row.time for row in rows] == times


@given(st.integers(-5000, 5000))
def test_a_clock_that_nothing_aligns_moves_no_restart_beyond_its_brokers_roles(shift: int) -> None:
    def time(moment: Moment) -> int | None:
        return (moment.time or 0) + (shift if moment.clock == "broker 1" else 0)

    rows = in_order(told(500), time)
    own = [row.kind for row in rows if row.clock == "broker 1"]
    assert own == ["leader-starts", "log-loaded", "high-watermark-loaded", "follower-starts"]
    opened = [row.epoch for row in rows if row.kind == "leader-starts" and row.epoch is not None]
    assert opened == sorted(opened)


def test_epochs_put_milestones_in_order_where_clocks_are_only_estimated() -> None:
    moments = [said("leader-starts", 2, 1000, epoch=5, offset=3), said("leader-starts", 3, 400, epoch=6, offset=4)]
    assert [milestone.epoch for milestone in milestones(moments, clocks_of(moments).offsets)] == [5, 6]


def test_a_controllers_clock_that_nothing_aligns_places_no_restart() -> None:
    wild = replace(said("leadership", 9, 90_000, epoch=1), clock="controller 9")
    own = [row for row in in_order([*told(500), wild], lambda moment: moment.time) if row is not wild]
    assert [row.time for row in own] == sorted(row.time or 0 for row in own)


@pytest.mark.parametrize("skew", [-300, 0, 300])
def test_a_decision_stands_before_the_roles_that_carry_it_out(skew: int) -> None:
    decided = replace(said("leadership", 0, 1000 + skew, epoch=3), clock="controller", witness=None, leader=3)
    leads, follows = said("leader-starts", 3, 1000, epoch=3), said("follower-starts", 2, 1000, epoch=3)
    before = said("log-loaded", 4, 900)
    order = in_order([before, follows, leads, decided], lambda moment: moment.time)
    assert [row.kind for row in order if row is not before] == ["leadership", "leader-starts", "follower-starts"]
