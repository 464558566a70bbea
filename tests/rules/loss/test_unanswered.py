"""What a leader wrote last and no later one had: whether its answers are here to be seen."""

from __future__ import annotations

import pytest

from rules.advice.weigh import advise
from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from tests.replaced import replace

KILLED = """
broker 1 0001|
broker 2 0001|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 0 acks=all
t6 leads 2 epoch 1 at 3 hw 2
t7 loads 1 at 5
t8 follows 1 epoch 1 at 5 hw 2 from 2
t9 acks 2 at 3 acks=all
t9 acks 1 at 5 acks=all error 6
"""


def evidence(drawing: str) -> PartitionEvidence:
    return read_sketch(drawing).evidence


@pytest.mark.parametrize(
    ("gone", "blocking"),
    [
        ([], False),
        # Its answers are not here while the next leader's are: nothing tells how they were asked for.
        (["t2 acks 1 at 0 acks=all\n"], True),
        # Without the log that tells of restarts a role proves no process that went on.
        (["t7 loads 1 at 5\n"], False),
        # Nobody logs requests: the records are gone, and nothing tells whether anybody misses them.
        (["t2 acks 1 at 0 acks=all\n", "t9 acks 2 at 3 acks=all\n", "t9 acks 1 at 5 acks=all error 6\n"], True),
        # Its log of requests may have been cut behind the last answer that it tells of.
        (["t9 acks 1 at 5 acks=all error 6\n"], True),
    ],
)
def test_what_no_later_leader_had_is_asked_for_by_its_range(gone: list[str], blocking: bool) -> None:
    drawing = KILLED
    for line in gone:
        drawing = drawing.replace(line, "")
    (question,) = (q for q in BY_ID["ACK001"].check(evidence(drawing)) if isinstance(q, Undecided))
    assert (question.brokers, question.start_offset, question.end_offset) == ((1,), 3, 5)
    assert "[3, 5) of epoch 0" in question.reason
    assert question.blocking == blocking


def test_what_still_stands_and_a_restart_would_cut_is_never_clean() -> None:
    standing = evidence(KILLED.replace("broker 1 0001|", "broker 1 000|00"))
    (question,) = (q for q in BY_ID["ACK001"].check(standing) if isinstance(q, Undecided))
    assert (question.start_offset, question.end_offset, question.blocking) == (3, 5, True)
    (restart,) = (g for a in advise(standing) for g in a.gates if g.action == "restart broker 1")
    assert restart.going == "unknown"


def test_a_leader_without_any_log_is_asked_beyond_where_the_next_one_opened() -> None:
    silent = "broker 1 0001|\nbroker 2 0001|\nt1 leader 1 epoch 0 isr 1,2\nt6 leads 2 epoch 1 at 3 hw 3\n"
    (question,) = (q for q in BY_ID["ACK001"].check(evidence(silent)) if isinstance(q, Undecided))
    assert (question.start_offset, "from offset 3 on" in question.reason) == (3, True)


LOST = """
broker 1 00|33
broker 2 00|33
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 2 acks=1
t3 acks 1 at 3 acks=1
t3 leader 1 epoch 1 isr 1,2
t3 leader 1 epoch 2 isr 1,2
t4 leads 2 epoch 3 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("latest", "said", "billed"),
    [
        ((None, None), "epoch 0", {"epoch 0"}),
        ((2, 2), "an epoch from 0 to 2", {"an epoch from 0 to 2"}),
        ((None, 2), "epoch 0, some perhaps of later ones up to 2", {"epoch 0", "an epoch from 0 to 2"}),
    ],
)
def test_answers_that_may_be_of_later_epochs_are_not_said_to_be_of_the_first(
    latest: tuple[int | None, int | None], said: str, billed: set[str]
) -> None:
    told = evidence(LOST)
    of = iter(latest)
    moments = tuple(replace(m, latest_term=next(of)) if m.kind == "produced" else m for m in told.moments)
    known = replace(told, chronicle=Chronicle(moments))
    (found,) = (v for v in BY_ID["ACK001"].check(known) if isinstance(v, Violation))
    rest = ". That includes the rest of the batch that begins at offset 3"
    assert (found.facts["epochs"], found.facts["rest"]) == (said, rest)
    assert {bill.epochs for bill in losses(known)} == billed


HOLED = """
broker 1 0|
broker 2 0|
t1 loads 1 at 0
t2 leads 1 epoch 1 at 0 hw 0
t4 acks 1 at {place} acks=1
t5 leads 2 epoch 2 at 1 hw 0
t6 follows 1 epoch 2 at 3 hw 0 from 2
"""


@pytest.mark.parametrize(
    ("place", "between", "said"),
    [
        (1, "", [(0, 1)]),
        (0, "", []),
        # It may be the one that failed.
        (1, "t3 acks 1 at 0 acks=all error 7\n", []),
    ],
)
def test_records_before_an_answered_one_were_answered_too(place: int, between: str, said: list[object]) -> None:
    drawing = HOLED.format(place=place).replace("t4", f"{between}t4")
    asked = (q for q in BY_ID["ACK001"].check(evidence(drawing)) if isinstance(q, Undecided) and q.blocking)
    assert [(q.start_offset, q.end_offset) for q in asked] == said
