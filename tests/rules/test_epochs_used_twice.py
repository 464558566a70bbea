"""Where ZooKeeper was put back to an older state, a number stands for two epochs, and nothing is dated by it."""

from __future__ import annotations

import pytest

from rules.catalog import RULES
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from rules.verdict import PartitionVerdict
from tests.lab.sketches import ANEW

LATER_HALF = """
broker 1 0000 1 2 22 22|
broker 2 0000 1 2 22 22|
broker 3 0000 1 2 44 22|
t1 leads 1 epoch 0 at 6 hw 6
t2 leads 1 epoch 2 at 6 hw 6
t3 acks 1 at 6 acks=all
t4 fetch 2@10 from 1 hw=10
t5 leads 2 epoch 3 at 10 hw 10
t6 leads 3 epoch 4 at 10 hw 10
"""
"""Logs of brokers that begin where ZooKeeper was put back: each number is told once, the disks know it from before."""
RISING = """
broker 1 0000 1 2 3|
broker 2 0000 1 2 3|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 2 epoch 1 at 4 hw 4
t3 leads 1 epoch 2 at 5 hw 5
t4 acks 1 at 6 acks=all
t5 leads 2 epoch 3 at 6 hw 6
"""
FALLING_ROLES = RISING + "t6 leads 1 epoch 4 at 6 hw 6\nt7 leads 2 epoch 2 at 6 hw 6\n"


def judged(drawing: str) -> PartitionVerdict:
    return judge(read_sketch(drawing).evidence, RULES)


def accused(verdict: PartitionVerdict) -> set[str]:
    return {finding.rule for finding in verdict.findings if finding.verdict == "violated"}


def test_nothing_is_dated_by_an_epoch_that_began_anew() -> None:
    verdict = judged(ANEW)
    assert accused(verdict) & {"LEAD001", "TRUNC001", "TRUNC004", "LEAD004", "EPOCH008", "HW003"} == set()
    assert {"EPOCH001", "LOG001"} <= accused(verdict)
    open_ones = {finding.rule for finding in verdict.findings if finding.verdict == "undecided" and finding.blocking}
    assert {"LEAD001", "TRUNC001"} <= open_ones
    assert (verdict.losses, verdict.advice, verdict.counterfactuals) == ((), (), ())
    assert any("losses cannot be listed" in one.reason for one in verdict.undecided)


@pytest.mark.parametrize(
    ("drawing", "fell"),
    [
        (ANEW, "In broker 3's log, epoch 2 follows epoch 4 at offset 7."),
        (FALLING_ROLES, "Broker 2 had a role in epoch 3, and later in epoch 2."),
    ],
)
def test_which_epochs_went_back_is_told_and_only_the_operators_know_why(drawing: str, fell: str) -> None:
    (told,) = {f.message for f in judged(drawing).findings if f.verdict == "undecided" and "went back" in f.message}
    assert f"while the logs went on. {fell} So one number may mean two epochs" in told
    assert told.endswith("No file of a broker tells that. Ask the operators what was restored, and when.")


def test_records_below_the_only_opening_that_is_told_are_of_another_epoch_of_that_number() -> None:
    verdict = judged(LATER_HALF)
    assert accused(verdict) & {"LEAD001", "TRUNC001", "TRUNC004", "LEAD004", "EPOCH008", "HW003"} == set()
    assert verdict.losses == ()


def test_who_is_wrong_is_told_by_number_alone_where_epochs_began_anew() -> None:
    (diverging,) = (finding for finding in judged(ANEW).findings if finding.rule == "LOG001")
    assert "later epoch" not in diverging.message
    assert "Broker 3 differs from all others. Brokers 1 and 2 agree" in diverging.message


@pytest.mark.parametrize("rule", ["LEAD001", "ACK001"])
def test_epochs_that_rise_tell_the_same_loss(rule: str) -> None:
    verdict = judged(RISING)
    assert rule in accused(verdict)
    assert verdict.losses


def test_a_clock_that_falls_back_is_enough() -> None:
    verdict = judged(FALLING_ROLES)
    assert "LEAD001" not in accused(verdict)
    assert "LEAD001" in {finding.rule for finding in verdict.findings if finding.verdict == "undecided"}


def acknowledged(drawing: str) -> list[tuple[int, int | None, int | None, str, str]]:
    """Who answered for what, how sure it is, and what stands there now."""
    found = [f for f in judged(drawing).findings if f.rule == "ACK001" and f.verdict == "violated"]
    return [(f.brokers[0], f.start_offset, f.end_offset, f.confidence, str(f.values()["instead"])) for f in found]


def test_what_another_log_counts_as_committed_is_told_by_epochs_that_have_no_order() -> None:
    by_three = "broker 3 holds records of epoch 4 at offset 6, which it counts as committed"
    by_two = "brokers 1 and 2 hold records of epoch 2 at offset 6, which they count as committed"
    late = (
        ". It is not known whether another broker led already when broker 3 answered. If one did, the producer no"
        " longer waited and was promised nothing"
    )
    assert acknowledged(ANEW) == [(1, 6, 8, "certain", by_three), (3, 6, 7, "likely", by_two + late)]


def test_who_led_when_an_answer_was_given_is_not_known_where_a_broker_that_took_part_tells_no_role() -> None:
    """Broker 2 led epoch 3 by its own log; without that log it may have led before broker 3 answered as well."""
    by_log = [told for told in acknowledged(ANEW) if told[0] == 3]
    kept = "\n".join(line for line in ANEW.splitlines() if not line.startswith("t7"))
    silent = kept.replace("leads 2 epoch 1 at 4 hw 4", "leader 2 epoch 1 isr 1,2,3")
    (told,) = (told for told in acknowledged(silent) if told[0] == 3)
    assert (by_log[0][3], told[3]) == ("likely", "possible")
    assert "Nothing here tells when another broker took its place." in told[4]


