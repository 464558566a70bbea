"""The table of every recorded reconciliation: the row of the version that ran is what the broker really cut."""

from __future__ import annotations

import pytest

from rules.counterfactual import Counterfactual
from rules.cut_tables import Reconciliation, cut_tables, reconciliations, table_of
from rules.sketch.notation import read_sketch
from tests.lab.sample_histories import SAMPLES, histories

pytestmark = pytest.mark.slow

RECORDED = {
    "unclean_rejoined": ("pay", 1, 150, 100, "truncate-on-fetch"),
    "unclean_4x": ("pay", 1, 150, 100, "truncate-on-fetch"),
    "tiered_unclean": ("tier", 1, 240, 120, "truncate-on-fetch"),
    "acks_one_lost": ("fire", 1, 70, 50, "truncate-on-fetch"),
    "fast_failover_kip279": ("ff", 2, 15, 10, "truncate-on-fetch"),
    "fast_failover_kip101": ("ff", 2, 15, 15, "kip-101"),
    "lost_pages_hw": ("t", 1, 60, 60, "hw-truncation"),
}

REDONE = {
    **dict.fromkeys(RECORDED, 1),
    "clean_mixed": 3,
    "clean_1_1": 80,
    "clean_2_8": 5,
    "clean_4x": 2,
    "epoch_checkpoint_deleted": 1,
    "bit_rot_payload": 0,
    "compaction_race": 0,
    "recreated_topic": 0,
    "migrated": 0,
    "tiered": 0,
    "left_open": 0,
    "never_rejoined": 1,
    "recovery_quorum": 0,
    "thawed_follower": 3,
    "zookeeper_restored": 2,
    **dict.fromkeys(
        ("clients_astray", "controller_restored", "lives_without_ids", "power_cut", "restored_by_hand"), 0
    ),
}
"""Every recording, and how many of its reconciliations can be redone at the least: some tell of none."""


def tables(case: str) -> list[tuple[Reconciliation, Counterfactual]]:
    held = histories(case).values()
    found = [(done, table_of(evidence, done)) for evidence in held for done in reconciliations(evidence)]
    return [(done, table) for done, table in found if table is not None]


def in_force(table: Counterfactual) -> tuple[str, int]:
    (row,) = [outcome for outcome in table.outcomes if outcome.in_force]
    return row.rule, row.cut_to


@pytest.mark.parametrize("case", RECORDED)
def test_the_recorded_cut_is_the_row_of_the_version_that_ran(case: str) -> None:
    _, broker, end, offset, rule = RECORDED[case]
    own = [(done, table) for done, table in tables(case) if done.cut.broker == broker and done.log_end_offset == end]
    assert own
    for done, table in own:
        assert done.cut.offset == offset
        assert in_force(table) == (rule, offset)


@pytest.mark.parametrize("case", REDONE)
def test_every_reconciliation_that_can_be_redone_comes_out_as_it_did(case: str) -> None:
    redone = tables(case)
    assert len(redone) >= REDONE[case]
    for done, table in redone:
        assert in_force(table)[1] == done.cut.offset, (done, table)


def test_no_recording_is_left_out() -> None:
    assert {expected.parent.name for expected in SAMPLES.glob("*/expected.json")} == REDONE.keys()


def test_what_another_generation_would_have_done_stands_beside_it() -> None:
    ((_, table),) = [found for found in tables("fast_failover_kip101") if found[0].cut.broker == 2]
    assert {outcome.rule: outcome.cut_to for outcome in table.outcomes} == {
        "hw-truncation": 15,
        "kip-101": 15,
        "kip-279": 10,
        "truncate-on-fetch": 10,
    }


DRAWING = """
    kafka 2 0.10.2.2
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 loads 2 at 4
    t3 follows 2 epoch 0 at 4 hw 3 from 1
    t4 cuts 2 to 3 by hw
    t5 truncates 2 to 3
"""


def test_a_cut_by_high_watermark_shows_what_epochs_would_have_kept() -> None:
    (table,) = cut_tables(read_sketch(DRAWING).evidence)
    assert (table.follower, table.leader, table.start_offset, table.end_offset) == (2, 1, 3, 4)
    assert in_force(table) == ("hw-truncation", 3)
    assert [outcome.cut_to for outcome in table.outcomes] == [3, 4, 4, 4]


def test_a_cut_that_cut_nothing_stands_in_no_report() -> None:
    assert cut_tables(read_sketch(DRAWING.replace("truncates 2 to 3", "keeps 2 at 4")).evidence) == ()


def test_a_leader_that_has_deleted_since_gives_no_table() -> None:
    assert cut_tables(read_sketch(DRAWING.replace("broker 1 0000|", "broker 1 @9:00|")).evidence) == ()
