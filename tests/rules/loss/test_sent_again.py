"""Records that a producer sent again to the next leader, and that stand as the deposed one wrote them first."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID, RULES
from rules.finding import Undecided
from rules.judging.judge import judge
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


@pytest.mark.parametrize("leading", ["", "\nt9 leads 3 epoch 3 at 6 hw 6"])  # or the log that leads is not here
def test_committed_records_in_whose_place_the_same_may_stand_are_asked_about_as_perhaps_lost(leading: str) -> None:
    judged = judge(read_sketch(CAME_BACK.format(answered=3, later=WENT_ON + leading)).evidence, RULES)
    assert (1, 6) in [(loss.epoch, loss.start_offset) for loss in judged.losses]
    asked = [line for line in judged.undecided if line.perhaps_lost]
    assert [line.reason.partition(" are lost")[0] for line in asked] == [
        "it is not known whether committed records [4, 6) of epoch 1"
    ]


def test_a_high_watermark_of_later_makes_nothing_committed_that_was_left_out_before() -> None:
    evidence = read_sketch(CAME_BACK.format(answered=3, later=WENT_ON)).evidence
    (before,) = (loss for loss in losses(evidence) if loss.epoch == 0)
    assert (before.start_offset, before.end_offset, before.restored) == (4, 6, True)
    assert before.committed_end == 4
    assert not before.matters


UNHEARD = """
broker 1* 00000 222|
broker 2  00000 222|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 3 hw 3
t3 acks 2 at 7 acks=all
t4 leads 1 epoch 2 at 5 hw 3
"""
"""Broker 1 came back with two records that may have been sent again to broker 2; its request log is not here."""


def test_committed_records_in_whose_place_older_ones_stand_are_an_open_question() -> None:
    judged = judge(read_sketch(UNHEARD).evidence, RULES)
    assert [(x.start_offset, x.end_offset) for x in judged.losses if x.matters] == [(5, 8)]
    assert [(f.start_offset, f.end_offset) for f in judged.findings if f.rule == "LEAD001"] == [(3, 5), (5, 8)]
    (question,) = (open_.reason for open_ in judged.undecided if open_.rule == "the bill")
    assert "committed records [3, 5) of epoch 1" in question
