"""A thinned request log: nothing remarkable is lost, and what is left out lies between what is kept."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import NONE_HERE
from rules.evidence import lags
from rules.history.moments import Moment
from rules.history.repetitions import collapse, times_told
from rules.history.statements import statement
from rules.narrow.landmarks import FETCH_COLUMNS, NONE, PRODUCE_COLUMNS, TEXTS, landmarks
from rules.narrow.rejoined import rejoined
from rules.replay import Replay, replay
from rules.replicas.batch_ends import boundaries, next_boundary
from tests.lab.effort import cases
from tests.replaced import replace
from tests.rules.replay_model import BROKERS, history

SEEDS = st.integers(0, 1 << 32)
CELL_MS = 30
"""A cell of clocks that go on by a millisecond or three an answer."""
EVERY = frozenset(BROKERS)
STEPS = ["append", "ask", "ask", "answer", "answer", "answer"]
RARE = ["commit", "shrink", "elect"]
FETCH_FIELDS = {
    "topic_id": "topic_id", "replica": "broker", "client_id": "client_id", "session": "session", "time": "time",
    "last_time": "last_time", "times": "count", "fetch_offset": "offset", "last_fetched_epoch": "asked_epoch",
    "current_leader_epoch": "epoch", "error_code": "error", "high_watermark": "high_watermark",
    "leader_log_start_offset": "log_start_offset", "diverging_epoch": "answered_epoch", "possibly_stale": "doubtful",
}  # fmt: skip
PRODUCE_FIELDS = {
    "client_id": "client_id", "time": "time", "times": "count", "acks": "acks", "error_code": "error",
    "base_offset": "offset",
}  # fmt: skip


def frame(moments: Sequence[Moment], fields: dict[str, str], columns: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """The statements in the columns of a request log."""

    def value(moment: Moment, column: str) -> object:
        told = getattr(moment, fields[column]) if column in fields else 0 if column == "partition" else None
        if column == "replica" and told is None:
            return -1
        return ("" if column in TEXTS else NONE) if told is None else int(told) if column not in TEXTS else told

    return pl.DataFrame({name: [value(m, name) for m in moments] for name in columns}, schema=columns)


def thinned(moments: Sequence[Moment]) -> list[Moment]:
    """The statements with those of the leaders' request logs thinned."""
    return [*rejoined(stretch(moments), EVERY, CELL_MS)]


def stretch(moments: Sequence[Moment]) -> list[Moment]:
    """What a stretch of each log keeps, whatever stands beside it."""
    kept = [m for m in moments if m.kind not in ("fetched", "consumed", "produced")]
    for clock in sorted({m.clock for m in moments}):
        fetches = [m for m in moments if m.clock == clock and m.kind in ("fetched", "consumed")]
        produces = [m for m in moments if m.clock == clock and m.kind == "produced"]
        frames = frame(fetches, FETCH_FIELDS, FETCH_COLUMNS), frame(produces, PRODUCE_FIELDS, PRODUCE_COLUMNS)
        of_fetches, of_produces = landmarks(*frames, CELL_MS)
        # Columns are taken at these places one after the other.
        assert of_fetches["place"].is_sorted()
        assert of_produces["place"].is_sorted()
        kept.extend(replace(fetches[place], left_out=out) for place, out in of_fetches.iter_rows())
        kept.extend(replace(produces[place], left_out=out) for place, out in of_produces.iter_rows())
    return sorted(kept, key=lambda m: m.span.start)


def played(seed: int, steps: int = 300) -> tuple[Moment, ...]:
    """A busy partition whose leader changes now and then."""
    chosen = Random(seed)  # noqa: S311 - reproducible play
    actions = []
    for _ in range(steps):
        action = chosen.choice(RARE) if chosen.random() < 0.02 else chosen.choice(STEPS)
        actions.append((action, chosen.choice(BROKERS), chosen.randint(1, 5)))
    return history(actions)[1]


def replayed(moments: Sequence[Moment]) -> Replay:
    return replay(tuple(moments), (), dict.fromkeys(BROKERS, "3.9.1"))


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=cases(60), deadline=None)
def test_intervals_only_widen_and_lags_only_shrink(seed: int) -> None:
    moments = played(seed)
    few = thinned(moments)
    assert len(few) < len(moments)
    whole, part = replayed(moments), replayed(few)
    expected = {told.moment.span: told.expected.interval for told in whole.told_watermarks}
    for told in part.told_watermarks:
        exact, wide = expected[told.moment.span], told.expected.interval
        assert wide.low is None or (exact.low is not None and wide.low <= exact.low), told
        assert wide.high is None or (exact.high is not None and wide.high >= exact.high), told
    for course, other in zip(whole.courses, part.courses, strict=True):
        assert (course.lead.leader, course.lead.epochs) == (other.lead.leader, other.lead.epochs)
        late = {(row.moment.span, lag.broker): lag.milliseconds for row, found in lags(course) for lag in found}
        for row, found in lags(other):
            for lag in found:
                assert lag.milliseconds <= late.get((row.moment.span, lag.broker), 0)


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=cases(60), deadline=None)
def test_a_batch_ends_where_the_whole_log_says_that_it_does(seed: int) -> None:
    moments = played(seed)
    few = thinned(moments)
    known, kept = (boundaries(Chronicle(m), (), NONE_HERE).bounding for m in (moments, few))
    for m in few:
        if m.kind == "produced" and m.term is not None and m.offset is not None:
            exact, told = next_boundary(m.offset, known[m.term]), next_boundary(m.offset, kept[m.term])
            assert m.offset < told <= exact


