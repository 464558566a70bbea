"""Less evidence may open a verdict; it accuses nobody whom the whole does not accuse."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from rules.narrow.assemble import Fact
from tests.ablations.bench import Bench, broken
from tests.ablations.leave_out import Ablation, draw
from tests.lab.effort import fast_if

TRIED = {
    "acks_one_lost": 20, "bit_rot_payload": 20, "clean_mixed": 6, "compaction_race": 10, "epoch_checkpoint_deleted": 20,
    "fast_failover_kip101": 20, "fast_failover_kip279": 20, "lost_pages_hw": 20, "recreated_topic": 20,
    "unclean_4x": 20, "unclean_rejoined": 20,
}  # fmt: skip
FAST = ("fast_failover_kip101", "lost_pages_hw", "acks_one_lost")


@pytest.mark.parametrize("name", fast_if(FAST.__contains__, TRIED))
def test_less_evidence_accuses_no_more(name: str, tmp_path: Path) -> None:
    known: dict[object, Sequence[Fact]] = {}
    bench, rng = Bench(name, tmp_path, known), random.Random(name)
    for _ in range(TRIED[name]):
        ablation = draw(bench.files, rng)
        report = bench.judged(ablation)
        wrong = [] if report is None else [*broken(bench, report)]
        assert not wrong, f"{ablation.name}: {wrong}"


@pytest.mark.slow
def test_a_restart_that_nobody_tells_of_leaves_it_open_who_was_in_sync(tmp_path: Path) -> None:
    """Only broker 2's server.log tells that it restarted before its next role: it may have asked for more."""
    bench = Bench("fast_failover_kip279", tmp_path, {})
    report = bench.judged(Ablation("no restart", frozenset({"broker-2/logs/server.log"})))
    assert report is not None
    assert [*broken(bench, report)] == []