OLDER = """
broker 1 0000 1 222|
broker 2 0000 1 222|
broker 3 0000 1 522|
t1 leads 3 epoch 1 at 4 hw 4
t2 acks 3 at 5 acks=1
t4 leads 1 epoch 5 at 5 hw 5
t5 leads 3 epoch 6 at {ends} hw 5
t6 leads 1 epoch 2 at 5 hw 5
"""


def test_a_reign_ends_where_its_broker_took_the_next_role_only_where_it_wrote_nothing_else_before() -> None:
    """Broker 3 followed unseen between epochs 1 and 4: where its log ended then is no batch's end of epoch 1."""
    found = [(start, end) for broker, start, end, *_ in acknowledged(OLDER.format(ends=9)) if broker == 3]
    assert found == [(5, 6)]


CUT = """
broker 1 0000 1 222 2|
broker 2 0000 1 222 1|
broker 3 0000 1 222 1|
t1 leads 1 epoch 2 at 5 hw 5
t2 loads 1 at 8
t3 leads 3 epoch 4 at 8 hw 8
t4 acks 3 at 8 acks=all
t5 acks 3 at 9 acks=all
t6 loads 3 at 10
t7 follows 3 epoch 1 at 10 hw 10
t8 truncates 3 to 8
t9 leads 2 epoch 1 at 8 hw 8
t10 leads 1 epoch 2 at 8 hw 8
"""


def test_what_no_log_holds_is_told_by_epochs_that_have_no_order() -> None:
    others = (
        "no log here holds it: broker 1 holds records of epoch 2 at offset 8, which it counts as committed;"
        " brokers 2 and 3 hold records of epoch 1 at offset 8, which they count as committed"
    )
    short = "no log here holds it: the logs of brokers 1, 2 and 3 end before offset 9"
    assert acknowledged(CUT) == [(3, 8, 9, "certain", others), (3, 9, 10, "certain", short)]
    untold = CUT.replace("t7 follows 3 epoch 1 at 10 hw 10\n", "")
    assert {said[3] for said in acknowledged(untold)} == {"likely"}, "it may have taken another role meanwhile"


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (("t6 loads 3 at 10", "t6 deletes 3"), "created again"),
        (("t6 loads 3 at 10", "t6 begins 3"), "created again"),
        (("t10 leads", "t10 leads 4 epoch 6 at 8 hw 8\nt10 leads"), "the log of broker 4"),
        (("222 1", "222 2"), "created again"),  # no log falls back: roles may be of another life of the topic
    ],
)
def test_what_else_explains_that_no_log_holds_them_is_asked_for(change: tuple[str, str], missing: str) -> None:
    drawing = CUT.replace(*change)
    assert acknowledged(drawing) == []
    asked = [f.message for f in judged(drawing).findings if f.rule == "ACK001" and f.verdict == "undecided"]
    assert asked
    assert all(missing in message for message in asked)


@pytest.mark.parametrize(
    "change",
    [
        ("222 1\nbroker 3", "222 4\nbroker 3"),  # one log holds it, and the others lack it below no high watermark
        ("t3 leads 3 epoch 4 at 8", "t3 leads 3 epoch 1 at 8"),  # its own epoch's records stand there
        ("t3 leads 3 epoch 4 at 8", "t3 leads 3 epoch 4 at 12"),  # what is sent again is answered as it was before
        ("t4 acks", "t4 leads 3 epoch 1 at 8 hw 8\nt4 acks"),  # it led that epoch too, without a break
    ],
)
def test_answers_whose_records_a_log_may_hold_accuse_nobody(change: tuple[str, str]) -> None:
    assert all(said[1] != 8 for said in acknowledged(CUT.replace("|", "").replace(*change)))


def test_a_file_whose_epochs_went_with_the_new_beginning_is_not_called_deleted() -> None:
    drawing = ANEW.replace("broker 1 0000 1 22 22|", "broker 1 0000 1 22 22| ; epochs 2@7")
    said = [str(f.values()["signature"]) for f in judged(drawing).findings if f.rule == "EPOCH003"]
    assert said
    assert all("when leader epochs go back to lower numbers, as they did here" in one for one in said)


def test_a_tail_is_not_called_one_where_logs_tell_nothing_of_what_was_committed() -> None:
    short = ANEW.replace("broker 3 0000 1 2 4 22|", "broker 3 0000 1 2|4 22")
    said = [finding.verdict for finding in judged(short).findings if finding.rule == "LOG002"]
    assert said
    assert set(said) == {"undecided"}
    in_order = judged("broker 1* 0000|22\nbroker 2  0000|1\n").findings
    assert [finding.verdict for finding in in_order if finding.rule == "LOG002"] == ["violated"]


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        # The file says that epoch 0 began behind the batch, as where the topic was made anew.
        ("broker 1 0020| ; epochs 0@3", "EPOCH001"),
        ("broker 1 0020| ; epochs 0@0", "SEG006"),
    ],
)
def test_a_batch_of_another_epoch_is_believed_unless_more_than_neighbours_speaks_against_it(
    drawing: str, said: str
) -> None:
    assert accused(judged(drawing)) & {"EPOCH001", "SEG006"} == {said}


@pytest.mark.parametrize(("older", "told"), [("000022", False), ("000000", True)])
def test_an_epoch_that_began_at_two_offsets_replaced_nothing(older: str, told: bool) -> None:
    verdict = judged(f"broker 1 {older}|\nbroker 2 002222|")
    (first, *_) = [f.message for f in verdict.findings if f.rule == "LOG001" and f.start_offset == len("00")]
    assert ("the later epoch 2 wrote in its place" in first) is told
