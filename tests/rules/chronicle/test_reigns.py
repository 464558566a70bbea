"""Who led when by the leaders' own logs: a reign is the same one whatever number its epoch bears."""

from __future__ import annotations

from rules.chronicle.acknowledged import last_untold
from rules.chronicle.chronicle import Chronicle
from rules.sketch.notation import read_sketch


def told(events: str) -> Chronicle:
    return read_sketch(f"broker 1 0000|\nbroker 2 0000|\n{events}").evidence.chronicle


def test_a_number_that_is_used_twice_stands_for_two_reigns() -> None:
    found = told(
        "t1 leads 1 epoch 0 at 0 hw 0\nt2 follows 1 epoch 1 at 2 hw 2 from 2\nt3 leads 1 epoch 0 at 4 hw 4\n"
        "t4 leads 2 epoch 0 at 5 hw 5\n"
    ).reigns
    assert [(reign.identity, reign.epoch) for reign in found] == [((1, 0), 0), ((1, 1), 0), ((2, 0), 0)]


def test_a_lead_without_a_break_goes_on_through_epochs_and_ends_with_another_role() -> None:
    found = told(
        "t1 leads 1 epoch 0 at 0 hw 0\nt2 leads 1 epoch 1 at 2 hw 2\nt3 follows 1 epoch 2 at 4 hw 2 from 2\n"
        "t4 leads 1 epoch 3 at 3 hw 3\n"
    ).reigns
    assert [(reign.epoch, reign.lead) for reign in found] == [(0, (0,)), (1, (0, 1)), (3, (3,))]
    assert [(reign.start_offset, reign.end_offset) for reign in found] == [(0, 2), (0, 4), (3, None)]


def test_a_start_of_the_process_ends_a_lead() -> None:
    found = told("t1 leads 1 epoch 0 at 0 hw 0\nt2 loads 1 at 2\nt3 leads 1 epoch 1 at 2 hw 2\n").reigns
    assert [reign.lead for reign in found] == [(0,), (1,)]


def test_what_a_broker_writes_is_said_in_the_reign_in_which_it_writes_it() -> None:
    found = told(
        "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 0 acks=1\nt3 follows 1 epoch 1 at 1 hw 0 from 2\n"
        "t3 leads 2 epoch 1 at 1 hw 0\nt4 acks 2 at 1 acks=1\n"
    ).reigns
    answered = {reign.identity: [m.offset for m in reign.said if m.kind == "produced"] for reign in found}
    assert answered == {(1, 0): [0], (2, 0): [1]}


def test_roles_stand_before_and_after_what_their_broker_tells() -> None:
    chronicle = told("t1 leads 1 epoch 0 at 0 hw 0\nt2 loads 1 at 2\nt3 follows 1 epoch 1 at 2 hw 2 from 2\n")
    (load,) = (moment for moment in chronicle.moments if moment.kind == "log-loaded")
    before, after = chronicle.roles_around(load)
    assert before is not None
    assert after is not None
    assert (before.epoch, after.epoch) == (0, 1)


def test_a_leader_is_deposed_where_a_newer_role_follows_at_once() -> None:
    at_once = told("t1 leads 1 epoch 0 at 0 hw 0\nt2 follows 1 epoch 1 at 2 hw 2 from 2\nt3 truncates 1 to 1\n")
    ((led, follows, behind),) = at_once.stories["broker 1"].deposed()
    assert (led.epoch, follows.epoch) == (0, 1)
    assert behind is not None
    assert behind.kind == "truncated"
    restarted = told("t1 leads 1 epoch 0 at 0 hw 0\nt2 loads 1 at 2\nt3 follows 1 epoch 1 at 2 hw 2 from 2\n")
    assert list(restarted.stories["broker 1"].deposed()) == []


def test_answers_are_found_by_their_leader_and_its_clock() -> None:
    acks = "t2 acks 1 at 0 acks=1\nt3 acks 1 at 1 acks=1\nt4 acks 1 at 2 acks=1\n"
    chronicle = told(f"t1 leads 1 epoch 0 at 0 hw 0\n{acks}")
    times = [m.time or 0 for m in chronicle.moments if m.kind == "produced"]
    between = chronicle.acknowledged.between("broker 1", times[1], times[2])
    assert [m.offset for m in between] == [1]
    assert [m.offset for m in chronicle.acknowledged.between("broker 1", times[1], None)] == [1, 2]
    assert chronicle.acknowledged.between("broker 2", times[0], None) == []


def test_an_epoch_that_nobody_tells_to_have_opened_may_be_anybodys() -> None:
    chronicle = told("t1 leads 1 epoch 0 at 0 hw 0\nt2 leads 2 epoch 1 at 2 hw 2\nt3 leader -1 epoch 3 isr 2\n")
    assert last_untold(chronicle.moments, chronicle.leaders, 1) == {1: -1, 2: -1}
    assert last_untold(chronicle.moments, chronicle.leaders, 3) == {1: 2, 2: 2}, "epoch 3 was given to nobody"
