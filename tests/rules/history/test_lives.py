"""A topic that is created again has a life of its own, of which alone the disks tell."""

from __future__ import annotations

import pytest

from rules.history.last_life import of_the_last_life
from rules.history.turns import roles_fall_back
from rules.sketch.statement_lines import read_event

LED_AGAIN = "t9 leader 1 epoch 0 isr 1\nt10 leads 1 epoch 0 at 0 hw 0"
EMPTY_OF_2 = "t9 leads 2 epoch 0 at 0 hw 0"
LIFE = """
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0
t2 fetch 2@4 from 1 hw=0
t3 acks 1 at 0 acks=all
"""


def kept(history: str) -> list[int]:
    moments = [read_event(line) for line in history.strip().splitlines()]
    return [moment.time or 0 for moment in of_the_last_life(moments)]


@pytest.mark.parametrize(
    ("goes_on", "times"),
    [
        # Deleted, and created again: by the same leader in the same epoch, by another one, twice.
        ("t5 deletes 1\nt6 begins 1\nt7 leads 1 epoch 0 at 0 hw 0", [5, 6, 7]),
        ("t5 deletes 1\nt5 deletes 2\nt7 leads 2 epoch 0 at 0 hw 0\nt8 follows 1 epoch 0 at 0 hw 0", [5, 5, 7, 8]),
        ("t5 leads 2 epoch 1 at 4 hw 4\nt7 leads 2 epoch 0 at 0 hw 0\nt8 acks 2 at 0 acks=all", [7, 8]),
        ("t5 deletes 1\nt7 leads 1 epoch 0 at 0 hw 0\nt8 deletes 1\nt9 leads 1 epoch 0 at 0 hw 0", [8, 9]),
        # Deleted where its former leader tells it, and another broker has but its new order, or its controller one.
        (
            "t4 deletes 1\nt5 leads 1 epoch 0 at 0 hw 0\nt6 leader 2 epoch 1 isr 1,2\nt7 leader 2 epoch 0 isr 2",
            [4, 5, 7],
        ),
        # Deleted twice; who led the life before follows in the last one, of which it tells no role.
        (
            "t5 deletes 1\nt7 leads 1 epoch 0 at 0 hw 0\nt8 deletes 1\nt8 deletes 2\nt9 begins 1\n" + EMPTY_OF_2,
            [8, 8, 9, 9],
        ),
        # Deleted later where the life before was led, and never made there again; made there, and moved away.
        ("t5 deletes 2\nt6 acks 1 at 4 acks=1\nt7 deletes 1\n" + EMPTY_OF_2, [5, 7, 9]),
        (
            "t5 deletes 2\nt5 deletes 1\n" + LED_AGAIN + "\nt11 deletes 1\nt12 leads 2 epoch 1 at 0 hw 0",
            [5, 5, 9, 10, 11, 12],
        ),
        # Its controller gave epoch 0 to another one before: that was another life.
        (
            "t5 deletes 1\nt6 leader 2 epoch 0 isr 2\nt7 leads 2 epoch 0 at 0 hw 0\n" + LED_AGAIN,
            [5, 9, 10],
        ),
        # Opened by a broker that had none of it before: no clock tells an epoch twice. Without a deletion two led it.
        ("t5 deletes 1\nt7 leads 3 epoch 0 at 0 hw 0\nt9 leads 1 epoch 3 at 4 hw 4", [7, 9]),
        ("t7 leads 3 epoch 0 at 0 hw 0\nt9 leads 1 epoch 3 at 4 hw 4", [1, 1, 2, 3, 7, 9]),
        ("t5 deletes 1\nt7 leads 3 epoch 0 at 4 hw 4\nt9 leads 1 epoch 3 at 4 hw 4", [1, 1, 2, 3, 5, 7, 9]),
        # It led in an epoch that another had led, by its own word or its controller's, before that one's log went.
        ("t4 leads 2 epoch 1 at 4 hw 4\nt5 deletes 2\nt7 leads 3 epoch 1 at 2 hw 2\nt9 acks 3 at 2 acks=1", [7, 9]),
        ("t4 leader 2 epoch 1 isr 2\nt5 deletes 2\nt7 leads 3 epoch 1 at 2 hw 2", [7]),
        ("t4 leads 2 epoch 3 at 4 hw 4\nt5 deletes 1\nt6 deletes 2\nt7 leads 1 epoch 3 at 2 hw 2", [5, 6, 7]),
        # The log of one that had not led that epoch went: it was moved away.
        ("t4 leads 2 epoch 1 at 4 hw 4\nt5 deletes 1\nt7 leads 3 epoch 1 at 2 hw 2", [1, 1, 2, 3, 4, 5, 7]),
        # Started again in its epoch; on an empty disk; moved away and back.
        ("t7 leads 1 epoch 0 at 4 hw 4", [1, 1, 2, 3, 7]),
        ("t6 begins 1\nt7 follows 1 epoch 1 at 0 hw 0", [1, 1, 2, 3, 6, 7]),
        ("t5 deletes 2\nt7 begins 2\nt8 follows 2 epoch 2 at 0 hw 0", [1, 1, 2, 3, 5, 7, 8]),
    ],
)
def test_only_a_deletion_or_a_falling_epoch_begins_a_new_life(goes_on: str, times: list[int]) -> None:
    assert kept(LIFE + goes_on) == times


@pytest.mark.parametrize(
    ("goes_on", "times"),
    [
        ("t5 deletes 1\nt6 begins 1\nt7 leads 1 epoch 0 at 0 hw 0", [5, 6, 7]),
        ("t5 deletes 1\nt6 leads 2 epoch 0 at 0 hw 0\nt7 follows 1 epoch 0 at 0 hw 0", [5, 6, 7]),
        # Moved away and back, for all one knows.
        ("t5 deletes 1\nt7 leads 1 epoch 1 at 0 hw 0", [2, 3, 5, 7]),
    ],
)
def test_a_deletion_ends_a_life_of_which_no_line_tells_an_epoch(goes_on: str, times: list[int]) -> None:
    """The logs begin amid the life before: what it committed is of no log that is here."""
    without_roles = "".join(line for line in LIFE.splitlines(keepends=True) if "epoch" not in line)
    assert kept(without_roles + goes_on) == times


EMPTY = "t8 leads 1 epoch 0 at 0 hw 0"
OF_A_CONTROLLER = "t7 leader 1 epoch 0 isr 1\nt8 leads 2 epoch 2 at 8 hw 4"


@pytest.mark.parametrize(
    "goes_on",
    [
        "t5 leads 2 epoch 1 at 4 hw 4\nt7 leads 2 epoch 0 at 4 hw 4\nt8 acks 2 at 4 acks=all",
        # One broker's log goes on: that another one's is empty, and what controllers say, tells of no new topic.
        "t4 leads 1 epoch 1 at 4 hw 4\nt7 leads 2 epoch 1 at 4 hw 4\nt7 leads 2 epoch 0 at 4 hw 4\n" + EMPTY,
        "t5 leads 2 epoch 4 at 4 hw 4\nt6 leader 2 epoch 4 isr 1\n" + OF_A_CONTROLLER,
        # Nobody tells of a log.
        "t5 leader 2 epoch 1 isr 1,2\nt7 leader 1 epoch 0 isr 1,2",
    ],
)
def test_an_epoch_that_falls_while_the_logs_go_on_begins_no_life(goes_on: str) -> None:
    """ZooKeeper put back to an older state gives epochs again that logs hold already."""
    moments = [read_event(line) for line in (LIFE + goes_on).strip().splitlines()]
    assert of_the_last_life(moments) == moments
    assert roles_fall_back(moments)
