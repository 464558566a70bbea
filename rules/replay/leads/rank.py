"""The settings under which a leader counts: those in force where they are told, else the defaults of its release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.history.clocks import Clocks
from rules.history.moments import Moment, assigned, in_sync
from rules.history.statements import PartitionState, Role
from rules.protocol.isr import default_lag_time_max_ms
from rules.protocol.numbers import whole_number
from rules.protocol.versions import KafkaVersion, parse_kafka_version
from rules.protocol.watermarks import advances_at_min_isr, high_watermark_rule
from rules.replay.leads.asked_in_sync import AskedInSync, OverTime, asked_in_sync
from rules.replay.leads.by_clock_and_epoch import Statements
from rules.replay.leads.served_leads import ServedLead
from rules.replicas.replica import Replica
from rules.settings import KAFKA_VERSION, LAG_TIME

STARTING_MS: Final = 120_000
"""A broker prints its release when it has started, after the first roles that it takes."""

Lookup = Callable[[int, str, Moment | None, Clocks], str | None]
"""The value of a setting in force for the partition on a broker at a moment, or None where that is not certain."""


def nothing_told(_broker: int, _name: str, _at: Moment | None, _clocks: Clocks) -> str | None:
    """The look-up of a dump that tells no settings."""
    return None


def release_at(
    broker: int, at: Moment | None, lookup: Lookup, clocks: Clocks, last: str | None
) -> str | None:
    """What a broker ran at a moment, as far as its log goes back, else what it ran last; None about an upgrade."""
    if at is None or at.time is None:
        return last
    soon = replace(at, time=at.time + STARTING_MS)
    then, later = (lookup(broker, KAFKA_VERSION, moment, clocks) for moment in (at, soon))
    return None if then is not None and then != later else later or last


class Rank(Struct, frozen=True, kw_only=True):
    """What a leader counts by during one lead."""

    version: KafkaVersion | None
    replicas: frozenset[int]
    """The assignment, as far as it is known; more than it where others fetched too."""
    everyone_known: bool = True
    """Whether no replica can have escaped: something tells of the assignment, and not only of who fetched lately."""
    assigned: int | None = None
    """The smallest assignment that the controller told."""
    lag_time_max_ms: int | None = None
    """Null where no setting tells it for the whole lead."""
    min_in_sync: AskedInSync = AskedInSync()
    gated: bool | None = None
    """Whether an ISR below min.insync.replicas holds the high watermark (3.7 on); None of an unknown release."""

    @property
    def lag_limit_ms(self) -> int | None:
        """How long a follower may lag: as set, or by default; None where neither is known."""
        if self.lag_time_max_ms is not None:
            return self.lag_time_max_ms
        return None if self.version is None else default_lag_time_max_ms(self.version)


class Assigned(Struct, frozen=True, kw_only=True):
    """What is told of the replicas that a partition is assigned to."""

    least: int | None
    """The smallest assignment that the controller told."""
    known: bool
    """Whether the controller told one, or replicas were found."""
    members: bool
    """Whether anybody told an ISR."""


def once_assigned(moments: Sequence[Moment], replicas: Sequence[Replica]) -> frozenset[int]:
    """Every broker that any state names, that fetched as a replica, or that has a replica here."""
    states = [m for m in moments if isinstance(m, Role)]
    named = {broker for m in states for broker in (*assigned(m), *in_sync(m))}
    former = {broker for m in states if isinstance(m, PartitionState) for broker in m.previous_isr or ()}
    asked = {m.broker for m in moments if m.kind == "fetched" and m.broker is not None}
    return frozenset(named | former | asked | {r.broker for r in replicas if r.state == "current"})


def assigned_to(statements: Statements) -> Assigned:
    """What all statements tell of the assignment."""
    moments = statements.moments
    sizes = [len(m.replicas) for m in moments if m.kind == "leadership" and m.replicas]
    known = bool(statements.replicas or sizes)
    return Assigned(least=min(sizes, default=None), known=known, members=any(map(in_sync, moments)))


def rank_of(
    lead: ServedLead,
    replicas: frozenset[int],
    assigned: Assigned,
    binary: str | None,
    lookup: Lookup,
    clocks: Clocks,
    *,
    over_time: OverTime,
) -> Rank:
    """What is known of a lead's leader."""

    def number(name: str) -> int | None:
        """A setting that is never set while a broker runs: it held from the first to the last statement of the lead."""
        ends = [m for m in (lead.opening, *lead.rows[:1], *lead.rows[-1:]) if m is not None]
        values = {lookup(lead.leader, name, moment, clocks) for moment in ends or (None,)}
        value = values.pop() if len(values) == 1 else None
        return whole_number(value)

    version = parse_kafka_version(binary) if binary else None
    rule = None if version is None else high_watermark_rule(version)
    return Rank(
        version=version,
        gated=None if rule is None else rule.may_advance is advances_at_min_isr,
        replicas=replicas,
        everyone_known=assigned.known or (assigned.members and not lead.begun_unseen),
        assigned=assigned.least,
        lag_time_max_ms=number(LAG_TIME),
        min_in_sync=asked_in_sync(lead, over_time, clocks),
    )
