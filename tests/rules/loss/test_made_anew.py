"""A leader whose log was made anew in one life of its topic: what it had held is asked for, or is a known loss."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Undecided
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

DISK = "broker 1* 2222|\n"
LED = "t1 leads 1 epoch 0 at 0 hw 0\n"
MADE = "t5 begins 1\n"
LEADS = "t6 follows 1 epoch 1 at 0 hw 0\nt7 leads 1 epoch 2 at 0 hw 0\n"


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (LED + MADE + LEADS, [(0, 0)]),
        # Old releases load a log that they make.
        (f"{LED}t4 loads 1 at 0\n{MADE}{LEADS}", [(0, 0)]),
        # What it had at its start is known, and what it wrote since is not.
        (f"{LED}t3 loads 1 at 5\nt4 leads 1 epoch 1 at 5 hw 5\n{MADE}t7 leads 1 epoch 2 at 0 hw 0\n", [(1, 5)]),
        # The replica was moved away and came back, or another one led with its copy.
        (f"{LED}t4 deletes 1\n{MADE}{LEADS}", []),
        (f"{LED}t4 leader 2 epoch 1 isr 2\n{MADE}t7 leads 1 epoch 2 at 0 hw 0\n", []),
        # The old log was in use still when it was loaded next, or when its broker led next.
        (f"{LED}{MADE}t6 loads 1 at 4\nt7 leads 1 epoch 2 at 4 hw 4\n", []),
        (f"{LED}{MADE}t7 leads 1 epoch 2 at 4 hw 4\n", []),
        # It had led nothing before.
        (MADE + LEADS, []),
    ],
)
def test_what_a_log_had_held_that_was_made_anew_is_asked_for(told: str, asked: list[tuple[int, int]]) -> None:
    questions = [q for q in BY_ID["ACK001"].check(read_sketch(DISK + told).evidence) if isinstance(q, Undecided)]
    own = [q for q in questions if "created its log anew" in q.reason]
    assert [(q.epoch, q.start_offset) for q in own] == asked
    assert all(q.blocking and q.brokers == (1,) for q in own)


ELECTED = "t1 leader 1 epoch 0 isr 1,2\n"
AGAIN = "t6 leader 1 epoch 2 isr 1\n"


@pytest.mark.parametrize(
    ("disk", "told", "asked"),
    [
        ("2222", f"{ELECTED}t2 begins 1\n{MADE}{AGAIN}", [0]),
        ("2222", f"{ELECTED}t2 loads 1 at 3\n{MADE}{AGAIN}", [0]),
        # Started once more, it loads the new log; or its log of roles begins later.
        ("2222", f"{ELECTED}t2 begins 1\n{MADE}{AGAIN}t7 loads 1 at 4\n", [0]),
        ("2222", f"{ELECTED}t2 begins 1\n{MADE}{AGAIN}t7 leads 1 epoch 2 at 0 hw 0\n", [0]),
        # It may be the line of the one log that it ever had, or the replica was given up in order.
        ("2222", f"{ELECTED}{MADE}{AGAIN}", []),
        ("2222", f"{ELECTED}t2 begins 1\nt4 deletes 1\n{MADE}{AGAIN}", []),
        # The log has older records, or another broker led before it and may have had them.
        ("0222", f"{ELECTED}t2 begins 1\n{MADE}{AGAIN}", []),
        ("2222", f"{ELECTED}t2 begins 1\n{MADE}t5 leader 2 epoch 1 isr 2\n{AGAIN}", []),
    ],
)
def test_without_its_brokers_roles_the_disk_and_the_line_that_made_the_log_ask(
    disk: str, told: str, asked: list[int]
) -> None:
    found = BY_ID["ACK001"].check(read_sketch(f"broker 1* {disk}|\n{told}").evidence)
    assert [q.epoch for q in found if isinstance(q, Undecided) and "created its log anew" in q.reason] == asked


def test_what_is_told_of_it_is_a_loss_and_no_question() -> None:
    evidence = read_sketch(f"{DISK}{LED}t2 acks 1 at 7 acks=all\n{MADE}{LEADS}").evidence
    assert [(loss.epoch, loss.next_epoch, loss.end_offset) for loss in losses(evidence)] == [(0, 2, 8)]
    assert not any(isinstance(found, Undecided) for found in BY_ID["ACK001"].check(evidence))


def test_of_a_topic_that_brokers_write_no_answers_are_asked_for() -> None:
    drawing = f"topic __consumer_offsets\n{DISK}{LED}{MADE}{LEADS}"
    (question,) = (q for q in BY_ID["ACK001"].check(read_sketch(drawing).evidence) if isinstance(q, Undecided))
    assert question.missing == "a copy of the disk that broker 1 had before"
