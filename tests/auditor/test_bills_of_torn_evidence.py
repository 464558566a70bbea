"""The bill of a recorded loss with files gone: never more than truly went, each record once, no copy that is none."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.ablations.bench import Bench
from tests.ablations.leave_out import Ablation, together_as_one
from tests.auditor.dumps_at_hand import copied, told, told_of

pytestmark = pytest.mark.slow

CASES = ("unclean_rejoined", "fast_failover_kip279", "fast_failover_kip101", "acks_one_lost")
TORN = (
    "broker-*/data",
    "broker-1/data",
    "broker-2/data",
    "*/logs/state-change.log",
    "*/logs/server.log",
    "*/logs/kafka-request.log",
    "broker-1/logs/*",
    "broker-2/logs/*",
)


def losses(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [loss for history in report["histories"] for loss in history["losses"]]


def billed(report: dict[str, Any]) -> Counter[int]:
    """How often each offset is billed to somebody who had been told that it was written."""
    own = (loss for loss in losses(report) if not (loss["restored"] or loss["perhapsHeldBy"]))
    told_of = (each for each in own if max(each["committed"][1], each["acknowledged"][1]) > each["startOffset"])
    return Counter(offset for loss in told_of for offset in range(loss["startOffset"], loss["endOffset"]))


def standing(report: dict[str, Any]) -> set[tuple[int, int, int]]:
    """The copies that are named: broker, epoch and offset."""
    return {
        (copy["broker"], loss["epoch"], offset)
        for loss in losses(report)
        for copy in loss["survivors"]
        for offset in range(copy["startOffset"], copy["endOffset"])
    }


@cache
def whole(case: str) -> dict[str, Any]:
    return told_of(case)


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("case", CASES)
def test_no_more_is_billed_than_went(case: str, torn: str, tmp_path: Path) -> None:
    dump = copied(case, tmp_path / "dump", logs=True)
    for path in sorted(dump.glob(torn)):
        path.rename(tmp_path / f"gone-{path.parent.name}-{path.name}-{path.parent.parent.name}")
    report = told(dump)
    assert billed(report) <= billed(whole(case))
    assert standing(report) <= standing(whole(case))


@pytest.mark.parametrize("case", CASES)
def test_where_nothing_is_gone_every_record_is_billed_once(case: str) -> None:
    assert max(billed(whole(case)).values()) == 1


@pytest.mark.parametrize("kept", [0, 688])
def test_what_was_cut_of_an_unknown_epoch_is_named_as_in_no_bill(kept: int, tmp_path: Path) -> None:
    """Without any role of its broker, and with those alone that it took before it was started again."""
    dump = copied("fast_failover_kip279", tmp_path / "dump", logs=True)
    log = dump / "broker-2" / "logs" / "state-change.log"
    log.write_bytes(log.read_bytes()[:kept])
    report = told(dump)
    assert "TRUNC001" in {finding["rule"] for finding in report["findings"] if finding["verdict"] == "violated"}
    assert losses(report) == []
    (asked,) = (each for each in report["coverage"]["undecided"] if each["rule"] == "the bill")
    assert asked["reason"] == "broker 2 cut committed records 10–14. Their leader epoch is not known"
    assert "state-change.log of broker 2" in asked["missing"]


def test_a_cut_of_records_that_were_perhaps_sent_again_is_told_without_a_bill(tmp_path: Path) -> None:
    """Broker 1, which wrote there before, and broker 2's later roles are not here: what was cut may stand again."""
    bench = Bench("fast_failover_kip279", tmp_path, {})
    gone = Ablation("no broker 1", frozenset(source for source in bench.files if source.startswith("broker-1/")))
    roles = "broker-2/logs/state-change.log"
    torn = Ablation("no later roles", cuts=((roles, ((0, int(bench.files[roles] * 0.6)),)),))
    report = bench.judged(together_as_one([gone, torn]))
    assert report is not None
    assert "TRUNC001" in {finding.rule for finding in report.violations}
    (placed,) = report.histories
    assert placed.losses == ()
    assert [(gone.start_offset, gone.end_offset) for gone in placed.unbilled] == [(10, 15)]
    assert "the bill" in {line.rule for line in report.coverage.undecided}
