"""What each protocol would have done with a pair: with all of the follower's log that the leader's does not hold."""

from __future__ import annotations

from rules.judging.judge import judge
from rules.sketch.notation import read_sketch

LONGER = """
broker 1  00001111|111
broker 2* 00002|2
"""
SHORTER = """
broker 1  0000111|
broker 2* 00002222|22
"""


def lost(sketch: str) -> list[tuple[int, int, int, int]]:
    tables = judge(read_sketch(sketch).evidence, ()).counterfactuals
    rows = [(table, row) for table in tables for row in table.outcomes if row.rule == "truncate-on-fetch"]
    return [(table.start_offset, table.end_offset, row.lost_start, row.lost_end) for table, row in rows]


def test_what_lies_behind_the_leaders_end_is_lost_too() -> None:
    assert lost(LONGER) == [(4, 11, 4, 11)]


def test_a_follower_that_ends_first_loses_up_to_its_own_end() -> None:
    assert lost(SHORTER) == [(4, 7, 4, 7)]


def test_logs_that_part_within_one_epoch_part_whatever_any_protocol_asks() -> None:
    tables = judge(read_sketch("broker 1 001a1a|\nbroker 2 001b1b|\n").evidence, ()).counterfactuals
    assert tables
    assert {table.parts_at(outcome) for table in tables for outcome in table.outcomes} == {2}
