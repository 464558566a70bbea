"""The last stable offset: what its definition says of a log, and what recorded leaders told."""

from __future__ import annotations

import random

import pytest

from rules.chronicle.chronicle import Chronicle
from rules.evidence import METADATA_TOPIC
from rules.history.statements import Fetched
from rules.protocol.watermarks import expected_interval
from rules.replay.leading.bounds import at_least, at_most
from rules.replay.stable import StableLog
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, histories
from tests.replaced import replace
from tests.rules.header_logs import folded, lay_out
from tests.rules.recast import untold

CASES = sorted(path.parent.name for path in SAMPLES.glob("*/truth.json") if path.parent.name != "dump_log_text")


def batch(producer: int | None, *, marker: bool) -> dict[str, object]:
    return {
        "jump": 0, "delta": 0, "leader_epoch": 0, "magic": 2, "compressed": False, "size": 70, "crc": 1,
        "crc_valid": None, "attributes": 0 if producer is None else 0x30 if marker else 0x10, "record_count": 1,
        "max_timestamp": 1, "producer_id": -1 if producer is None else producer, "producer_epoch": 0,
        "base_sequence": -1, "new_file": False,
    }  # fmt: skip


def by_definition(log: list[tuple[int | None, bool]], high_watermark: int) -> int:
    """Replays the log record by record: a transaction is decided once its marker is below the high watermark."""
    undecided: dict[int, int] = {}
    for offset, (producer, marker) in enumerate(log[:high_watermark]):
        if producer is not None and marker:
            undecided.pop(producer, None)
        elif producer is not None:
            undecided.setdefault(producer, offset)
    return min((high_watermark, *undecided.values()))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_the_definition_says_at_every_high_watermark(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a choice of cases
    log = [(draw.choice([None, 1, 1, 2, 3]), draw.random() < 0.35) for _ in range(24)]
    told = folded(lay_out([batch(producer, marker=marker) for producer, marker in log])).transactions
    stable = StableLog(transactions=told, log_start_offset=0, shared_until=len(log))
    for high_watermark in range(len(log) + 1):
        exact = (at_least(high_watermark, ""), at_most(high_watermark, ""))
        found = stable.at(expected_interval(exact)).interval
        assert found.low == found.high == by_definition(log, high_watermark)


def test_a_log_that_began_earlier_or_went_another_way_leaves_it_open() -> None:
    log = [(1, False), (1, True), (2, False), (2, True)]
    told = folded(lay_out([batch(producer, marker=marker) for producer, marker in log])).transactions
    exact = expected_interval((at_least(3, ""), at_most(3, "")))
    whole = StableLog(transactions=told, log_start_offset=0, shared_until=4)
    assert (whole.at(exact).interval.low, whole.at(exact).interval.high) == (2, 2)
    deleted = replace(whole, log_start_offset=2)
    assert (deleted.at(exact).interval.low, deleted.at(exact).interval.high) == (0, 2)
    parted = replace(whole, shared_until=2)
    assert (parted.at(exact).interval.low, parted.at(exact).interval.high) == (2, 3)


@pytest.mark.parametrize("case", fast_if(("lost_pages_hw", "unclean_4x").__contains__, CASES))
def test_every_recorded_last_stable_offset_lies_in_its_interval(case: str) -> None:
    answers = [
        (evidence, course, row)
        for evidence in histories(case).values()
        if evidence.topic != METADATA_TOPIC
        for course in evidence.replayed.courses
        for row in course.rows
        if isinstance(row.moment, Fetched) and row.moment.last_stable_offset is not None
        if not row.moment.doubtful and not row.last
    ]
    for evidence, course, row in answers:
        assert evidence.stable.at(course, row.answer).interval.contains(row.moment.last_stable_offset), row.moment


@pytest.mark.slow
def test_open_transactions_hold_it_back_and_no_told_one_goes_into_it() -> None:
    evidence = histories("clean_mixed")["orders", 0]
    blank = replace(evidence, chronicle=Chronicle(tuple(untold(m, "last_stable_offset") for m in evidence.moments)))
    behind = 0
    for course, unseen in zip(evidence.replayed.courses, blank.replayed.courses, strict=True):
        for row, other in zip(course.rows, unseen.rows, strict=True):
            found = evidence.stable.at(course, row.answer)
            assert found == blank.stable.at(unseen, other.answer)
            behind += found.high != row.answer.high
    assert behind > 0
