"""Answers that a leader gave when another broker led already: its clients may have gone while it stood still."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Severity, Violation
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch

STOOD_STILL = """
broker 1 00|11
broker 2 00|11
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t2000 leads 2 epoch 1 at 2 hw 2
t{answered} acks 1 at 2 acks=1
t{then} {word}
t20000 acks 2 at 3 acks=1
"""
HEARD = "follows 1 epoch 1 at 3 hw 2 from 2"
DIED = "loads 1 at 3"


@pytest.mark.parametrize(
    ("answered", "word", "late"),
    [
        # Nothing but clocks that stand far apart would let it have led still: that its producer had gone is as likely.
        (10_000, HEARD, "Perhaps the producer sent these records again"),
        (10_000, DIED, "Perhaps the producer sent these records again"),
        (1500, HEARD, "the producer no longer waited"),
        # It would have had to stand still, to answer and to die while the clocks stood far apart.
        (1500, DIED, ""),
        # Nothing bounds how far the clocks stand apart.
        (100, HEARD, "the producer no longer waited"),
        (100, DIED, ""),
    ],
)
def test_what_was_acknowledged_when_another_led_is_no_certain_loss(answered: int, word: str, late: str) -> None:
    text = STOOD_STILL.format(answered=answered, then=answered + 100, word=word)
    evidence = read_sketch(text).evidence
    (found,) = (f for f in BY_ID["ACK001"].check(evidence) if isinstance(f, Violation))
    confidence = "certain" if not late else "likely" if "waited" in late else "possible"
    assert (found.start_offset, found.confidence) == (2, confidence)
    assert found.severity == (Severity.MEDIUM if confidence == "possible" else Severity.HIGH)
    said = str(found.facts["instead"])
    assert late in said
    assert late or "led already" not in said
    assert found.facts["answered"] == ("answered a producer for" if late else "acknowledged")
    worth = "possibly acknowledged" if late else "acknowledged"
    assert [p.worth for loss in losses(evidence) for p in loss.portions if p.start_offset == 2] == [worth]


@pytest.mark.parametrize(("epoch", "said"), [(1, ""), (2, "Nothing here tells when another broker took its place")])
def test_who_led_an_epoch_that_nothing_names_may_have_led_already(epoch: int, said: str) -> None:
    """Epoch 1 may have been another broker's, long before the one that is told."""
    text = STOOD_STILL.replace("epoch 1", f"epoch {epoch}").replace("|11", f"|{epoch}{epoch}")
    evidence = read_sketch(text.format(answered=1500, then=1600, word=DIED)).evidence
    (found,) = (f for f in BY_ID["ACK001"].check(evidence) if isinstance(f, Violation))
    assert said in str(found.facts["instead"])
    assert found.severity == (Severity.MEDIUM if said else Severity.HIGH)


def test_a_log_end_that_may_be_of_a_later_epoch_ends_no_batch() -> None:
    """Its word that it followed in epoch 1 is not here: what it saves is as long as that epoch's records."""
    drawn = """
        broker 1 00|111111
        broker 2 00|111111
        t1 leads 1 epoch 0 at 0 hw 0
        t2 follows 2 epoch 0 at 0 hw 0 from 1
        t10 acks 1 at 2 acks=1
        t2000 leads 2 epoch 1 at 2 hw 2
        {heard}t9000 saves 1 at 8
    """
    (unheard,) = losses(read_sketch(drawn.format(heard="")).evidence)
    assert (unheard.start_offset, unheard.end_offset) == (2, 3)
    (heard,) = losses(read_sketch(drawn.format(heard="t2100 follows 1 epoch 1 at 4 hw 2 from 2\n        ")).evidence)
    assert (heard.start_offset, heard.end_offset) == (2, 4)


