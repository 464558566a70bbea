"""What the timeline of a report says: whom a broker follows only where that is told, and every load of a log."""

from __future__ import annotations

from rules.history.milestones import milestones
from rules.sketch.notation import read_sketch
from tests.rules.recast import recast

TOLD = """
broker 1 00|
broker 2 00|
t1000 leads 1 epoch 0 at 0 hw 0
t2000 loads 2 at 2
t3000 follows 2 epoch 0 at 2 hw 2{whom}
t4000 loads 2 at 2
t5000 leads 2 epoch 1 at 2 hw 2
"""


def words(drawing: str) -> list[str]:
    return [milestone.text for milestone in milestones(read_sketch(drawing).evidence.moments, ())]


def test_whom_a_broker_follows_is_said_where_its_line_names_one() -> None:
    said = {whom: words(TOLD.format(whom=whom))[2] for whom in ("", " from 1", " from -1")}
    assert said == {
        "": "broker 2 follows in epoch 0 from offset 2, high watermark 2",
        " from 1": "broker 2 follows broker 1 in epoch 0 from offset 2, high watermark 2",
        " from -1": "broker 2 follows nobody yet in epoch 0 from offset 2, high watermark 2",
    }


def test_a_log_that_is_loaded_twice_is_told_twice() -> None:
    assert words(TOLD.format(whom="")).count("broker 2 loads its log, which ends at offset 2") == 2


def called(drawing: str, times: dict[int, int | None]) -> list[str]:
    """The same with a controller's calls of an election of broker 2, by time and by the epoch that each names."""
    moments = read_sketch(drawing).evidence.moments
    role = moments[-1]
    calls = (
        recast(role, "unclean-election", clock="broker 9", witness=9, leader=2, time=at, epoch=epoch, term=epoch)
        for at, epoch in times.items()
    )
    return [m.text for m in milestones((*moments, *calls), ()) if "uncleanly" in m.text or "epoch 1" in m.text]


def test_an_election_without_an_epoch_stands_where_it_was_called() -> None:
    drawing = TOLD.format(whom="")
    opened = "broker 2 becomes leader in epoch 1, log end 2, high watermark 2"
    assert called(drawing, {4900: None}) == ["the controller elects broker 2 uncleanly", opened]
    assert called(drawing, {4900: None, 4950: 1}) == ["the controller elects broker 2 uncleanly for epoch 1", opened]


def test_where_epochs_have_no_order_the_clock_orders_the_timeline() -> None:
    anew = TOLD.format(whom="") + "t6000 leads 1 epoch 0 at 2 hw 2\n"
    moments = read_sketch(anew).evidence.moments
    told = [milestone.time or 0 for milestone in milestones(moments, (), by_epoch=False)]
    assert told == sorted(told)
    assert [m.time for m in milestones(moments, ())] != told


def test_a_cut_of_the_whole_log_is_told_and_that_of_an_empty_one_is_not() -> None:
    drawing = """
        broker 1 11|
        broker 2 11|
        t1000 follows 2 epoch 0 at {end} hw 0
        t2000 truncates 2 to 0
        t3000 leads 1 epoch 1 at 0 hw 0
    """
    said = "broker 2 truncates its log to offset 0"
    assert [said in words(drawing.format(end=end)) for end in (0, 6)] == [False, True]


def test_a_cut_of_what_was_fetched_in_an_older_term_is_told_whatever_the_last_known_end() -> None:
    drawing = """
        broker 1 11|
        broker 2 11|
        t1000 follows 2 epoch 0 at 0 hw 0
        t1 fetch 2@5 from 1 hw=5 epoch 0
        t1500 leader 1 epoch 1 isr 1 told 2
        t2000 truncates 2 to 0
    """
    assert "broker 2 truncates its log to offset 0" in words(drawing)
