"""Last stable offsets that stand still: in what leaders told, against what their logs decide."""

from __future__ import annotations

import pytest

from rules.catalog.txn003_last_stable_offset_stuck import last_stable_offset_stuck
from rules.finding import Undecided, Violation
from rules.sketch.notation import read_sketch

LOG = "0{7:0t}0{7c}0000"
LED = """
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@6 from 1 hw=0
t3 fetch 2@6 from 1 hw=6
"""


def told(answers: str, log: str = LOG, notes: str = "") -> list[tuple[int | None, int | None]]:
    drawing = f"broker 1* {log}| ; {notes or 'hw 6'}\nbroker 2 {log}| ; {notes or 'hw 6'}\n{LED}{answers}"
    found = [*last_stable_offset_stuck.check(read_sketch(drawing).evidence)]
    return [(each.start_offset, each.end_offset) for each in found if isinstance(each, Violation)]


def serves(*answers: tuple[int, int, int]) -> str:
    """Answers at a second, with a high watermark and a last stable offset."""
    return "\n".join(f"t{1000 * at} serve 0 from 1 hw={watermark} lso={stable}" for at, watermark, stable in answers)


def test_one_that_stays_behind_its_log_for_a_minute_is_stuck() -> None:
    assert told(serves((1, 6, 0), (61, 6, 0))) == [(0, 6)]


@pytest.mark.parametrize(
    "answers",
    [
        serves((1, 6, 6), (61, 6, 6)),
        serves((1, 6, 0), (60, 6, 0)),
        serves((1, 6, 0), (40, 6, 6), (80, 6, 0)),
        serves((1, 1, 0), (61, 1, 0)),
    ],
    ids=["it keeps up", "it is behind for less than a minute", "it kept up meanwhile", "the marker is not replicated"],
)
def test_a_lawful_one(answers: str) -> None:
    assert told(answers) == []


def test_a_transaction_without_its_marker_holds_it_back() -> None:
    assert told(serves((1, 6, 0), (61, 6, 0)), "0{7:0t}00000") == []


def test_the_worst_answer_is_told() -> None:
    assert told(serves((1, 6, 1), (61, 6, 0), (90, 6, 3))) == [(0, 6)]


@pytest.mark.parametrize("notes", ["hw 6, cleaner 3", "hw 6, start 2"])
def test_a_log_that_does_not_tell_all_transactions_leaves_it_open(notes: str) -> None:
    log = "0{7:0t}0{7c}0000" if "start" not in notes else "0{7:0t}0{8:0t}0{7c}0{8c}00"
    assert told(serves((1, 2, 0), (61, 2, 0)), log, notes) == []


def left(drawing: str) -> list[str]:
    found = last_stable_offset_stuck.check(read_sketch(drawing).evidence)
    return [each.reason for each in found if isinstance(each, Undecided)]


def test_where_no_log_tells_its_transactions_a_leader_behind_its_watermark_is_a_question() -> None:
    log = "0{7:0t}0{8:0t}0{7c}0{8c}00"
    answers = serves((1, 4, 1), (61, 4, 1))
    drawing = f"broker 1* {log}| ; hw 6, cleaner 3\nbroker 2 {log}| ; hw 6, cleaner 3\n{LED}{answers}"
    assert [reason.split(" for 60 s")[0] for reason in left(drawing)] == [
        "broker 1 told last stable offsets behind its high watermark"
    ]
    assert told(answers, log, "hw 6, cleaner 3") == []


def test_a_leader_whose_transactions_are_known_leaves_no_question() -> None:
    log = "0{7:0t}0{8:0t}0{7c}0{8c}00"
    answers = serves((1, 3, 0), (61, 3, 0))
    assert left(f"broker 1* {log}| ; hw 6\nbroker 2 {log}| ; hw 6\n{LED}{answers}") == []


OPEN = "0{7:0t}00"


@pytest.mark.parametrize(
    ("drawing", "reasons"),
    [
        (f"broker 1* {OPEN}|\nbroker 2 {OPEN}|", ["The transaction open from offset 0 on may be lawful."]),
        ("broker 1* 000{7:0t}|\nbroker 2 000|", []),
        ("broker 1* 00|0{7:0t}0\nbroker 2 00|0{7:0t}0", []),
        (
            f"broker 1 {OPEN}|\nbroker 2 {OPEN}|\nt1 leads 3 epoch 1 at 3 hw 0 isr 3",
            ["Who led last is not known, and transactions are open in the logs of brokers 1 and 2."],
        ),
        ("broker 1 0{7:0t}0{7c}0|\nbroker 2 0|\nt1 leads 3 epoch 1 at 3 hw 0 isr 3", []),
    ],
    ids=["records wait behind it", "none do", "none are committed", "the leader's log is not here", "none is open"],
)
def test_why_nothing_is_said_of_what_is_on_disk(drawing: str, reasons: list[str]) -> None:
    said = "it is not known whether consumers wait. "
    assert left(drawing) == [said + reason for reason in reasons]
