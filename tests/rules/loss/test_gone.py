"""Answers that may be of a later epoch: what is gone for sure is billed, and a repeated answer accuses nobody."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
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


@pytest.mark.parametrize(("start", "gone"), [(5, [(5, 6)]), (6, [])])
def test_what_a_leader_had_deleted_before_is_not_missed(start: int, gone: list[tuple[int, int]]) -> None:
    found = BY_ID["ACK001"].check(read_sketch(DELETED.format(start=start)).evidence)
    assert [(one.start_offset, one.end_offset) for one in found if not isinstance(one, Undecided)] == gone
