"""Whether a broker's own log reaches its clean shutdown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from parsers.provenance import Span
from rules.replicas.led_last import ends_stopped
from rules.settings import BROKER_STATE, STARTED, STOPPED, Setting, settings_of


def state(value: str, since: int, place: tuple[str, int]) -> Setting:
    span = Span(source=place[0], start=place[1], end=place[1] + 1)
    return Setting(name=BROKER_STATE, value=value, origin="log", broker=1, since=since, clock="broker 1", span=span)


@pytest.mark.parametrize(
    ("stop", "ends"),
    [
        (state(STOPPED, 30, ("server.log", 9)), True),
        (state(STOPPED, 10, ("server.log", 9)), True),
        (state(STOPPED, 10, ("server.log", 0)), False),
        (state(STOPPED, 10, ("server.log.1", 9)), False),
    ],
)
def test_a_stop_is_the_last_word_by_its_line_wherever_the_clock_stood(stop: Setting, ends: bool) -> None:
    """A clock that was set back after the start tells the stop at an earlier time."""
    states = settings_of([state(STARTED, 20, ("server.log", 4)), stop]).states(1)
    assert ends_stopped(states) is ends


def test_files_of_a_log_follow_each_other_by_their_names_where_its_clock_was_set_back() -> None:
    """The file that was rotated away begins later by its clock than the one that is written."""
    started, stopped = state(STARTED, 20, ("server.log.1", 4)), state(STOPPED, 10, ("server.log", 0))
    assert ends_stopped(settings_of([started, stopped]).states(1))
    assert not ends_stopped(settings_of([replace(started, value=STOPPED), replace(stopped, value=STARTED)]).states(1))


def test_who_tells_of_no_state_tells_of_no_stop() -> None:
    assert not ends_stopped(())
