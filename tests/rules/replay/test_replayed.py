"""The command that shows a replay row by row: what it shows is what rules are given."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.lab.replayed import evidences, replayed

SCRIPT = """
brokers: [1, 2]
version: 4.0.0
events:
- produce 1 a
- fetch 2
- fetch 2
"""


def test_of_a_rules_page_it_shows_both_drawings_row_by_row() -> None:
    shown = {name: list(replayed(evidence)) for name, evidence in evidences(["HW003"]).items()}
    assert list(shown) == ["HW003 upheld", "HW003 violated"]
    row = shown["HW003 violated"].index("  t3: fetched 4 by broker 2")
    assert shown["HW003 violated"][row + 1 : row + 9] == [
        "    before: t2; weighed last, at the earliest: t1; ISR 1,2,3",
        "    broker 2 at 4 to open: answered 4 at t3, following nothing",
        "    broker 3 at 2 to 2: answered 2 at t2, following 2 at t4",
        "    log end low 4: broker 2 asked for offset 4, in range",
        "    log end high 4: broker 1 shut down cleanly with log end 4",
        "    high watermark low 2: every replica that counts (brokers 2 and 3) had asked for offset 2 or beyond",
        "    high watermark high 2: broker 3, in sync, had asked for no more than offset 2",
        "    its answer may carry 0 to 2, and carries 4",
    ]
    assert shown["HW003 violated"][-1] == "events:4 tells 4, which is above 0 to 2"
    assert not any("above" in line for line in shown["HW003 upheld"])


def test_it_walks_as_the_replay_does(tmp_path: Path) -> None:
    """It steps anew through every lead, so that it can show what a row does not keep."""
    script = tmp_path / "two.yaml"
    script.write_text(f"{SCRIPT}- elect 2\n- produce 2 b\n- fetch 1\n- fetch 1\n", encoding="utf-8")
    (evidence,) = evidences([str(script)]).values()
    ends = [(course.end.low, course.end.high) for course in evidence.replayed.courses]
    sides = [(side, bound) for end in ends for side, bound in zip(("low", "high"), end, strict=True)]
    told = [f"  ends with {side} {f'{b.offset}: {b.because}' if b else 'open'}" for side, b in sides]
    assert [line for line in replayed(evidence) if line.startswith("  ends with")] == told
    assert len(ends) == 2


def test_a_drawing_and_a_script_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, drawing = tmp_path / "two.yaml", tmp_path / "drawing.txt"
    script.write_text(SCRIPT, encoding="utf-8")
    drawing.write_text("broker 1 0\nt1 leads 1 epoch 0 at 0 hw 0\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", StringIO(drawing.read_text(encoding="utf-8")))
    (ran,), (drawn,), (typed,) = (evidences([str(given)]).values() for given in (script, drawing, "-"))
    assert [c.lead.leader for c in ran.replayed.courses] == [1]
    assert list(replayed(drawn)) == list(replayed(typed))
    assert "lead of broker 1, epochs 0: all told" in list(replayed(ran))
