"""Records that a producer sent again to the next leader, and that stand as the deposed one wrote them first."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Undecided
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

CAME_BACK = """
broker 1 000000|
broker 2 000000|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at {answered} acks=all
t2 fetch 2@4 from 1 hw=4
t3 leads 2 epoch 1 at 4 hw 4
t4 acks 2 at 4 acks=all
t5 acks 2 at 5 acks=all
t6 acks 2 at 8 acks=all
t7 leads 1 epoch 2 at 6 hw 4
{later}
"""
"""Broker 2 led epoch 1 without offsets 4 and 5 of epoch 0; broker 1 led again with them, and without epoch 1."""
WENT_ON = "t8 fetch 2@6 from 1 hw=6"


@pytest.mark.parametrize(
    ("answered", "later", "lost", "asked"),
    [
        # Nobody was answered for what broker 1 wrote last: its producer sent it again to broker 2.
        (3, WENT_ON, [(1, 6, 9)], [(4, 6)]),
        # Somebody was: what broker 2 acknowledged there are other records.
        (5, WENT_ON, [(1, 4, 9)], []),
        # Broker 1's request log ends before its lead did: the answers may be gone with it.
        (3, "", [(1, 4, 9)], []),
    ],
)
def test_what_stands_as_it_was_sent_first_is_no_loss(
    answered: int, later: str, lost: list[tuple[int, int, int]], asked: list[tuple[int, int]]
) -> None:
    evidence = read_sketch(CAME_BACK.format(answered=answered, later=later)).evidence
    billed = [loss for loss in losses(evidence) if loss.matters and not loss.restored]
    assert [(loss.epoch, loss.start_offset, loss.end_offset) for loss in billed] == lost
    questions = [q for q in BY_ID["ACK001"].check(evidence) if isinstance(q, Undecided) and q.start_offset is not None]
    assert [(q.start_offset, q.end_offset) for q in questions if "sent it again" in q.reason] == asked


def test_a_high_watermark_of_later_makes_nothing_committed_that_was_left_out_before() -> None:
    evidence = read_sketch(CAME_BACK.format(answered=3, later=WENT_ON)).evidence
    (before,) = (loss for loss in losses(evidence) if loss.epoch == 0)
    assert (before.start_offset, before.end_offset, before.restored) == (4, 6, True)
    assert before.committed_end == 4
    assert not before.matters
