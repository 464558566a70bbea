"""Which fetches a leader surely had taken in before it made an answer."""

from __future__ import annotations

from parsers.provenance import Span
from rules.history.moments import Moment
from rules.history.statements import Fetched
from rules.replay.leading.instants import READING_MS, Instant, found_nothing, overtaken, read_since, taken_in_before
from rules.replay.leading.tracks import Track
from tests.replaced import replace

FETCH = Fetched(
    kind="fetched", clock="broker 1", time=1600, arrived=1100, taken_in=1101, answered=1600, waited=True, min_bytes=1,
    witness=1, broker=2, leader=1, epoch=3, offset=40, error=0, session=7, span=Span(source="log", start=0, end=1),
)  # fmt: skip
BEFORE = replace(FETCH, time=1100, arrived=1099, taken_in=1099, answered=1099, waited=False, offset=30)


def taken_in(*runs: Moment, log_end: int = 0, time: int | None = None, in_sync: bool = True) -> bool:
    instant = Instant(log_end=log_end, time=time)
    return taken_in_before(Track(2, runs), len(runs) - 1, instant, lambda *_: in_sync)


def test_a_fetch_that_waited_was_taken_in_before_the_log_went_on() -> None:
    assert taken_in(BEFORE, FETCH, log_end=41)
    assert not taken_in(BEFORE, FETCH, log_end=40)


def test_a_follower_out_of_sync_may_wait_for_its_quota() -> None:
    assert not taken_in(BEFORE, FETCH, log_end=41, in_sync=False)


def test_whether_it_was_in_sync_is_asked_of_the_time_at_which_it_was_looked_at() -> None:
    asked: list[tuple[int, int | None, int | None]] = []

    def in_sync(*of: object) -> bool:
        asked.append(of)  # type: ignore[arg-type]
        return True

    instant = Instant(log_end=41, time=None)
    assert taken_in_before(Track(2, (BEFORE, FETCH)), 1, instant, in_sync)
    assert taken_in_before(Track(2, (BEFORE, replace(FETCH, taken_in=None))), 1, instant, in_sync)
    assert asked == [(2, 1100, 1103), (2, 1100, 1600)]


def test_a_fetch_waits_for_as_many_bytes_as_it_names() -> None:
    assert found_nothing(FETCH)
    assert not found_nothing(replace(FETCH, min_bytes=1000))
    assert not found_nothing(replace(FETCH, min_bytes=None))
    assert not found_nothing(replace(FETCH, waited=False))


def test_what_was_taken_in_within_the_same_milliseconds_is_in_no_order() -> None:
    assert taken_in(BEFORE, FETCH, time=1103)
    assert not taken_in(BEFORE, FETCH, time=1102)
    assert not taken_in(BEFORE, replace(FETCH, taken_in=None), time=9999)


def test_a_first_fetch_that_names_no_epoch_may_be_older_than_its_reign() -> None:
    assert taken_in(FETCH, time=2000)
    assert not taken_in(replace(FETCH, epoch=None), time=2000)
    assert not taken_in(replace(FETCH, epoch=None), log_end=41)


def test_a_refused_or_doubtful_fetch_is_not_counted() -> None:
    assert not taken_in(BEFORE, replace(FETCH, error=1), time=2000)
    assert not taken_in(BEFORE, replace(FETCH, answered_epoch=2), time=2000)
    assert not taken_in(BEFORE, replace(FETCH, doubtful=True), time=2000)


def test_an_answer_is_dated_onward_from_its_askers_former_line() -> None:
    assert read_since(FETCH, BEFORE, 1100) == 1100 + 500 - 1 - READING_MS
    assert read_since(replace(FETCH, answered=1150), BEFORE, 1100) == 1100
    assert read_since(replace(FETCH, waited=False), BEFORE, 1100) == 1100
    assert read_since(FETCH, replace(BEFORE, session=6), 1100) == 1100, "another connection may have begun before"
    assert read_since(FETCH, BEFORE, None) is None


def test_a_fetch_that_came_in_before_its_askers_former_line_was_sent_on_another_connection() -> None:
    assert overtaken(FETCH, 1103)
    assert not overtaken(FETCH, 1102), "the same milliseconds are in no order"
    assert not overtaken(replace(FETCH, arrived=None), 9999)
