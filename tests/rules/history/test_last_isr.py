"""The newest state of a partition: whose ISR holds still, as far as anything tells."""

from __future__ import annotations

import pytest

from rules.history.turns import last_isr
from rules.sketch.notation import read_sketch

STATE = "broker 1 0|\nt1 leader 1 epoch 0 isr 1,2\n"


@pytest.mark.parametrize(
    ("later", "stands"),
    [
        ("", True),
        ("t2 leads 1 epoch 0 at 1 hw 1\n", True),
        ("t2 leads 2 epoch 3 at 1 hw 1\n", False),  # of its epoch no state is told
        ("t2 leads 2 epoch 3 at 1 hw 1\nt3 leader 2 epoch 3 isr 2\n", True),
    ],
)
def test_a_state_is_the_last_where_nobody_led_a_newer_epoch(later: str, *, stands: bool) -> None:
    found = last_isr(read_sketch(STATE + later).evidence.moments)
    assert (found is not None) is stands
