"""High watermarks learnt in one of several epochs: what they prove of the openings behind all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rules.catalog import RULES
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.auditor.dumps_at_hand import audited, copied

LED = """
broker 2 {log}
broker 3 {log}
t1 leads 3 epoch 0 at 0 hw 0
t3 {between}
{opening}
t7 loads 3 at 6
t8 follows 3 epoch 2 at 6 hw 6 from 2
t9 {answer}
t10 truncates 3 to 4
"""
OPENS = "t6 leads 2 epoch 2 at 4 hw 4"
NOBODY = "leader -1 epoch 1 isr 3"
OLDER, OWN = "answers 3 with 0:4", "answers 3 with 2:4"


LOG = "0000222|"


def said(
    between: str = NOBODY, opening: str = OPENS, answer: str = OLDER, log: str = LOG
) -> list[tuple[str, int | None, int | None]]:
    """What LEAD001 says: a finding or a question, and its offsets."""
    drawing = LED.format(between=between, opening=opening, answer=answer, log=log)
    found = judge(read_sketch(drawing).evidence, RULES).findings
    return [(each.verdict, each.start_offset, each.end_offset) for each in found if each.rule == "LEAD001"]


def test_learnt_in_whichever_earlier_epoch_they_were_committed_before_the_opening() -> None:
    assert said() == [("violated", 4, 6)]


def test_an_opening_in_between_may_have_lost_them_already() -> None:
    """Broker 3 learnt them in epoch 0, or it followed in epoch 1 and learnt them then."""
    asked = [("undecided", 3, 6)]
    assert said("leads 2 epoch 1 at 3 hw 3", answer="answers 3 with 1:4", log="0001222|") == asked


def test_who_is_answered_of_an_older_epoch_held_nothing_of_its_leaders_own() -> None:
    """Broker 2's log of roles is not here, and broker 3 may have followed in epoch 2 before it was started again."""
    assert said(opening="") == [("violated", 4, 6)]
    assert said(opening="", answer=OWN) == [("undecided", 4, 6)]


@pytest.mark.parametrize("away", [(), (2,)], ids=["all brokers", "without the new leader"])
def test_a_leader_that_came_back_is_told_with_what_it_left_out(tmp_path: Path, away: tuple[int, ...]) -> None:
    """A real cluster: broker 3 had 50 records alone, and its high watermark when it was started again."""
    dump = copied("never_rejoined", tmp_path / "dump", logs=True)
    for broker in away:
        shutil.rmtree(dump / f"broker-{broker}")
    report = audited(dump, topic="seen")
    found = [f for f in report.violations if f.rule == "LEAD001"]
    assert [(f.brokers, f.start_offset, f.end_offset, f.confidence) for f in found] == [((2,), 100, 150, "certain")]
    assert [point.reason for point in report.coverage.undecided if point.rule == "LEAD001"] == []
