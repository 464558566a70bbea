"""Fetch sessions: the split law on recorded and on generated traffic, and what each kind of gap leaves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.request_log import NOTHING, ReadLine, join
from parsers.request_log.sessions import LAST_EPOCH
from parsers.request_log.typed import (
    NULL,
    AnsweredTopic,
    AskedTopic,
    FetchAnswered,
    FetchAsked,
    FetchedPartition,
    FetchHeader,
    FetchLine,
    FetchPartition,
    ForgottenTopic,
)
from parsers.tables import Fetch, SessionGap
from tests.lab.effort import cases, fast_if
from tests.lab.whole_logs import fetch_rows, fold, read_request_log

SAMPLES = Path(__file__).parents[2] / "sample_logs"
LOGS = sorted(SAMPLES.glob("*/dump/*/logs/kafka-request.log"))
LONGEST = ["clean_1_1/dump/broker-1", "clean_2_8/dump/broker-3", "clean_mixed/dump/broker-3", "clean_4x/dump/broker-2"]
ORIGIN = Origin(source="kafka-request.log", broker=1)


def is_small(log: Path) -> bool:
    return log.stat().st_size < 100_000


@cache
def calls_of(log: Path) -> tuple[ReadLine, ...]:
    return read_request_log(log, ORIGIN).fetch_calls


def asked(partition: int, offset: int) -> FetchPartition:
    return FetchPartition(partition, fetchOffset=offset)


def answered(partition: int, watermark: int, error: int = 0) -> FetchedPartition:
    return FetchedPartition(partition, error, -1 if error else watermark)


def call(
    session: int | None,
    epoch: int | None,
    *,
    ask: Sequence[FetchPartition] = (),
    forget: Sequence[int] = (),
    answer: Sequence[FetchedPartition] = (),
    answer_session: int | None = None,
    error: int = 0,
    answer_known: bool = True,
    start: int = 0,
) -> ReadLine:
    session_id, session_epoch = (NULL if number is None else number for number in (session, epoch))
    forgotten = [ForgottenTopic("t", partitions=list(forget))]
    topics = [AnsweredTopic("t", partitions=list(answer))]
    fetch = FetchLine(
        "h:1", *[0.001] * 6,
        requestHeader=FetchHeader(12, "FETCH", 1, "broker-2-fetcher-0"),
        request=FetchAsked(2, 1, session_id, session_epoch, [AskedTopic("t", list(ask))], forgotten),
        response=FetchAnswered(error, session_id if answer_session is None else answer_session, topics)
        if answer_known else None,
    )  # fmt: skip
    return ReadLine(fetch, start, start + 1, b"2026-11-21 05:38:21,717")


def rows(calls: Sequence[ReadLine]) -> list[Fetch]:
    return [row for row in fetch_rows(calls, ORIGIN) if isinstance(row, Fetch)]


def gaps(calls: Sequence[ReadLine]) -> list[SessionGap]:
    return [row for row in fetch_rows(calls, ORIGIN) if isinstance(row, SessionGap)]


OPENED = call(0, 0, ask=[asked(0, 5), asked(1, 9)], answer=[answered(0, 5), answered(1, 9)], answer_session=7)


@pytest.mark.parametrize("name", fast_if(LONGEST[0].__eq__, LONGEST))
def test_cut_at_every_line_border_joins_to_the_whole(name: str) -> None:
    calls = calls_of(SAMPLES / name / "logs" / "kafka-request.log")
    assert len(calls) > 300
    whole = fold(calls)
    before = NOTHING
    for border, one in enumerate(calls):
        before = join(before, fold([one]))
        if border % 50 == 0:
            assert before == fold(calls[: border + 1])
            assert join(before, fold(calls[border + 1 :])) == whole
    assert before == whole


@pytest.mark.parametrize("log", fast_if(is_small, LOGS), ids=lambda log: f"{log.parents[3].name}-{log.parents[1].name}")
def test_recorded_sessions_are_gap_free_and_begin_inside_their_log(log: Path) -> None:
    assert [row for row in fetch_rows(calls_of(log), ORIGIN) if isinstance(row, SessionGap)] == []


@pytest.mark.parametrize("name", fast_if(LONGEST[0].__eq__, LONGEST))
def test_rows_of_a_later_range_need_only_the_state_before_it(name: str) -> None:
    calls = calls_of(SAMPLES / name / "logs" / "kafka-request.log")
    whole = list(fetch_rows(calls, ORIGIN))
    for border in (1, len(calls) // 3, len(calls) - 2):
        state = fold(calls[:border])
        assert [*fetch_rows(calls[:border], ORIGIN), *fetch_rows(calls[border:], ORIGIN, state)] == whole


PARTITIONS = st.integers(0, 3)
CALLS = st.lists(
    st.builds(
        call,
        st.sampled_from([None, 0, 7, 8]),
        st.sampled_from([None, -1, 0, 1, 2, 3, 4, LAST_EPOCH]),
        ask=st.lists(st.builds(asked, PARTITIONS, st.integers(0, 9)), max_size=2),
        forget=st.lists(PARTITIONS, max_size=1),
        answer=st.lists(st.builds(answered, PARTITIONS, st.integers(0, 9), st.sampled_from([0, 0, 3])), max_size=2),
        answer_session=st.sampled_from([None, None, 0, 7, 8]),
        error=st.sampled_from([0, 0, 0, 0, 70, 71, -1]),
        answer_known=st.sampled_from([True, True, True, False]),
    ),
    max_size=12,
)


@given(CALLS, st.data())
@settings(max_examples=cases(150), deadline=None)
def test_any_traffic_cut_anywhere_joins_to_the_whole(calls: list[ReadLine], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(calls)))
    second = data.draw(st.integers(first, len(calls)))
    a, b, c = fold(calls[:first]), fold(calls[first:second]), fold(calls[second:])
    whole = fold(calls)
    assert join(join(a, b), c) == whole
    assert join(a, join(b, c)) == whole
    assert join(NOTHING, whole) == whole == join(whole, NOTHING)
    before = join(a, b)
    resumed = [*fetch_rows(calls[:second], ORIGIN), *fetch_rows(calls[second:], ORIGIN, before)]
    assert resumed == list(fetch_rows(calls, ORIGIN))


def test_unnamed_partitions_keep_position_and_watermark() -> None:
    seen = rows([OPENED, call(7, 1, ask=[asked(0, 6)], answer=[answered(0, 6)])])
    assert [(row.partition, row.fetch_offset, row.high_watermark, row.implied, row.answer_implied) for row in seen] == [
        (0, 5, 5, False, False),
        (1, 9, 9, False, False),
        (0, 6, 6, False, False),
        (1, 9, 9, True, True),
    ]
    assert not any(row.possibly_stale or row.session_start_missing for row in seen)
    assert seen[-1].error_code == 0
    assert seen[-1].last_stable_offset is None


def test_forgotten_partitions_are_fetched_no_more() -> None:
    seen = rows([OPENED, call(7, 1, forget=[1])])
    assert [row.partition for row in seen[2:]] == [0]


def test_an_emptied_session_is_closed_and_its_reuse_starts_unknown() -> None:
    calls = [OPENED, call(7, 1, forget=[0, 1], answer_session=0), call(7, 2)]
    assert len(rows(calls)) == 2
    assert [gap.reason for gap in gaps(calls)] == ["session_start_missing"]


def test_an_error_answer_is_not_carried_on_as_a_watermark() -> None:
    seen = rows([OPENED, call(7, 1, answer=[answered(0, 0, error=74)]), call(7, 2)])
    after = [row for row in seen if row.session_epoch == 2 and row.partition == 0]
    assert [(row.error_code, row.high_watermark) for row in after] == [(0, None)]


@pytest.mark.parametrize("error", [70, 71, 106])
def test_a_refused_request_has_no_effect(error: int) -> None:
    refused = call(7, 1, ask=[asked(0, 8)], error=error, answer_session=0)
    assert len(rows([OPENED, refused])) == 2
    assert [(gap.reason, gap.error_code) for gap in gaps([OPENED, refused])] == [("session_refused", error)]


def test_a_full_fetch_resynchronises_and_closes_the_session_it_names() -> None:
    again = call(7, 0, ask=[asked(2, 3)], answer=[answered(2, 3)], answer_session=8)
    calls = [OPENED, again, call(8, 1)]
    assert [(row.session_epoch, row.partition) for row in rows(calls)[2:]] == [(0, 2), (1, 2)]
    assert gaps(calls) == []


def test_lost_lines_make_what_is_not_restated_doubtful() -> None:
    calls = [OPENED, call(7, 4, ask=[asked(0, 8)], answer=[answered(0, 8)]), call(7, 5)]
    assert [(gap.reason, gap.lost) for gap in gaps(calls)] == [("lines_lost", 3)]
    stale = [(row.partition, row.possibly_stale) for row in rows(calls)[2:]]
    assert stale == [(0, False), (1, True), (0, False), (1, True)]


def test_the_epoch_wraps_to_one() -> None:
    calls = [call(7, LAST_EPOCH, ask=[asked(0, 1)]), call(7, 1)]
    assert [gap.reason for gap in gaps(calls)] == ["session_start_missing"]


def test_a_session_begun_before_the_log_tells_only_named_partitions() -> None:
    calls = [call(7, 30, ask=[asked(0, 8)], answer=[answered(0, 8), answered(1, 4)]), call(7, 31)]
    seen = rows(calls)
    told = [(row.partition, row.fetch_offset, row.high_watermark) for row in seen]
    assert told == [(0, 8, 8), (1, None, 4), (0, 8, 8)]
    assert all(row.session_start_missing for row in seen)
    assert [gap.reason for gap in gaps(calls)] == ["session_start_missing"]


def test_a_line_without_answer_leaves_the_session_in_doubt() -> None:
    calls = [OPENED, call(7, 1, ask=[asked(0, 6)], answer_known=False), call(7, 2)]
    assert [gap.reason for gap in gaps(calls)] == ["answer_missing"]
    assert all(row.possibly_stale for row in rows(calls) if row.session_epoch == 2)


@pytest.mark.parametrize("error", [70, 71])
def test_an_evicted_session_is_unknown_until_a_full_fetch_names_its_partitions_again(error: int) -> None:
    """The broker gives its slot to another follower: it refuses the next request, and the follower opens a new one."""
    evicted = call(7, 2, ask=[asked(0, 6)], answer_session=0, error=error, start=2)
    opened = call(0, 0, ask=[asked(0, 6)], answer=[answered(0, 6)], answer_session=8, start=3)
    waits = call(8, 1, start=4)
    told = rows([OPENED, call(7, 1, start=1), evicted, opened, waits])
    stood = [(row.span_start, row.partition, row.fetch_offset, row.high_watermark, row.implied) for row in told]
    assert stood == [
        (0, 0, 5, 5, False), (0, 1, 9, 9, False), (1, 0, 5, 5, True), (1, 1, 9, 9, True),
        (3, 0, 6, 6, False), (4, 0, 6, 6, True),
    ]  # fmt: skip
    assert [(gap.span_start, gap.reason, gap.error_code) for gap in gaps([OPENED, evicted])] == [
        (2, "session_refused", error)
    ]


def test_an_evicted_session_that_goes_on_all_the_same_tells_only_what_it_names() -> None:
    evicted = call(7, 1, answer_session=0, error=70, start=1)
    again = call(7, 1, ask=[asked(1, 12)], answer=[answered(1, 12)], start=2)
    late = [row for row in rows([OPENED, evicted, again]) if row.span_start == 2]
    assert [(row.partition, row.fetch_offset, row.session_start_missing) for row in late] == [(1, 12, True)]
    assert [gap.reason for gap in gaps([OPENED, evicted, again])] == ["session_refused", "session_start_missing"]
