"""Where times fall in the logs of brokers, by the lines of all partitions that a unit tells of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.engines.facts import told_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.told.topic_names import Spoken
from auditor.engines.told.zones import Zones
from rules.history.falling_times import falls_in
from rules.narrow.assemble import Fact


def of_falls(unit: ReadUnit, spoken: Spoken) -> Iterator[Fact]:
    """One fact of a unit whose times fall."""
    found = falls_in(moment for said in spoken.values() for moment in said)
    if found and (found := falls_in(Zones(unit.log_timezones).of_moments([m for s in spoken.values() for m in s]))):
        yield replace(told_fact(unit, None, None), falls=found)
