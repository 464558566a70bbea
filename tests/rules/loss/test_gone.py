"""Answers that may be of a later epoch: what is gone for sure is billed, and a repeated answer accuses nobody."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
from rules.loss.incurred import losses
from rules.loss.left_out import left_out
from rules.sketch.notation import read_sketch
from tests.replaced import replace

LED_TWICE = """
broker 1 0000|44
broker 2 0000|44
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 3 acks=all
t3 leads 2 epoch 2 at 2 hw 2
t4 acks 2 at 3 acks=all
t5 leads 1 epoch 4 at 4 hw 4
t6 leads {last} epoch 5 at {opened} hw 4
"""


def evidence(last: int, opened: int, latest: int | None) -> PartitionEvidence:
    """Broker 2 answered at offset 3 in epoch 2, or in one up to the latest."""
    told = read_sketch(LED_TWICE.format(last=last, opened=opened)).evidence
    own = (m.kind == "produced" and m.witness == 2 for m in told.moments)
    moments = (replace(m, latest_term=latest) if mine else m for m, mine in zip(told.moments, own, strict=True))
    return replace(told, chronicle=Chronicle(tuple(moments)))


def said(told: PartitionEvidence) -> list[tuple[bool, int | None, int | None]]:
    """What ACK001 proves or asks of broker 2's records."""
    found = (one for one in BY_ID["ACK001"].check(told) if one.brokers == (2,) and one.start_offset is not None)
    return [(isinstance(one, Violation), one.start_offset, one.end_offset) for one in found]


@pytest.mark.parametrize(
    ("last", "opened", "latest", "proved"),
    [
        (2, 6, None, True),
        # In epoch 5 it had epoch 0's record at 3: a producer that sends it again is answered as it was before.
        (2, 6, 5, False),
        # Another broker led epoch 5, and epoch 3 opened nowhere: broker 2 may have led it with that record.
        (1, 6, 3, False),
        # It began epoch 5 below the record: whichever epoch it was of, it is not what stands there.
        (2, 3, 5, True),
    ],
)
def test_an_answer_that_may_be_a_repeated_one_proves_no_loss(
    last: int, opened: int, latest: int | None, proved: bool
) -> None:
    assert said(evidence(last, opened, latest)) == [(proved, 3, 4)]


@pytest.mark.parametrize("latest", [None, 5])
def test_what_is_proved_to_be_gone_stands_in_the_bill_whatever_epoch_it_is_of(latest: int | None) -> None:
    told = evidence(2, 3, latest)
    assert said(told) == [(True, 3, 4)]
    assert [s for s in left_out(told) if s.epoch == 2 and s.start <= 3 and s.end == 4]


DELETED = """
broker 1 000000|
broker 2 001|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 5 acks=all
t3 fetch 3@6 from 1 hw 6 start={start}
t9 leads 2 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize("rule", ["ACK001", "LEAD001"])
@pytest.mark.parametrize(("start", "gone"), [(5, [(5, 6)]), (6, [])])
def test_what_a_leader_had_deleted_before_is_not_missed(start: int, gone: list[tuple[int, int]], rule: str) -> None:
    evidence = read_sketch(DELETED.format(start=start)).evidence
    found = [one for one in BY_ID[rule].check(evidence) if not isinstance(one, Undecided)]
    assert [(one.start_offset, one.end_offset) for one in found] == gone
    assert [(loss.start_offset, loss.end_offset) for loss in losses(evidence)] == gone
    if rule == "LEAD001" and gone:
        assert str(found[0].facts["because"]).endswith("; records before offset 5 had been deleted")


LED_ON = """
broker 1 00|222222222
broker 2 00|222222222
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at {first} acks=1
t3 acks 1 at 4 acks=all
t4 acks 1 at 5 acks=1
t5 acks 1 at 7 acks=all
{late}t7 leads 1 epoch 1 at 9 hw 2
t9000 leads 2 epoch 2 at 2 hw 2
"""


def of_two_epochs(first: int, late: str) -> PartitionEvidence:
    """Broker 1 answered for all replicas in epoch 0 or in epoch 1, and for itself alone in epoch 0."""
    told = read_sketch(LED_ON.format(first=first, late=late)).evidence
    moments = (replace(m, latest_term=1) if m.kind == "produced" and m.acks == -1 else m for m in told.moments)
    return replace(told, chronicle=Chronicle(tuple(moments)))


@pytest.mark.parametrize(
    ("first", "late", "more", "alone"),
    [
        (2, "", ". Perhaps it acknowledged the others of offsets 2–7 too", []),
        # Nothing for all replicas was answered after this one: another may have led by then.
        (3, "t6 acks 1 at 6 acks=1\n", ". Perhaps it acknowledged offset 6 too", ["offset 6 (acks=1)"]),
    ],
)
def test_one_stretch_is_one_finding_whichever_acknowledgements_alternate_in_it(
    first: int, late: str, more: str, alone: list[str]
) -> None:
    told = of_two_epochs(first, late)
    found = [f for f in BY_ID["ACK001"].check(told) if isinstance(f, Violation)]
    assert [f"{f.facts['answered_for']} ({f.facts['acks']}){f.facts['more']}" for f in found] == [
        f"4 records (2 answers with acks=all, 2 with acks=1){more}",
        *alone,
    ]
    (loss,) = (loss for loss in losses(told) if loss.matters)
    assert (loss.epoch, loss.start_offset, loss.answers) == (0, 2, 4 + bool(late))
