"""Rules that judge by what was in force when something happened, not by what is set or runs now."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.catalog import BY_ID
from rules.finding import Undecided, Violation
from rules.settings import KAFKA_VERSION, UNCLEAN, Setting, settings_of
from rules.sketch.notation import read_sketch
from tests.replaced import replace
from tests.rules.test_cuts_before_1_0 import CUT

TWO_ELECTIONS = """
broker 1 0000|
broker 2 0000|
t1 leader 1 epoch 0 isr 1 of 1,2
t2 leader 2 epoch 1 isr 2 of 1,2
t3 leader 1 epoch 2 isr 1 of 1,2
"""
"""Both elect from outside the ISR."""


def since(values: dict[int, str], name: str, clock: str, broker: int | None = None) -> list[Setting]:
    """A setting as it was ordered over time; a broker's release as it printed it."""
    return [
        Setting(
            name=name, value=value, origin="metadata" if broker is None else "log", broker=broker, since=time,
            clock=clock, span=Span(source="settings", start=time, end=time + 1),
        )
        for time, value in values.items()
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({0: "false", 3: "true"}, [(1, 3)]),
        ({0: "true", 3: "false"}, [(2, 2)]),
        ({0: "true"}, [(2, 2)]),
        ({0: "false", 4: "true"}, []),
    ],
)
def test_an_election_is_laid_to_the_value_that_was_set_then(
    values: dict[int, str], named: list[tuple[int, int]]
) -> None:
    """The first of two elections may have been one that a person forced past the setting: the second is still named."""
    drawn = read_sketch(TWO_ELECTIONS)
    evidence = replace(drawn.evidence, settings=settings_of(since(values, UNCLEAN, "order")))
    times = {m.span: m.time for m in evidence.moments}
    said = tuple(BY_ID["CONF001"].check(evidence))
    assert [(v.brokers, times[v.exhibits[-1].span]) for v in said if isinstance(v, Violation)] == [
        ((broker,), time) for broker, time in named
    ]
    assert not any(isinstance(each, Undecided) for each in said)


@pytest.mark.parametrize(
    ("then", "later", "asked"), [("0.10.2.2", "1.1.1", True), ("1.1.1", "0.11.0.3", False), ("0.11.0.3", "3.9.1", True)]
)
def test_a_cut_is_judged_by_the_release_that_made_it(then: str, later: str, asked: bool) -> None:
    """A broker that was upgraded since tells its high watermark now; before the cut it could not."""
    evidence = read_sketch(CUT.format(release=later, committed=4)).evidence
    told = settings_of(since({0: then, 9_000_000: later}, KAFKA_VERSION, "broker 2", broker=2))
    said = [type(each) for each in BY_ID["TRUNC001"].check(replace(evidence, settings=told))]
    assert said == ([Undecided] if asked else [])


TWO_IN_SYNC = """
kafka 1 4.0.0
broker 1 0x8|
broker 2 0x8|
broker 3 0x2|
t1 leader 1 epoch 0 isr 1,2 of 1,2,3 record
t1000 leads 1 epoch 0 at 0 hw 0 isr 1,2 version 1
t2000 fetch 2@2 from 1 hw=0
t3000 acks 1 at 1 acks=all
t4000 fetch 2@2 from 1 hw=2
t10000 fetch 2@4 from 1 hw=2
t11000 fetch 2@6 from 1 hw=2
t12000 fetch 2@8 from 1 hw=2
t13000 fetch 2@8 from 1 hw=2
t20000 fetch 2@8 from 1 hw=2
"""
"""From a time before 10 s on the high watermark rests, as it must below min.insync.replicas."""
OPENING = "t1000 leads 1 epoch 0 at 0 hw 0 isr 1,2 version 1\n"
RAISED = {0: "2", 5_000: "3"}


def watermarks(drawing: str, values: dict[int, str], *tellers: str) -> list[tuple[str, int | None, int | None]]:
    """What is found of high watermarks, under min.insync.replicas as the controllers' record or brokers tell it."""
    by = ["" if teller == "controller" else f" by {teller}" for teller in tellers]
    told = (f"t{time} sets min.insync.replicas {value}{who}" for who in by for time, value in values.items())
    evidence = read_sketch("\n".join([drawing, *told])).evidence
    said = ((rule, each) for rule in ("HW002", "HW003", "HW004", "HW006") for each in BY_ID[rule].check(evidence))
    return [(rule, each.start_offset, each.end_offset) for rule, each in said if isinstance(each, Violation)]


