"""What a client had deleted, by the disk of whoever led then, where no line of its log is here."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Violation
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

CUT = """
broker 1 {leader}
broker 2 0000011|
broker 3 0000011|
t1 leader 1 epoch 0 isr 1,3
t1 follows 3 epoch 0 at 0 hw 0 from 1
t2 leads 2 epoch 1 at 5 hw 5
t3 follows 3 epoch 1 at 10 hw 10 from 2
t3 truncates 3 to 5
"""


@pytest.mark.parametrize(
    ("leader", "gone"),
    [
        ("00000000<00|", [(8, 10)]),
        ("0000000000|", [(5, 10)]),
        # It has followed on, so its log may begin where a later leader's does.
        ("00000000<0011|", [(5, 10)]),
    ],
    ids=["deleted before", "nothing deleted", "deleted since"],
)
def test_what_the_leaders_disk_shows_deleted_was_not_there_to_be_cut(leader: str, gone: list[tuple[int, int]]) -> None:
    drawn = read_sketch(CUT.format(leader=leader)).evidence
    for rule in ("TRUNC001", "LEAD001"):
        found = [one for one in BY_ID[rule].check(drawn) if isinstance(one, Violation)]
        assert [(one.start_offset, one.end_offset) for one in found] == gone, rule
    assert [(loss.start_offset, loss.end_offset) for loss in losses(drawn) if loss.epoch == 0] == gone
