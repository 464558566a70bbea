"""What the times of brokers' lines show of their clocks, by the lines of all partitions that a unit tells of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from auditor.engines.opened.unit_facts import told_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.told.topic_ids_told import Spoken
from auditor.engines.told.zoned_times import Zones
from rules.history import falling_times
from rules.history.falling_times import dated_lines, falls_in
from rules.history.steady import by_clock, steady_in
from rules.narrow.facts import Fact, Surroundings


def of_lines(unit: ReadUnit, spoken: Spoken) -> Iterator[Fact]:
    """One fact of a unit whose lines are dated: where their times fall, and when they follow each other closely."""
    lines = [line for line in (moment for said in spoken.values() for moment in said) if dated_lines(line)]
    if lines:
        instants = Zones(unit.log_timezones).of_moments(lines)
        falls = falls_in(instants) if falls_in(lines) else ()
        yield structs.replace(told_fact(unit, None, None), falls=falls, steady=steady_in(instants))


def with_lines(known: Surroundings, facts: Iterable[Fact]) -> Surroundings:
    """What is known of a cluster, with what the lines of its brokers' own logs show of their clocks."""
    told = [*facts]
    falls = (each for fact in told for each in fact.falls if each.line.source not in known.disowned)
    steady = (each for fact in told for each in fact.steady if each.source not in known.disowned)
    return structs.replace(known, falls=falling_times.by_clock(falls), steady=by_clock(steady))
