"""A clock's estimate in words: where shared events lie too far apart, it is none."""

from __future__ import annotations

import pytest

from rules.history.clocks import ClockOffset


@pytest.mark.parametrize(
    ("milliseconds", "spread", "words"),
    [
        (40, 900, "+40 ms against controller, give or take 1000 ms, by 4 shared events"),
        (40, 22_925, "not aligned with controller: 4 shared events, written up to 22925 ms after each other"),
        (3_600_000, 22_925, "+3600000 ms against controller, give or take 22925 ms, by 4 shared events"),
    ],
)
def test_an_estimate_that_errs_by_more_than_it_says_is_not_told(milliseconds: int, spread: int, words: str) -> None:
    clock = ClockOffset(clock="broker 1", reference="controller", milliseconds=milliseconds, spread=spread, pairs=4)
    assert clock.words == words
