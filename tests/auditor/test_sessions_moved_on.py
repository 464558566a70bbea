"""A session whose lines are missing keeps the epoch it last stated: behind a hole that number proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.timeline import evidence_of
from rules.evidence import Moment
from rules.history.repetitions import collapse
from rules.sketch.statement_lines import read_event
from tests.auditor.dumps_at_hand import copied
from tests.replaced import replace


@pytest.fixture
def holed(tmp_path: Path) -> Path:
    """A recorded incident; of its first leader's request log a third is missing in the middle."""
    dump = copied("unclean_rejoined", tmp_path / "dump", logs=True)
    for log in dump.glob("broker-*/logs/kafka-request.log"):
        lines = log.read_bytes().splitlines(keepends=True)
        third = len(lines) // 3
        log.write_bytes(b"".join(lines[:third] + lines[2 * third :]))
    return dump


def fetches(dump: Path, *, doubtful: bool) -> list[Moment]:
    moments = evidence_of(dump, "pay", 0).moments
    return [m for m in moments if m.kind == "fetched" and m.doubtful is doubtful]


def test_a_fetch_behind_a_hole_names_no_epoch(holed: Path) -> None:
    assert any(moment.epoch is not None for moment in fetches(holed, doubtful=False))
    behind = fetches(holed, doubtful=True)
    assert behind
    assert {moment.epoch for moment in behind} == {None}


def test_a_sure_fetch_and_a_doubtful_one_are_no_repetitions_of_each_other() -> None:
    sure = read_event("t1 fetch 2@5 from 1 hw=5")
    again, stale = read_event("t2 fetch 2@5 from 1 hw=5"), replace(sure, doubtful=True)
    assert [m.count for m in collapse([sure, again])] == [2]
    assert sorted(m.doubtful for m in collapse([sure, stale])) == [False, True]

