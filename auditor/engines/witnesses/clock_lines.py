"""What the times of brokers' lines show of their clocks, by the lines of all partitions that a unit tells of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from auditor.engines.opened.unit_facts import unit_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.names_of_ids import Spoken
from auditor.engines.witnesses.zoned_times import Zones
from rules.history import falling_times
from rules.history.falling_times import dated_lines, falls_in
from rules.history.role_times import clocks_apart, role_times_in
from rules.history.steady import by_clock, steady_in
from rules.narrow.facts import Fact, Surroundings


def of_lines(unit: ReadUnit, spoken: Spoken) -> Iterator[Fact]:
    """One fact of a unit whose lines are dated: where times fall, where they are close, and when roles were taken."""
    written = {name: [*filter(dated_lines, said)] for name, said in spoken.items()}
    lines = [line for said in written.values() for line in said]
    if lines:
        zones = Zones(unit.log_timezones)
        dated = {name: zones.of_moments(said) for name, said in written.items()}
        instants = [line for said in dated.values() for line in said]
        falls = falls_in(instants) if falls_in(lines) else ()
        roles = role_times_in({(topic or "", partition): own for (topic, partition), own in dated.items()})
        known = structs.replace(unit_fact(unit, None, None), steady=steady_in(instants), role_times=roles)
        yield structs.replace(known, falls=falls)


def with_lines(known: Surroundings, facts: Iterable[Fact]) -> Surroundings:
    """What is known of a cluster, with what the lines of its brokers' own logs show of their clocks."""
    every = [*facts]
    falls = (each for fact in every for each in fact.falls if each.line.source not in known.disowned)
    steady = (each for fact in every for each in fact.steady if each.source not in known.disowned)
    apart = clocks_apart(each for fact in every for each in fact.role_times if each.source not in known.disowned)
    return structs.replace(known, falls=falling_times.by_clock(falls), steady=by_clock(steady), apart=apart)
