"""CONF001: a setting in force allowed what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.tables import BrokerSetting, ConfigChange, MetadataChange
from rules.evidence import PartitionEvidence
from rules.evidence.allowed import Allowed, NotTold, allowed
from rules.finding import PLACE_OF_NAMES, Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule
from rules.words import quoted


@rule(
    id="CONF001",
    severity=Severity.LOW,
    needs=(BrokerSetting, ConfigChange, MetadataChange),
    law="durability as configured",
    message="{allowed:.}",
    bearing=Bearing(
        calls_for=f"Review {PLACE_OF_NAMES}. This allowed what happened, and may allow it again.", names="as_set"
    ),
)
def durability_not_configured(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A setting in force at the time allowed what happened then.

    No setting is reported for itself. It was in force at an unclean election, a loss, a cut, damage or a refusal,
    which another value of it would have prevented. A topic's own value goes before its brokers', and theirs before
    what they had by default. The replication factor is the number of brokers to which the partition is assigned.

    Proves
    ------
    What happened was allowed by configuration, and by which value, told where.

    Undecided when
    --------------
    The setting is not told, or may have been changed about that time. Where the topic may have a setting of its own that
    nobody read, as ZooKeeper's, the brokers' is only likely the one.

    Upheld
    ------
    set unclean.leader.election.enable true
    broker 1 0000|
    broker 2 0000|
    t1 leader 1 epoch 0 isr 1,2
    t2 leader 2 epoch 1 isr 2

    Violated
    --------
    set unclean.leader.election.enable true
    broker 1 0000|
    broker 2 0000|
    t1 leader 1 epoch 0 isr 1
    t2 leader 2 epoch 1 isr 2
    """
    found: list[Allowed] = []
    for said in allowed(evidence):
        if isinstance(said, NotTold):
            yield Undecided(reason=said.reason, missing=f"{said.name} of the topic as it was then", blocking=False)
        else:
            found.append(said)
    if found:
        yield _violation(found)


def _violation(found: Sequence[Allowed]) -> Violation:
    return Violation(
        brokers=tuple(sorted({each.broker for each in found})),
        confidence="certain" if all(each.certain for each in found) else "likely",
        facts={
            "allowed": "; ".join(map(_words, found)),
            "names": tuple(each.setting.name for each in found),
            "as_set": tuple(f"{each.setting.name}={each.setting.value} of {_whose(each)}" for each in found),
            "values": tuple(each.setting.value or "" for each in found),
            "origins": tuple(each.setting.origin for each in found),
        },
        exhibits=tuple(exhibit for each in found for exhibit in _exhibits(each)),
    )


def _words(found: Allowed) -> str:
    return f"{found.setting.name} was {found.setting.value} for {_whose(found)}. With this setting {found.effect}"


def _whose(found: Allowed) -> str:
    topic = found.setting.topic
    return f"broker {found.broker}" if topic is None else f"topic {quoted(topic)}"


def _exhibits(found: Allowed) -> Iterator[Exhibit]:
    yield Exhibit(span=found.setting.span, role=f"{found.setting.name} as set")
    yield Exhibit(span=found.shown_at, role="what it allowed")
