"""What a former leader cut, where nothing tells of which epoch it was: it may have been answered for."""

from __future__ import annotations

import pytest

from rules.chronicle.request_logs import LoggedRequests
from rules.loss.unknown_cuts import of_unknown_cuts
from rules.sketch.notation import read_sketch
from tests.replaced import replace

CUT = """
kafka 1 2.4.1
broker 1 {held}|
broker 2 {held}|
t1 leader 1 epoch 0 isr 1,2
t2 truncates 1 to 1
t3 leads 2 epoch 2 at 1 hw 1
"""


@pytest.mark.parametrize(
    ("held", "logged", "asked"),
    [
        ("022", True, [(1, 2, True)]),
        # Without any log of requests the scope of the verdict says so.
        ("022", False, [(1, 2, False)]),
        # Who wrote the older record that another log holds there had it too.
        ("002", True, []),
    ],
)
def test_a_record_that_a_former_leader_cut_and_no_log_holds_is_asked_for(
    held: str, logged: bool, asked: list[tuple[int, int, bool]]
) -> None:
    logs = {1: LoggedRequests(broker=1, here=True)} if logged else {}
    drawn = replace(read_sketch(CUT.format(held=held)).evidence, request_logs=logs)
    assert [(q.start_offset, q.end_offset, q.blocking) for q in of_unknown_cuts(drawn)] == asked
