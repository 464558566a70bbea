"""Where a topic was created again, lines without a topic id are of the life of which their clock tells by id then."""

from __future__ import annotations

import pytest

from rules.replicas.lives import of_incarnation
from rules.settings import NO_SETTINGS
from rules.sketch.statement_lines import read_event
from tests.replaced import replace

FORMER, NOW = "former", "now"
LIVES = (("t1 leads 1 epoch 0 at 0 hw 0", FORMER), ("t10 leads 1 epoch 0 at 0 hw 0", NOW))


@pytest.mark.parametrize(
    ("line", "topic_id", "times"),
    [
        # Produces bear no id up to 4.0, lines of cuts none at all.
        ("t12 acks 1 at 5 acks=1", None, [10, 12]),
        ("t12 truncates 1 to 4", None, [10, 12]),
        ("t5 acks 1 at 40 acks=1", None, [10]),
        # Of broker 2 nothing tells when it began with the new topic.
        ("t12 truncates 2 to 4", None, [10]),
        # Who asks by the old id, or loads a folder that waits for its deletion, ends nothing.
        ("t11 fetch 2@4 from 1 hw=0 error 100", FORMER, [10, 15]),
        ("t11 loads 1 at 4", FORMER, [10, 15]),
        # The broker tells of another life again: which one was the last is not known by the clock.
        ("t11 leads 1 epoch 0 at 0 hw 0", FORMER, [10]),
    ],
)
def test_a_line_without_an_id_is_of_the_life_that_its_clock_names(
    line: str, topic_id: str | None, times: list[int]
) -> None:
    told = [replace(read_event(spoken), topic_id=life) for spoken, life in (*LIVES, (line, topic_id))]
    last = replace(read_event("t20 leads 3 epoch 1 at 9 hw 9"), topic_id=NOW)
    later = [read_event("t15 acks 1 at 6 acks=1")] if topic_id is not None else []
    kept = of_incarnation([*told, *later, last], (), NO_SETTINGS)
    assert [moment.time for moment in kept] == [*times, 20]


def test_a_request_that_came_in_before_is_of_no_known_life() -> None:
    told = [replace(read_event(line), topic_id=life) for line, life in LIVES]
    answered = replace(read_event("t12 acks 1 at 5 acks=1"), arrived=9)
    assert [moment.time for moment in of_incarnation([*told, answered], (), NO_SETTINGS)] == [10]


def test_nothing_is_placed_by_a_clock_that_was_set_back() -> None:
    told = [replace(read_event(line), topic_id=life) for line, life in (*LIVES, ("t12 acks 1 at 5 acks=1", None))]
    assert [m.time for m in of_incarnation([replace(m, set_back=None) for m in told], (), NO_SETTINGS)] == [10]
