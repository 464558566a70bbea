"""Acknowledged records whose fate the last leader's log would show, where it is not here."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.finding import Violation
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

LED_AGAIN = """
broker 9 |
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 0 acks=all
t3 acks 1 at 2 acks=1
t4 loads 2 at 2
t5 leader 2 epoch 1 isr 2
t6 leads 2 epoch 1 at 2 hw 2
t7 acks 2 at 2 acks=1
t8 loads 1 at 4
{between}
t10 leads 1 epoch 2 at 4 hw 2
"""
CUT = "t9 follows 1 epoch 1 at 4 hw 2 from 2\nt9 truncates 1 to 2"


def evidence(drawing: str) -> PartitionEvidence:
    return read_sketch(drawing).evidence


def asked(between: str) -> list[tuple[bool, tuple[int, ...], int | None, int | None]]:
    """What ACK001 finds certain or asks, of whose records; asked first."""
    said = BY_ID["ACK001"].check(evidence(LED_AGAIN.format(between=between)))
    ranged = [one for one in said if one.start_offset is not None]
    return sorted((isinstance(one, Violation), one.brokers, one.start_offset, one.end_offset) for one in ranged)


def test_who_had_the_records_and_led_again_may_have_held_them_still() -> None:
    assert asked("") == [(False, (1,), 2, 4), (False, (2,), 2, 3)]


def test_who_was_cut_before_it_led_again_held_them_no_more() -> None:
    assert asked(CUT) == [(True, (1,), 2, 4)]


@pytest.mark.parametrize(
    ("leader", "said"), [(1, [(False, (1,), 2, 4)]), (3, [(True, (1,), 2, 4)])], ids=["had them", "had none of them"]
)
def test_whom_a_follower_names_may_have_led_with_the_records(
    leader: int, said: list[tuple[bool, tuple[int, ...], int, int]]
) -> None:
    """Nobody else tells who led last: neither a controller nor that leader itself."""
    between = "\n".join(f"t9 follows {broker} epoch 1 at {end} hw 2 from 2" for broker, end in ((1, 4), (3, 2)))
    drawing = LED_AGAIN.replace("t7 acks 2 at 2 acks=1\n", "").replace("{between}", between)
    drawing = drawing.replace("leads 1 epoch 2 at 4 hw 2", f"follows 2 epoch 2 at 3 hw 2 from {leader}")
    found = BY_ID["ACK001"].check(evidence(drawing))
    assert [(isinstance(o, Violation), o.brokers, o.start_offset, o.end_offset) for o in found] == said
    assert [loss.unread for loss in losses(evidence(drawing))] == [(1,) if leader == 1 else ()]


@pytest.mark.parametrize(("between", "cheap"), [("t9 fetch 1@3 from 2 hw=2", True), ("", False)])
def test_an_election_is_not_called_cheap_where_who_led_again_had_written_others_there(
    between: str, cheap: bool
) -> None:
    drawing = "broker 9 |\nt1 leader 1 epoch 0 isr 1" + LED_AGAIN.removeprefix("\nbroker 9 |").format(between=between)
    said = BY_ID["LEAD002"].check(evidence(drawing + "t6 leader 1 epoch 2 isr 1\n"))
    (told,) = (one for one in said if isinstance(one, Violation) and one.facts["epoch"] == 2)
    assert ("all that is known" in str(told.facts["cost"])) == cheap


GOT_AGAIN = """
broker 9 |
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t2 acks 1 at 2 acks=1
t3 leads 1 epoch 1 at 3 hw 0
t3 follows 2 epoch 1 at 1 hw 0 from 1
t4 {again}
t5 leads 3 epoch 3 at 1 hw 0
t6 leads 2 epoch 4 at 3 hw 0
"""


@pytest.mark.parametrize(
    ("again", "unread"),
    [
        ("follows 2 epoch 2 at 3 hw 0 from 1", (2,)),
        ("follows 2 epoch 2 at 1 hw 0 from 1", ()),
        ("leads 2 epoch 2 at 1 hw 0\nt4 follows 2 epoch 3 at 3 hw 0 from 3", ()),
    ],
    ids=["copied them later", "never had them", "wrote others there"],
)
def test_a_follower_that_lagged_once_may_have_copied_the_records_since(again: str, unread: tuple[int, ...]) -> None:
    """Its log ended below them when their leader led on, and beyond them before another one led without them."""
    (lost,) = (loss for loss in losses(evidence(GOT_AGAIN.format(again=again))) if loss.epoch == 0)
    assert (lost.start_offset, lost.unread) == (1, unread)
