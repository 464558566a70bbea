"""Where no answer tells a high watermark, the rules that compare them say that they had nothing to compare."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.finding import Undecided
from rules.sketch.notation import read_sketch
from tests.replaced import replace

SKETCH = """
broker 1 0000|
broker 2 0000|
t1 leads 1 epoch 0 at 0 hw 0
t2 fetch 2@2 from 1 hw=2
t3 fetch 2@4 from 1 hw=2
"""


SAID = {
    "HW002": "no answer here tells a high watermark",
    "HW003": "no answer here tells a high watermark",
    "HW006": "no answer here tells a high watermark",
    "HW004": "no broker's own log tells a high watermark",
}


@pytest.mark.parametrize("rule", SAID)
@pytest.mark.parametrize(("told", "asked"), [(None, True), (-1, True), (2, False)])
def test_nothing_to_compare_is_said(rule: str, told: int | None, asked: bool) -> None:
    drawn = read_sketch(SKETCH).evidence
    telling = ("fetched", "leader-starts")
    moments = (replace(m, high_watermark=told) if m.kind in telling else m for m in drawn.moments)
    evidence = replace(drawn, chronicle=Chronicle(tuple(moments)))
    said = [each for each in BY_ID[rule].check(evidence) if isinstance(each, Undecided)]
    assert any(SAID[rule] in each.reason for each in said) is asked