@pytest.mark.parametrize(
    ("ordered", "confidence"), [("", "possible"), ("t5000 follows 3 epoch 1 at 2 hw 2 from 2", "possible")]
)
def test_any_brokers_word_of_a_newer_leader_makes_an_answer_behind_it_late(ordered: str, confidence: str) -> None:
    """Broker 2's own line is not here, and broker 1 tells no other role before it starts again: it may be as late."""
    drawn = STOOD_STILL.format(answered=8000, then=9000, word=DIED).replace("t2000 leads 2 epoch 1 at 2 hw 2", ordered)
    found = (f for f in BY_ID["ACK001"].check(read_sketch(drawn).evidence) if isinstance(f, Violation))
    assert [each.confidence for each in found if each.start_offset == 2] == [confidence]


EACH_ANSWERED = "\n".join(f"t13 acks 1 at {offset} acks=1" for offset in range(3, 7))
ONE_BEHIND_THE_OTHER = """
broker 1 00|111111
broker 2 00|111111
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t10 acks 1 at 2 acks=1
{between}
t20 acks 1 at 7 acks=1
t50 loads 1 at 8
t7000 leads 2 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("between", "said", "acknowledged"),
    [
        ("", "", [(2, 8)]),
        # What waits for all replicas is not answered, and may lie between the two.
        ("t12 acks 1 at 5 acks=all error 19", "offsets 2 and 7", [(2, 3), (7, 8)]),
        # Each answer's first record is sure, and nothing lies behind it.
        (f"t12 acks 1 at 9 acks=all error 19\n{EACH_ANSWERED}", "", [(2, 8)]),
    ],
)
def test_what_waits_for_all_replicas_may_lie_between_answers_with_acks_1(
    between: str, said: str, acknowledged: list[tuple[int, int]]
) -> None:
    evidence = read_sketch(ONE_BEHIND_THE_OTHER.format(between=between)).evidence
    (found,) = (f for f in BY_ID["ACK001"].check(evidence) if isinstance(f, Violation))
    assert (found.start_offset, found.end_offset) == (2, 8)
    assert found.facts["answered_for"] == (said or "offsets 2–7")
    assert (found.facts["more"] == ". Perhaps it acknowledged offsets 3–6 too") == bool(said)
    (loss,) = (loss for loss in losses(evidence) if loss.matters)
    assert [(p.start_offset, p.end_offset) for p in loss.portions if p.worth == "acknowledged"] == acknowledged


LED_AGAIN_SINCE = """
broker 1 00|333
t1 leads 1 epoch 0 at 0 hw 0
t10 acks 1 at 2 acks=1
{own}t3000 leader 2 epoch 2 isr 2 told 1
t3100 truncates 1 to 2
t5000 leads 1 epoch 3 at 2 hw 2
"""


@pytest.mark.parametrize(("own", "confidence"), [("", "possible"), ("t20 leads 1 epoch 1 at 4 hw 2\n", "likely")])
def test_who_led_since_without_a_line_of_its_own_here_makes_an_answer_before_it_late(own: str, confidence: str) -> None:
    """Nothing tells when broker 2 began epoch 2; broker 1 may have opened epoch 1 when it had not heard of it."""
    evidence = read_sketch(LED_AGAIN_SINCE.format(own=own)).evidence
    found = (f for f in BY_ID["ACK001"].check(evidence) if isinstance(f, Violation))
    assert [each.confidence for each in found if each.start_offset == 2] == [confidence]


def test_an_answer_is_of_no_epoch_that_another_broker_led() -> None:
    """Its own role in epoch 1 is not told, and the record stands on its disk."""
    drawn = """
        broker 1 000|
        broker 3 0001|
        t1 leads 1 epoch 0 at 0 hw 0
        t1 follows 3 epoch 0 at 0 hw 0 from 1
        t100 acks 3 at 3 acks=1
    """
    evidence = read_sketch(drawn).evidence
    assert [*BY_ID["ACK001"].check(evidence)] == []
    assert losses(evidence) == ()
