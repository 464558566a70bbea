"""Messages say of every offset that they name what is there, who has it, and which other finding tells of it."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import question_told
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.auditor.dumps_at_hand import audited
from tests.conftest import SAMPLE_LOGS

OVERWRITTEN = """
broker 1 {log}
broker 2 0000 111|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 4 hw 4
t3 follows 1 epoch 1 at 4 hw 4 from 2
t4 acks 2 at 4 acks=all
t5 leads 1 epoch 2 at 7 hw 7
"""
"""A broker leads again, and its disk shows other records than those that were acknowledged meanwhile."""
TWO_PROOFS = """
broker 1 00|22
broker 2 0000|
t1 leads 2 epoch 0 at 0 hw 0
t2 fetch 1@3 from 2 hw=3
t3 leads 1 epoch 2 at 2 hw 2
"""


def told(drawing: str, rule: str) -> list[str]:
    found = judge(read_sketch(drawing).evidence, (BY_ID[rule],)).findings
    return [finding.message for finding in found if finding.verdict == "violated"]


@pytest.mark.parametrize(
    ("log", "there"),
    [
        ("0000 222|", "records of epoch 2 at offsets 4–6."),
        ("0000 22|", "records of epoch 2 at offsets 4–5. Its log end offset is 6."),
        ("0000 2 3 3|", "a record of epoch 2 at offset 4."),
        ("0000 2_2|", "a record of epoch 2 at offset 4."),
    ],
)
def test_what_is_at_acknowledged_offsets_is_told_as_far_as_one_epoch_goes(log: str, there: str) -> None:
    (message,) = told(OVERWRITTEN.format(log=log), "ACK001")
    assert message.startswith("Broker 2 acknowledged offsets 4–6 of epoch 1 (acks=all). ")
    assert message.endswith(f"The leader's log (broker 1) now has {there}")


def test_two_proofs_of_what_one_opening_lacked_name_each_other() -> None:
    surely, likely = told(TWO_PROOFS, "LEAD001")
    shown = "That record was committed: broker 2 reported high watermark 3."
    assert surely.endswith(f"That leader lacked a committed record at offset 2. {shown}")
    assert "with log end offset 2. That leader lacked a record at offset 3 that was most likely committed." in likely
    assert likely.endswith("Broker 2's high watermark on disk is 4. Another finding tells of offset 2.")


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (("000000000|", "0000000|"), "Broker 2 has records at offsets 4–8. Broker 3's log end offset is 7."),
        (("000000000|", "00000_000|"), "Broker 2 has records at offsets 4–8. Broker 3's log end offset is 8."),
        (("00|", "0000|"), "No other log here has a higher log end offset."),
    ],
)
def test_who_has_what_a_shortened_log_lacks_is_told(others: tuple[str, str], said: str) -> None:
    drawing = "broker 1 0000| ; recovery 9\nbroker 2 {}\nbroker 3 {}\n".format(*others)
    (message,) = told(drawing, "SEG008")
    assert message.endswith(said)


def test_where_an_epoch_ends_in_the_followers_log_is_the_reason_of_a_cut() -> None:
    asked = "Asked about epoch 1, broker 1 would have answered that epoch 0 ends at 60."
    own = "In broker 2's log, epoch 0 ends at 40, so broker 2 would have removed offsets 40–59."
    said = [f.message for f in audited(SAMPLE_LOGS / "lost_pages_hw" / "dump").violations if f.rule == "TRUNC003"]
    assert [message for message in said if f"{asked} {own}" in message]


@pytest.mark.parametrize(
    ("missing", "ends"),
    [
        ("older files", "not known. To decide it, add older files."),
        ("ask the operators.", "not known. Ask the operators."),
        ("audit again at level full", "not known. Audit again at level full."),
    ],
)
def test_what_cannot_be_added_is_told_as_something_to_do(missing: str, ends: str) -> None:
    assert question_told("not known.", missing) == ends
