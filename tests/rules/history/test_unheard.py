"""Lines of one request that was logged twice."""

from __future__ import annotations

import pytest

from rules.history.moments import succeeded
from rules.history.unheard import told_once
from rules.sketch.statement_lines import read_event
from tests.replaced import replace

ANSWER = read_event("t9 acks 1 at 4 acks=1")


@pytest.mark.parametrize(
    ("second", "heard"),
    [
        # What Kafka 1.1.1 wrote of a client that had gone while its broker stood still: 3.442 ms, then 4.345 ms.
        ({"request": 125, "took": 4345, "arrived": 531}, []),
        # An appender that writes each line twice, a request that is sent again, and one of another client.
        ({"request": 125, "took": 3442, "arrived": 532}, [4, 4]),
        ({"request": 126, "took": 4345, "arrived": 531}, [4, 4]),
        ({"request": 125, "took": 4345, "arrived": 2531}, [4, 4]),
        ({"request": 125, "took": 4345, "arrived": 531, "client_id": "b"}, [4, 4]),
    ],
)
def test_one_request_in_two_lines_is_heard_by_nobody(second: dict[str, object], heard: list[int]) -> None:
    first = replace(ANSWER, request=125, took=3442, arrived=532, client_id="a")
    told = told_once([first, replace(first, **second)])
    assert [moment.offset for moment in told if succeeded(moment)] == heard
    assert len(told) == (len(heard) or 1)
