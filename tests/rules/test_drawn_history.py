"""What a picture over time is drawn from says no more than the timeline does, and stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.timeline import evidence_of
from rules.timeline.drawn import POINTS_KEPT, drawn_history
from rules.timeline.picture_values import DrawnPoint
from rules.timeline.rows import Cell, timeline_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
CASES = (("fast_failover_kip101", "ff"), ("unclean_4x", "pay"), ("lost_pages_hw", "t"), ("unclean_rejoined", "pay"))


def state(cell: Cell) -> tuple[int | None, ...]:
    end, watermark = cell.log_end.interval, cell.high_watermark.interval
    told = cell.told_log_end, cell.told_high_watermark, cell.outside
    return end.low, end.high, watermark.low, watermark.high, *told


def drawn_state(point: DrawnPoint) -> tuple[int | None, ...]:
    bounds = point.end_low, point.end_high, point.watermark_low, point.watermark_high
    return *bounds, point.told_end, point.told_watermark, point.outside


@pytest.mark.parametrize(("case", "topic"), CASES)
def test_every_drawn_state_is_one_of_the_timeline_in_its_order(case: str, topic: str) -> None:
    evidence = evidence_of(SAMPLES / case / "dump", topic, 0)
    told, history = timeline_of(evidence), drawn_history(evidence)
    assert history is not None
    assert history.statements == sum(row.time is not None for row in told.rows)
    for replica in history.replicas:
        rows = [state(cell) for row in told.rows for cell in row.cells if cell.broker == replica.broker]
        place = 0
        for point in replica.points:
            place = rows.index(drawn_state(point), place)
        # Nothing that changed is left out where there is room for all of it.
        assert replica.points_told == len(replica.points)
        assert drawn_state(replica.points[-1])[:4] == rows[-1][:4]
        times = [point.time for point in replica.points]
        assert times == sorted(times)


def test_reigns_are_those_that_brokers_tell_of() -> None:
    history = drawn_history(evidence_of(SAMPLES / "unclean_4x" / "dump", "pay", 0))
    assert history is not None
    assert [(r.broker, r.epoch, r.start_offset, r.own) for r in history.reigns] == [
        (1, 0, 0, True),
        (2, 1, 100, True),
        (3, 2, 130, True),
    ]
    assert [(e.kind, e.broker, e.offset) for e in history.events if e.kind == "cut"] == [("cut", 1, 100)]
    first, second, last = history.reigns
    assert first.until is not None
    assert first.until > second.since, "the deposed leader learns of it later"
    assert last.until is not None, "the controller left the partition without a leader"


@pytest.mark.parametrize("kept", [2, 5, 20])
def test_thinning_keeps_the_last_state_and_says_how_many_there_were(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = evidence_of(SAMPLES / "unclean_4x" / "dump", "pay", 0)
    whole = drawn_history(evidence)
    monkeypatch.setattr("rules.timeline.drawn.POINTS_KEPT", kept)
    thinned = drawn_history(evidence)
    assert whole is not None
    assert thinned is not None
    for every, few in zip(whole.replicas, thinned.replicas, strict=True):
        assert len(few.points) == min(kept, len(every.points)) < POINTS_KEPT
        assert few.points_told == len(every.points)
        assert few.points[-1] == every.points[-1]
        assert set(few.points) <= set(every.points)
