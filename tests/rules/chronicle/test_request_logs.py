"""When a log of requests speaks: every time between two that it does not tell of is named, whatever it was cut into."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.provenance import Span
from rules.chronicle.request_logs import LoggedRequests, log_of, request_logs
from rules.history.statements import Fetched
from rules.history.steady import ASKING_MS, QUIET_MS, joined, spoken_in
from rules.history.trace_ends import SpokenStretch, TraceEnd, TraceGap

PLACE = Span(source="log", start=0, end=1)
TIMES = st.integers(0, 20 * QUIET_MS)
LINES = st.lists(TIMES, min_size=1, max_size=12).map(sorted)


def logged(*pieces: list[int], gaps: tuple[TraceGap, ...] = ()) -> LoggedRequests:
    """Broker 1's log, whose lines stand in pieces that were read apart; the first line of all says nothing."""
    begun = min(time for piece in pieces for time in piece)
    ends = [
        TraceEnd(broker=1, source="log", end=at, begun=begun, is_last=piece is pieces[-1], spoken=spoken(piece))
        for at, piece in enumerate(pieces)
    ]
    return log_of(request_logs(ends, gaps), 1)


def spoken(times: list[int]) -> tuple[SpokenStretch, ...]:
    lines = [Fetched(kind="fetched", clock="broker 1", time=time, span=PLACE) for time in times]
    return tuple(SpokenStretch(first=first, last=last) for first, last in joined(spoken_in(lines), QUIET_MS))


@given(lines=LINES, cut=st.integers(0, 12), window=st.tuples(TIMES, TIMES).map(sorted))
def test_what_is_unheard_is_where_two_lines_lie_too_far_apart(lines: list[int], cut: int, window: list[int]) -> None:
    since, until = window
    log = logged(*(piece for piece in (lines[:cut], lines[cut:]) if piece))
    begun = max(since, lines[0])
    points = [begun, *(time for time in lines if begun < time < until), until]
    far = [(a, b) for a, b in pairwise(points) if b - a > QUIET_MS]
    late = [(since, lines[0])] if log.begins_after(since) else []
    unheard = [*log.unheard(since, until)]
    assert [(each.since, each.until) for each in unheard] == [*late, *far]
    assert [each.why == "begins later" for each in unheard] == [True for _ in late] + [False for _ in far]
    assert [each for each in unheard if each.why == "ends" and each.until != until] == []


@pytest.mark.parametrize(("count", "goes_on"), [(2, False), (100_000, True)])
def test_equal_answers_fill_the_time_from_the_first_to_the_last_only_if_there_are_enough(
    count: int, goes_on: bool
) -> None:
    span = 100_000 * ASKING_MS
    run = Fetched(kind="fetched", clock="broker 1", time=0, last_time=span, count=count, span=PLACE)
    assert (joined(spoken_in([run]), QUIET_MS) == [(0, span)]) is goes_on


def test_every_gap_names_what_would_fill_it() -> None:
    hole = TraceGap(broker=1, source="log", start=5, end=9)
    early = TraceGap(broker=1, source="log", start=9, end=9, since=QUIET_MS, told_by=PLACE)
    log = logged([QUIET_MS // 2, QUIET_MS], gaps=(hole, early))
    assert [(each.why, each.silence.words) for each in log.unheard(0, QUIET_MS + 1)] == [
        ("begins later", "broker 1's request log (level DEBUG) of the time when it led: it begins later here"),
        ("a hole", "broker 1's whole request log: some of its lines cannot be read here"),
        ("ends early", "broker 1's request log up to its very end (nothing cut off): its last answers are not here"),
    ]
    absent = [each.silence.words for each in log_of({}, 2).unheard(0, 1)]
    assert absent == ["broker 2's request log (level DEBUG) of the time when it led"]