@pytest.mark.parametrize("tellers", [("1", "controller"), ("1",), ("controller",)])
@pytest.mark.parametrize("left_out", ["", "t3000 acks 1 at 1 acks=all\n", OPENING])
def test_a_high_watermark_rests_once_more_must_be_in_sync(tellers: tuple[str, ...], left_out: str) -> None:
    """That two in sync were enough for an acknowledgement says nothing of later, nor does the value at the end."""
    assert watermarks(TWO_IN_SYNC.replace(left_out, "", 1), RAISED, *tellers) == []


BEGINS_LATE = (
    TWO_IN_SYNC[: TWO_IN_SYNC.index(OPENING)]
    + "t10000 trace 1 begins\n"
    + TWO_IN_SYNC[TWO_IN_SYNC.index("t10000") :]
)


def test_what_was_committed_before_the_trace_began_was_so_under_the_value_of_then() -> None:
    assert watermarks(BEGINS_LATE, RAISED, "1", "controller") == []
    # Three were asked for all the time, and one of them left the ISR before the trace began.
    shrunk = BEGINS_LATE.replace("isr 1,2 of 1,2,3 record", "isr 1,2,3 of 1,2,3 record")
    shrunk = shrunk.replace(
        "t10000 trace", f"{OPENING.replace('1,2', '1,2,3')}t5000 isr 1 now 1,2 version 2\nt10000 trace"
    )
    assert watermarks(shrunk, {0: "3"}, "1") == []


def test_an_acknowledgement_shows_what_was_asked_for_then_and_nothing_of_later() -> None:
    """Where nothing tells of the setting, nothing would tell that it was changed either."""
    said = [each for rule in ("HW004", "HW006") for each in BY_ID[rule].check(read_sketch(TWO_IN_SYNC).evidence)]
    assert not any(isinstance(each, Violation) for each in said)
    assert watermarks(TWO_IN_SYNC, {0: "2"}, "1") == [("HW006", 2, 8)]


MOVES = (
    TWO_IN_SYNC.replace("@6 from 1 hw=2", "@6 from 1 hw=4")
    .replace("t12000 fetch 2@8 from 1 hw=2", "t12000 fetch 2@8 from 1 hw=6")
    .replace("@8 from 1 hw=2", "@8 from 1 hw=8")
)


@pytest.mark.parametrize(
    ("values", "tellers", "said"),
    [
        ({0: "2"}, ("1",), []),
        (RAISED, ("1",), [("HW003", 4, 6)]),
        (RAISED, ("1", "controller"), [("HW003", 4, 6)]),
        # The leader goes by a value once it has taken it over: the controller's record does not say when it did.
        (RAISED, ("controller",), []),
        (RAISED, ("controller", "2"), []),
        # A moment passes between the line that tells a new value and its effect.
        ({0: "2", 11_500: "3"}, ("1",), []),
        # It was smaller for a while: neither at the lead's beginning nor at its end.
        ({0: "3", 1_500: "2", 19_000: "3"}, ("1",), []),
        ({0: "2", 5_000: "3", 10_500: "2", 19_000: "3"}, ("1",), []),
    ],
)
def test_a_high_watermark_moves_only_while_enough_are_in_sync(
    values: dict[int, str], tellers: tuple[str, ...], said: list[tuple[str, int, int]]
) -> None:
    assert watermarks(MOVES, values, *tellers) == said


def test_what_was_fetched_while_it_rested_is_counted_when_it_is_weighed_again() -> None:
    """No change of a setting is weighed: the next fetch that tells another log end is, or the next record."""
    values = {0: "2", 5_000: "3", 12_500: "2"}
    assert watermarks(TWO_IN_SYNC, values, "1") == []
    later = "t30000 fetch 2@9 from 1 hw=2\nt40000 fetch 2@10 from 1 hw=2\nt41000 fetch 2@10 from 1 hw=2\n"
    assert watermarks(TWO_IN_SYNC.replace("0x8", "0x10") + later, values, "1") == [("HW006", 2, 10)]


@pytest.mark.parametrize(
    ("silence", "said"),
    [
        ("", [("HW003", 4, 6)]),
        # What broker 2 asked meanwhile nobody logged.
        ("t11100 trace 1 lacks until 11900", []),
        ("t11100 trace 1 pauses until 11900", [("HW003", 4, 6)]),
        # All that it answered before is there.
        ("t20000 trace 1 ends", [("HW003", 4, 6)]),
    ],
)
def test_where_a_request_log_lacks_lines_nothing_is_said_of_what_it_lacks(
    silence: str, said: list[tuple[str, int, int]]
) -> None:
    assert watermarks(f"{MOVES}{silence}\n", RAISED, "1") == said
