"""Without controllers' word nobody tells who was elected last; without a leader's log, what it may hold still."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.advice import advise
from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.finding import Violation
from rules.loss.incurred import losses
from rules.settings import BROKER_STATE, STOPPED, Setting, settings_of
from rules.sketch.notation import read_sketch
from tests.replaced import replace

UNCLEAN = """
broker 1 000|000
broker 2 000|11
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 3 acks=all
t3 fetch 2@6 from 1 hw=6
t9 leads 2 epoch 1 at 3 hw 3
"""


def evidence(*, told: bool, stops: tuple[int, ...] = ()) -> PartitionEvidence:
    """Of two brokers that hold other records: whether controllers tell of elections, and who tells of its stop."""
    span = Span(source="server.log", start=0, end=1)
    states = [
        Setting(
            name=BROKER_STATE, value=STOPPED, origin="log", broker=broker, since=20, clock=f"broker {broker}", span=span
        )
        for broker in stops
    ]
    return replace(read_sketch(UNCLEAN).evidence, elections_told=told, settings=settings_of(states))


def said(rule: str, about: PartitionEvidence) -> list[bool]:
    """What a rule proves or asks of records."""
    found = (one for one in BY_ID[rule].check(about) if one.start_offset is not None)
    return [isinstance(one, Violation) for one in found]


@pytest.mark.parametrize(("told", "stops"), [(True, ()), (False, (1,))])
def test_who_led_last_is_known_by_controllers_or_by_logs_that_reach_a_stop(told: bool, stops: tuple[int, ...]) -> None:
    known = evidence(told=told, stops=stops)
    assert known.leader_at_the_end is not None
    assert (said("ACK001", known), said("CONS003", known)) == ([True], [True])
    assert [loss.unread for loss in losses(known)] == [()]


@pytest.mark.parametrize("stops", [(), (2,)])
def test_an_election_that_nobody_tells_of_may_have_brought_the_records_back(stops: tuple[int, ...]) -> None:
    """Broker 1 holds them, and nothing shows that its log tells of all its roles."""
    open_ = evidence(told=False, stops=stops)
    assert [replica.broker for replica in open_.perhaps_led_since] == [1]
    assert (said("ACK001", open_), said("CONS003", open_)) == ([False], [])
    assert [loss.unread for loss in losses(open_)] == [(1,)]


CUT = """
broker 1 00|00
broker 2 00|1
t1 leads 1 epoch 0 at 0 hw 0
t9 leads 2 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize("told", [True, False])
def test_advice_names_no_last_leader_where_another_may_have_led_since(told: bool) -> None:
    known = replace(read_sketch(CUT).evidence, elections_told=told)
    (advice,), (cut,) = advise(known), BY_ID["TRUNC004"].check(known)
    assert isinstance(cut, Violation)
    assert advice.leading == (2 if told else None)
    assert ("broker 1 may have led last" in str(cut.facts["meaning"])) is not told


def test_a_watermark_that_may_be_of_a_reign_that_is_not_told_proves_nothing_of_the_one_before() -> None:
    """Broker 1 told it in its last role that is known; it may have led again by then."""
    proved, asked = (said("LEAD001", evidence(told=told)) for told in (True, False))
    assert (proved, asked) == ([True], [])


LED_LAST = """
broker 9 |
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 2 acks=all
t5 leads 2 epoch 1 at 2 hw 2
{between}
t10 leads 3 epoch 2 at 6 hw 2
"""


@pytest.mark.parametrize(("between", "proved"), [("", False), ("t6 follows 3 epoch 1 at 2 hw 2 from 2", True)])
def test_a_longer_log_that_is_not_here_may_have_the_records_unless_it_is_told_to_have_ended_below(
    between: str, proved: bool
) -> None:
    known = read_sketch(LED_LAST.format(between=between)).evidence
    assert said("ACK001", known) == [proved]
    assert [bool(loss.unread) for loss in losses(known) if loss.matters] == [not proved]
