"""What the times of brokers' lines show of their clocks, by the lines of all partitions that a unit tells of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.engines.facts import told_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.told.topic_ids_told import Spoken
from auditor.engines.told.zoned_times import Zones
from rules.history.falling_times import dated_lines, falls_in
from rules.history.steady import steady_in
from rules.narrow.facts import Fact


def of_lines(unit: ReadUnit, spoken: Spoken) -> Iterator[Fact]:
    """One fact of a unit whose lines are dated: where their times fall, and when they follow each other closely."""
    lines = [line for line in (moment for said in spoken.values() for moment in said) if dated_lines(line)]
    if lines:
        instants = Zones(unit.log_timezones).of_moments(lines)
        falls = falls_in(instants) if falls_in(lines) else ()
        yield replace(told_fact(unit, None, None), falls=falls, steady=steady_in(instants))
