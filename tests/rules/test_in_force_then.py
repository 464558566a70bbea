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
    """A setting as it was changed over time; a broker's release as it printed it."""
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
