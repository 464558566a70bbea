"""Restarts that no line tells of, from what they left behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rules.history.moments import ROLE_KINDS, Moment, gives_role
from rules.history.statements import LogEvent, Role
from rules.protocol.versions import parse_kafka_version


def untelling(binaries: Mapping[int, str | None]) -> frozenset[str]:
    """Clocks of brokers before 1.0, of which no line is read that tells of a log that was loaded."""
    known = ((broker, parse_kafka_version(binary)) for broker, binary in binaries.items() if binary)
    return frozenset(f"broker {broker}" for broker, version in known if version and not version.at_least(1))


def with_restarts(moments: Sequence[Moment], untelling: Collection[str] = ()) -> tuple[Moment, ...]:
    """The statements, with every restart that only a role taken as if it were the first tells of.

    Where brokers tell of no restart, a role that is given again in an epoch may come after one.
    """
    return tuple(_restarted(moments, untelling))


def _restarted(moments: Sequence[Moment], untelling: Collection[str]) -> Iterator[Moment]:
    loaded: set[str] = set()
    given: dict[str, int | None] = {}
    for moment in moments:
        if moment.kind == "log-loaded":
            loaded.add(moment.clock)
        elif moment.kind in ROLE_KINDS:
            if moment.fresh and moment.clock not in loaded:
                yield _load(moment)
            loaded.discard(moment.clock)
        elif gives_role(moment) and moment.clock in untelling:
            if given.get(moment.clock) == moment.epoch is not None:
                yield _load(moment)
            given[moment.clock] = moment.epoch
        yield moment


def _load(role: Role) -> LogEvent:
    return LogEvent(
        kind="log-loaded", clock=role.clock, witness=role.witness,
        broker=role.witness if role.broker is None else role.broker,
        time=role.time, term=role.term, doubtful=True, span=role.span,
    )  # fmt: skip