def answered(seed: int, size: int = 400) -> list[Moment]:
    """Answers of one leader to two followers, two consumers and two producers, with whatever may befall them."""
    chosen = Random(seed)  # noqa: S311 - reproducible play
    first = played(0, 40)[-1]
    offsets, epoch, start, time, made = dict.fromkeys(("a", "b", "2", "3", "x", "y"), 100), 3, 0, 1000, []
    for place in range(size):
        who = chosen.choice(list(offsets))
        odd = chosen.random() < 0.05
        time += chosen.choice((-5000, 3, 40_000)) if odd else 3
        epoch, start = epoch + (odd and chosen.random() < 0.3), start + (odd and chosen.random() < 0.3)
        offsets[who] = max(0, offsets[who] + (chosen.randint(-50, 0) if odd else chosen.randint(0, 3)))
        told = {
            "kind": "fetched" if who in "23" else "consumed" if who in "ab" else "produced",
            "broker": int(who) if who in "23" else None, "client_id": None if who in "23" else who,
            "time": time, "last_time": None, "epoch": epoch, "log_start_offset": start, "offset": offsets[who],
            "error": chosen.choice((0, 6)) if odd else 0, "acks": -1 if who in "xy" else None,
            "high_watermark": offsets[who], "doubtful": odd and chosen.random() < 0.2, "answered_epoch": None,
            "asked_epoch": None, "left_out": 0, "count": 1, "end_offset": None, "clock": "broker 1", "witness": 1,
            "span": replace(first.span, start=place, end=place + 1),
        }  # fmt: skip
        made.append(statement(**{"leader": first.leader, "term": first.term, **told}))
    return made


def asker(moment: Moment) -> tuple[object, ...]:
    return moment.kind, moment.broker, getattr(moment, "client_id", None), getattr(moment, "session", None)


ALIKE = ("epoch", "error", "log_start_offset", "doubtful", "topic_id", "asked_epoch", "answered_epoch")


@given(SEEDS, st.integers(0, 400))
@settings(max_examples=cases(100), deadline=None)
def test_what_is_left_out_lies_between_wherever_the_log_is_cut(seed: int, cut: int) -> None:
    moments = answered(seed)
    kept = [*stretch(moments[:cut]), *stretch(moments[cut:])]
    assert [*rejoined(kept, EVERY, CELL_MS)] == [*rejoined(moments, EVERY, CELL_MS)]
    assert sum(m.count + m.left_out for m in kept) == len(moments)
    places = {m.span.start for m in kept}
    for who in {asker(m) for m in moments}:
        own, before = [m for m in moments if asker(m) == who], None
        assert {own[0].span.start, own[-1].span.start} <= places
        for index, moment in enumerate(own):
            if moment.span.start in places:
                before = moment
                continue
            after = next(m for m in own[index:] if m.span.start in places)
            assert before is not None
            compared = ("error",) if moment.kind == "produced" else ALIKE
            assert all(getattr(moment, name) == getattr(before, name) for name in compared)
            if moment.kind == "fetched":
                assert (before.offset or 0) <= (moment.offset or 0) <= (after.offset or 0)
                assert (before.time or 0) <= (moment.time or 0) <= (after.time or 0) < (before.time or 0) + 30_000


@given(SEEDS, st.lists(st.integers(0, 300), max_size=5), st.booleans())
@settings(max_examples=cases(100), deadline=None)
def test_a_log_keeps_the_same_wherever_it_is_cut(seed: int, cuts: list[int], whole: bool) -> None:
    """Stretches of a log that is busy may be too short to be thinned by themselves."""
    moments = sorted(played(seed), key=lambda m: m.span.start)
    places = [0, *sorted(cuts), len(moments)]
    parts = [moments[start:end] for start, end in itertools.pairwise(places)]
    kept = [m for number, part in enumerate(parts) for m in (part if whole and number % 2 else stretch(part))]
    assert [*rejoined(kept, EVERY, CELL_MS)] == thinned(moments)


def test_what_was_acknowledged_furthest_is_kept_and_answers_are_counted_at_least() -> None:
    moments = [m for m in answered(7) if m.kind == "produced" and m.error == 0]
    kept = thinned(moments)
    assert max(m.offset or 0 for m in kept) == max(m.offset or 0 for m in moments)
    assert min(m.offset or 0 for m in kept) == min(m.offset or 0 for m in moments)
    assert len(kept) < times_told(kept) <= len(moments)
    assert times_told(collapse(kept)) == times_told(kept)
