"""Where an epoch began, as its leader's epoch file has it where its log of roles is not here; and who asks else."""

from __future__ import annotations

from rules.catalog import BY_ID
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
from rules.sketch.notation import read_sketch

LEFT_OUT = """
    broker 1 0000|
    broker 2 00| ; epochs 0@0 1@2
    t1 leads 1 epoch 0 at 0 hw 0
    t2 acks 1 at 2 acks=1
    t3 leader 2 epoch 1 isr 1,2
"""
LED_AGAIN = """
    broker 1* 12|
    broker 2 1|
    t1 leader 1 epoch 0 isr 1,2
    t2 acks 1 at 0 acks=1
    t3 leader 2 epoch 1 isr 1,2
    t4 leads 2 epoch 1 at 0 hw 0
    t5 leader 1 epoch 2 isr 1,2
    t6 acks 1 at 1 acks=1
"""


KEPT = """
    broker 1 00000011 | ; hw 6, leo 8
    broker 2 00000011 | ; hw 6, leo 8, epochs 0@0 1@6
    t1 leads 1 epoch 0 at 0 hw 0
    t2 fetch 2@6 from 1 hw=6
    t3 leader 2 epoch 1 isr 1,2
"""


def evidence_of(text: str) -> PartitionEvidence:
    return read_sketch(text).evidence


def said(text: str) -> list[Violation | Undecided]:
    return [answer for answer in BY_ID["ACK001"].check(evidence_of(text)) if answer.start_offset is not None]


def test_a_leaders_epoch_file_tells_where_it_began() -> None:
    openings = evidence_of(LEFT_OUT).openings
    assert {epoch: (m.broker, m.offset) for epoch, m in openings.items()} == {0: (1, 0), 1: (2, 2)}
    (lost,) = said(LEFT_OUT)
    assert isinstance(lost, Violation)
    assert (lost.start_offset, lost.confidence) == (2, "possible")


def test_a_committed_end_above_what_only_an_epoch_file_tells_is_likely_lost() -> None:
    (lost,) = BY_ID["LEAD001"].check(evidence_of(LEFT_OUT.replace("t3", "t3 fetch 2@4 from 1 hw=4\n    t4")))
    assert isinstance(lost, Violation)
    assert (lost.start_offset, lost.end_offset, lost.confidence) == (2, 4, "likely")


def test_an_entry_that_the_log_beside_it_contradicts_tells_nothing() -> None:
    kept = evidence_of(KEPT).openings[1]
    for entry in ("1@5", "1@7", "1@9"):
        evidence = evidence_of(KEPT.replace("1@6", entry))
        assert [*BY_ID["LEAD001"].check(evidence)] == []
        assert evidence.openings[1] == kept
    longer = LEFT_OUT.replace("broker 2 00|", "broker 2 0000|").replace("t3", "t3 fetch 2@4 from 1 hw=4\n    t4")
    assert evidence_of(longer).openings.keys() == {0}


def test_a_directory_put_aside_tells_of_no_opening() -> None:
    aside = KEPT.replace("t1 leads", "broker 2 000011111 | ; deleted, hw 4, leo 9, epochs 0@0 1@4\n    t1 leads")
    older = aside.replace("1@6", "0@0").replace("00000011 | ; hw 6, leo 8", "000000 | ; hw 6, leo 6")
    for text in (aside, older):
        assert [*BY_ID["LEAD001"].check(evidence_of(text))] == []
    assert 1 not in evidence_of(older).openings


def test_a_followers_epoch_file_and_a_first_entry_that_may_have_moved_tell_nothing() -> None:
    followed = LEFT_OUT.replace("t3 leader 2", "t3 leader 3")
    moved = LEFT_OUT.replace("epochs 0@0 1@2", "epochs 1@2")
    assert evidence_of(followed).openings.keys() == evidence_of(moved).openings.keys() == {0}


def test_an_answer_of_no_certain_epoch_at_anothers_record_is_asked_for() -> None:
    (asked,) = said(LED_AGAIN)
    assert isinstance(asked, Undecided)
    assert (asked.start_offset, asked.end_offset, asked.blocking) == (0, 1, True)


def test_an_answer_under_a_controllers_order_is_of_the_epoch_that_it_gave() -> None:
    ordered = LEFT_OUT.replace("t1 leads 1 epoch 0 at 0 hw 0", "t1 leader 1 epoch 0 isr 1,2 told 1")
    assert [(type(a), a.start_offset, a.end_offset) for a in said(ordered)] == [(Violation, 2, 4)]


BELOW_A_CHECKPOINT = """
    broker 1 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 leads 2 epoch 1 at 2 hw 2
"""


def below(text: str) -> list[Violation | Undecided]:
    return list(BY_ID["LEAD001"].check(evidence_of(text)))


def test_an_opening_below_a_checkpoint_is_asked_about_where_no_disk_knows_its_epoch() -> None:
    (asked,) = below(BELOW_A_CHECKPOINT)
    assert isinstance(asked, Undecided)
    assert (asked.start_offset, asked.end_offset, asked.brokers, asked.blocking) == (2, 4, (1, 2), True)
    assert "broker 2's disk" in asked.missing
    assert "broker 1's request log of epoch 0" in asked.missing


def test_a_disk_that_knows_the_epoch_decides_what_a_checkpoint_leaves_open() -> None:
    lost = BELOW_A_CHECKPOINT.replace("0000|\n", "0000|\n    broker 2 0011|\n")
    assert [(type(a), a.start_offset, a.end_offset) for a in below(lost)] == [(Violation, 2, 4)]
    followed = BELOW_A_CHECKPOINT.replace("0000|\n", "0011|\n")
    assert below(followed) == []
