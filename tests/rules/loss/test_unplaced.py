"""What brokers acknowledged and who led last has not, where no log tells where a later epoch opened."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.finding import Undecided
from rules.sketch.notation import read_sketch

UNTOLD = """
broker 1 00|
broker 2 {held}
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 1 acks=1
t3 leader 2 epoch {epoch} isr 1,2
"""


def asked(drawing: str) -> list[tuple[tuple[int, ...], int | None, int | None]]:
    """What ACK001 leaves the verdict open for, and that it claims nothing."""
    said = list(BY_ID["ACK001"].check(read_sketch(drawing).evidence))
    assert all(isinstance(one, Undecided) for one in said)
    return [
        (one.brokers, one.start_offset, one.end_offset) for one in said if isinstance(one, Undecided) and one.blocking
    ]


def test_the_log_that_leads_lacks_what_was_acknowledged() -> None:
    assert asked(UNTOLD.format(held="0|", epoch=2)) == [((1,), 1, 2)]


@pytest.mark.parametrize(
    ("held", "epoch"),
    [
        ("00|", 2),
        ("00|1", 2),
        # Whether more follows in a log whose broker did not shut down cleanly is open.
        ("0| ; unclean", 2),
        # Who leads still is judged by what its own log was found to lack.
        ("0|", 0),
    ],
)
def test_what_it_has_or_may_have_is_not_asked_for(held: str, epoch: int) -> None:
    assert asked(UNTOLD.format(held=held, epoch=epoch)) == []


def test_who_was_elected_and_took_no_role_yet_has_not_led() -> None:
    follows = "t1 follows 2 epoch 0 at 0 hw 0 from 1\nt2 acks"
    assert asked(UNTOLD.format(held="0|", epoch=2).replace("t2 acks", follows)) == []


WITHOUT_EPOCHS = """
broker 1 -|
broker 2 ----|
t1 leader 1 epoch 0 isr 1,2 told 1
t2 acks 1 at 0 acks=1
t3 acks 1 at 2 acks=1
t4 leader 2 epoch 1 isr 1,2 told 1
t4 leader 2 epoch 1 isr 1,2 told 2
t5 acks 2 at {place} acks=1
"""


@pytest.mark.parametrize(("place", "said"), [(1, [((1,), 2, 3)]), (2, [((1,), 2, 3)]), (3, [])])
def test_who_led_last_wrote_others_in_their_place(place: int, said: list[object]) -> None:
    assert asked(WITHOUT_EPOCHS.format(place=place)) == said


def test_where_batches_carry_epochs_an_answer_may_be_one_given_again() -> None:
    drawing = WITHOUT_EPOCHS.replace("1 -|", "1 0|").replace("----|", "0000|")
    assert asked(drawing.format(place=2)) == []


TAKEN_BACK = """
broker 1 ----|
broker 2 ----|
t1 leader 1 epoch 0 isr 1,2 told 1
t2 acks 1 at 2 acks=1
{between}
t4 leader 2 epoch 1 isr 1,2 told 1
t4 leader 2 epoch 1 isr 1,2 told 2
{since}
"""


@pytest.mark.parametrize(
    ("between", "since", "said"),
    [
        ("", "t5 truncates 1 to 1", [((1,), 2, 3)]),
        # The next leader had fetched it, or its own leader is not seen to cut it.
        ("t3 fetch 2@3 from 1 hw=2", "t5 truncates 1 to 1", []),
        ("", "t5 truncates 1 to 3", []),
        ("", "", []),
    ],
)
def test_who_cut_what_it_answered_for_leaves_open_whose_records_stand_there(
    between: str, since: str, said: list[object]
) -> None:
    assert asked(TAKEN_BACK.format(between=between, since=since)) == said
