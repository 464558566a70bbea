"""What a client had deleted, by the disk of whoever led then, where no line of its log is here."""

from __future__ import annotations

import pytest

from rules.advice.weigh import advise
from rules.catalog import BY_ID
from rules.evidence.absent_segments import with_absent_segments
from rules.finding import Violation
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences

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
        ("@8:00| ; epochs 0@8", [(8, 10)]),
        # Its first file was only removed: the leader-epoch-checkpoint has the log begin before.
        ("@8:00| ; epochs 0@0", [(5, 10)]),
        ("@8:00| ; epochs 0@6", [(6, 10)]),
        # It has followed on, so its log may begin where a later leader's does.
        ("00000000<0011|", [(5, 10)]),
    ],
    ids=["deleted before", "nothing deleted", "file deleted", "file removed", "file of two removed", "deleted since"],
)
def test_what_the_leaders_disk_shows_deleted_was_not_there_to_be_cut(leader: str, gone: list[tuple[int, int]]) -> None:
    drawn = with_absent_segments(read_sketch(CUT.format(leader=leader)).evidence)
    for rule in ("TRUNC001", "LEAD001"):
        found = [one for one in BY_ID[rule].check(drawn) if isinstance(one, Violation)]
        assert [(one.start_offset, one.end_offset) for one in found] == gone, rule
    assert [(loss.start_offset, loss.end_offset) for loss in losses(drawn) if loss.epoch == 0] == gone


FOLLOWED = """
broker 2 0000011|
broker 3 0000011|
t1 leader 1 epoch 0 isr 1,3 told 3
t1 follows 3 epoch 0 at 0 hw 0 from 1
{moved}
t2 leads 2 epoch 1 at 5 hw 5
t3 follows 3 epoch 1 at 10 hw 10 from 2
t3 truncates 3 to 5
"""


@pytest.mark.parametrize(
    ("moved", "lacked", "cut"),
    [
        ("t2 starts 3 at 7 by leader\nt2 starts 3 at 8 by leader", (8, 10), (8, 10)),
        ("", (5, 10), (5, 10)),
        # Its own retention tells nothing of what the leader still had.
        ("t2 starts 3 at 8", (5, 10), (8, 10)),
    ],
    ids=["deleted by the leader", "nothing deleted", "deleted by retention on the follower"],
)
def test_what_a_follower_tells_of_its_leaders_log_start_was_not_lost(
    moved: str, lacked: tuple[int, int], cut: tuple[int, int]
) -> None:
    drawn = read_sketch(FOLLOWED.format(moved=moved)).evidence
    for rule, expected in (("LEAD001", lacked), ("TRUNC001", cut)):
        found = [one for one in BY_ID[rule].check(drawn) if isinstance(one, Violation)]
        assert [(one.start_offset, one.end_offset) for one in found] == [expected], rule


STALE = """
broker 1 000000000000| ; unclean
broker 2* 000011|
t1 leads 1 epoch 0 at 0 hw 0
{moved}
t3 leads 2 epoch 1 at 4 hw 4
"""


@pytest.mark.parametrize(
    ("moved", "differs", "removed"),
    [
        ("", [(4, 6)], [(4, 12)]),
        ("t2 starts 1 at 5", [(5, 6)], [(5, 12)]),
        ("t2 starts 1 at 10", [], [(10, 12)]),
        ("t2 starts 1 at 12", [], []),
        # A leader that never had them deletes none of them, unless it deletes what stands in their place.
        ("t4 starts 2 at 5", [(5, 6)], [(4, 12)]),
    ],
)
def test_what_had_been_deleted_and_stands_in_files_again_is_missed_by_nobody(
    moved: str, differs: list[tuple[int, int]], removed: list[tuple[int, int]]
) -> None:
    """Its broker crashed before the log start was on its disk."""
    drawn = with_differences(read_sketch(STALE.format(moved=moved)).evidence)
    for rule, expected in (("LOG001", differs), ("TRUNC004", removed)):
        found = [one for one in BY_ID[rule].check(drawn) if isinstance(one, Violation)]
        assert [(one.start_offset, one.end_offset) for one in found] == expected, rule
        assert all(one.facts.get("cut_to", 4) == 4 for one in found)
    (advice,) = advise(drawn, losses(drawn))
    doomed = [(one.stretch.start_offset, one.stretch.end_offset) for one in advice.doomed if one.broker == 1]
    assert doomed == removed
