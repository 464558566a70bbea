"""Event sketches: every event is written as a line that reads back into it, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.event_sketch import (
    Appended,
    Crashed,
    Elected,
    Event,
    Fetched,
    Flushed,
    HighWatermarkWritten,
    IsrChanged,
    PagesLost,
    Produced,
    Restarted,
    Stopped,
    Truncated,
    read_event,
    read_events,
    write_event,
    write_events,
)
from rules.sketch import SketchError

N = st.integers(0, 2**63 - 1)
ISR = st.lists(N, min_size=1, max_size=4).map(tuple)
PLACE = {"time": N, "broker": N}
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Produced, **PLACE, records=N, acks=st.sampled_from(["all", "1", "0"])),
    st.builds(Appended, **PLACE, start_offset=N, end_offset=N, epoch=N),
    st.builds(Fetched, **PLACE, offset=N, leader=st.none() | N, high_watermark=st.none() | N),
    st.builds(Crashed, **PLACE),
    st.builds(Stopped, **PLACE),
    st.builds(Restarted, **PLACE),
    st.builds(PagesLost, **PLACE, offset=N),
    st.builds(Flushed, **PLACE, offset=N),
    st.builds(HighWatermarkWritten, **PLACE, high_watermark=N),
    st.builds(Elected, **PLACE, epoch=N, isr=st.just(()) | ISR, unclean=st.booleans()),
    st.builds(IsrChanged, **PLACE, isr=ISR),
    st.builds(Truncated, **PLACE, offset=N),
)


@given(EVENTS)
def test_an_event_is_written_and_read(event: Event) -> None:
    assert read_event(write_event(event)) == event


@given(st.lists(EVENTS, max_size=6))
def test_a_script_is_written_and_read(events: list[Event]) -> None:
    ordered = tuple(sorted(events, key=lambda event: event.time))
    assert read_events(write_events(ordered)) == ordered


def test_a_script_as_people_write_it() -> None:
    text = """
        t0 elect 1 epoch 0   isr 1,2   # the first leader

        t1 produce 1 x5
        t3 fetch 2@1 hw=1
        t4 crash 1
        t4 lose-pages 1 from 3
        t5 elect 2 epoch 1 unclean
    """
    assert read_events(text) == (
        Elected(time=0, broker=1, epoch=0, isr=(1, 2)),
        Produced(time=1, broker=1, records=5),
        Fetched(time=3, broker=2, offset=1, high_watermark=1),
        Crashed(time=4, broker=1),
        PagesLost(time=4, broker=1, offset=3),
        Elected(time=5, broker=2, epoch=1, unclean=True),
    )


@pytest.mark.parametrize(
    "line",
    ["t1", "crash 1", "t1 explode 1", "t1 crash", "t1 crash 1 now", "t1 fetch 2", "t1 append 2 5 epoch 1", "t1 isr 1",
     "t1 elect 2 epoch", "t1 produce 1 5", "t-1 crash 1", "t1 truncate 1 to -3"],
)  # fmt: skip
def test_what_is_no_event_is_refused_with_its_words(line: str) -> None:
    with pytest.raises(SketchError, match="expected an event such as") as refused:
        read_event(line)
    assert repr(line) in str(refused.value)


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(SketchError, match="from t5 on"):
        read_events("t5 crash 1\nt4 restart 1")
