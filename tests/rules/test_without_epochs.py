"""Logs whose records carry no epochs, under epoch files of brokers that wrote down their own leads alone."""

from __future__ import annotations

from rules.advice.cuts import owed_cuts
from rules.catalog import BY_ID
from rules.finding import Undecided, Violation
from rules.sketch.notation import read_sketch

LED_IN_TURN = """
broker 1* ------| ; epochs 4@2 5@4
broker 2  ------| ; epochs 0@0 6@5
kafka 1 2.0.1 ibp {spoken}
kafka 2 2.0.1 ibp {spoken}
"""


def test_epoch_files_that_differ_part_no_logs_without_epochs() -> None:
    evidence = read_sketch(LED_IN_TURN.format(spoken="0.10.2")).evidence
    assert {cut.then for cut in owed_cuts(evidence.current, evidence).values()} == {"agrees"}


def test_who_asks_no_leader_owes_no_cut_by_epochs() -> None:
    old = read_sketch(LED_IN_TURN.format(spoken="0.10.2")).evidence
    (found,) = BY_ID["TRUNC004"].check(old)
    assert isinstance(found, Undecided)
    assert "truncate to its high watermark 6" in found.reason
    asking = read_sketch(LED_IN_TURN.format(spoken="2.0")).evidence
    assert [type(each) for each in BY_ID["TRUNC004"].check(asking)] == [Violation]
