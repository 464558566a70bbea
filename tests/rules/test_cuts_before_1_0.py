"""TRUNC001 where no line tells a high watermark, as none does before 1.0: a question, and nothing more."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Undecided, Violation
from rules.sketch.notation import read_sketch

CUT = """
kafka 2 {release}
broker 1 00|11
broker 2 00|11
broker 3 00|11
t1 leader 1 epoch 0 isr 1,2,3 told 1
t1 leader 1 epoch 0 isr 1,2,3 told 2
t2 fetch 2@4 from 1 hw={committed}
t3 leader 3 epoch 1 isr 1,2,3 told 1
t3 leader 3 epoch 1 isr 1,2,3 told 2
t4 truncates 2 to 2
"""


def said(release: str, committed: int) -> list[Violation | Undecided]:
    evidence = read_sketch(CUT.format(release=release, committed=committed)).evidence
    return list(BY_ID["TRUNC001"].check(evidence))


@pytest.mark.parametrize("release", ["0.10.2.2", "0.11.0.3"])
def test_a_cut_below_what_others_had_committed_is_a_question(release: str) -> None:
    (asked,) = said(release, 4)
    assert isinstance(asked, Undecided)
    assert (asked.brokers, asked.start_offset, asked.end_offset) == ((2,), 2, 4)
    assert "replication-offset-checkpoint" in asked.missing
    assert not asked.blocking


def test_a_cut_of_what_nobody_had_committed_is_none() -> None:
    assert said("0.10.2.2", 2) == []


def test_since_1_0_brokers_tell_it_where_they_know_it() -> None:
    assert said("1.1.1", 4) == []
