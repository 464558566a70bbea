"""A leader whose log was cut where it could not be read: what was cut off is asked for, or is a known loss."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Undecided
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

DISKS = "broker 1 0000|\nbroker 2* 0000|\n"
LED = "t1 leads 1 epoch 0 at 0 hw 0\n"
MENDED = "t5 mends 2 to 4\nt5 loads 2 at 4\n"
LEADS = "t7 leads 2 epoch 1 at 4 hw 4\n"


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (LED + MENDED + LEADS, [(0, 4)]),
        # It may have followed first, and the leader before may have come back with a shorter log.
        (f"{LED}{MENDED}t6 follows 2 epoch 1 at 4 hw 4\nt7 leads 2 epoch 2 at 4 hw 4\n", [(0, 4)]),
        (f"{LED}{MENDED}{LEADS}t6 loads 1 at 3\nt8 follows 1 epoch 1 at 3 hw 3\n", [(0, 4)]),
        # The same broker led before.
        ("t1 leads 2 epoch 0 at 0 hw 0\n" + MENDED + LEADS, [(0, 4)]),
        # It fetched what was cut off, or its log was made anew since.
        (f"{LED}{MENDED}t7 leads 2 epoch 1 at 6 hw 6\n", []),
        (f"{LED}{MENDED}t6 begins 2\n{LEADS}", []),
        # The leader before was not started again, and had no more.
        (f"{LED}{MENDED}{LEADS}t8 follows 1 epoch 1 at 4 hw 4\n", []),
        # It opened the same epoch once more, or nobody is told to have led before.
        ("t1 leads 2 epoch 0 at 0 hw 0\n" + MENDED + "t7 leads 2 epoch 0 at 4 hw 4\n", [(0, 4)]),
        (MENDED + LEADS, [(None, 4)]),
        # It was shorter still when it was loaded once more: what the other log holds beyond is a known loss.
        (f"{LED}{MENDED}t6 loads 2 at 3\nt7 leads 2 epoch 1 at 3 hw 3\n", []),
        # The log of the leader before was cut as damaged as well, so its next role tells nothing.
        (f"{LED}{MENDED}{LEADS}t6 mends 1 to 4\nt8 follows 1 epoch 1 at 4 hw 4\n", [(0, 4)]),
        # It is asked once, of the first lead after it.
        (f"{LED}{MENDED}{LEADS}t8 leads 2 epoch 3 at 4 hw 4\n", [(0, 4)]),
        (LED + LEADS, []),
    ],
)
def test_what_was_cut_off_a_leader_s_log_as_damaged_is_asked_for(told: str, asked: list[tuple[int, int]]) -> None:
    questions = [q for q in BY_ID["ACK001"].check(read_sketch(DISKS + told).evidence) if isinstance(q, Undecided)]
    own = [q for q in questions if "could not read its log from 4 on" in q.reason]
    assert [(q.epoch, q.start_offset) for q in own] == asked
    assert all(q.blocking and q.brokers == (2,) for q in own)


def test_what_is_told_of_it_is_a_loss_and_no_question() -> None:
    evidence = read_sketch(f"{DISKS}{LED}t2 acks 1 at 7 acks=all\n{MENDED}{LEADS}").evidence
    assert [(loss.epoch, loss.next_epoch, loss.end_offset) for loss in losses(evidence)] == [(0, 1, 8)]
    assert not any("could not read" in q.reason for q in BY_ID["ACK001"].check(evidence) if isinstance(q, Undecided))
