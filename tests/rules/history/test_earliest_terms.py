"""The oldest epoch of which a statement can be: what later leaders may have given up since is no member's lack."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Violation
from rules.sketch.notation import read_sketch

HISTORY = """
    broker 1 000011|
    broker 2 000011|
    t3 leader 2 epoch 1 isr 2
    t3 leads 2 epoch 1 at 4 hw 4
    {earlier}
    t5 leader 2 epoch 2 isr 2,1
    t5 leads 2 epoch 2 at {opened} hw 4
    t6 follows 1 epoch 2 at 8 hw 8 from 2
"""
TOLD = "t4 follows 1 epoch 1 at 4 hw 4 from 2"


@pytest.mark.parametrize(
    ("earlier", "opened", "lacking"),
    [
        ("", 8, []),  # of which epoch the high watermark was is not told: epoch 1 may have given up what it tells of
        ("", 4, []),
        (TOLD, 4, []),  # epoch 2 gave it up
        (TOLD, 8, [((1,), 6, 8), ((2,), 6, 8)]),
    ],
)
def test_a_high_watermark_of_no_certain_epoch_accuses_no_member(
    earlier: str, opened: int, lacking: list[tuple[tuple[int, ...], int, int]]
) -> None:
    evidence = read_sketch(HISTORY.format(earlier=earlier, opened=opened)).evidence
    said = [one for one in BY_ID["ISR001"].check(evidence) if isinstance(one, Violation)]
    assert [(one.brokers, one.start_offset, one.end_offset) for one in said] == lacking


def test_a_statement_is_no_older_than_the_epoch_that_it_names_or_its_writers_role() -> None:
    drawn = HISTORY.format(earlier=TOLD + "\n    t4 fetch 1@4 from 2 hw=4 epoch 1", opened=8)
    past = read_sketch(drawn).evidence.chronicle
    told = {(m.kind, m.epoch, m.clock): past.earliest_term(m) for m in past.moments if m.high_watermark is not None}
    assert told["follower-starts", 1, "broker 1"] == 0
    assert told["follower-starts", 2, "broker 1"] == told["fetched", 1, "broker 2"] == 1
