"""CONF001: a setting in force allowed what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from parsers.tables import BrokerSetting, ConfigChange, MetadataChange
from rules.evidence import (
    Course,
    Cut,
    Moment,
    PartitionEvidence,
    Setting,
    cuts,
    leader_changes,
)
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol.versions import parse_protocol_version, protocol
from rules.rule import rule

UNCLEAN: Final = "unclean.leader.election.enable"
MIN_IN_SYNC: Final = "min.insync.replicas"
SPOKEN: Final = "inter.broker.protocol.version"
FORMAT: Final = "message.format.version"
EPOCHS_SINCE: Final = protocol("0.11.0-IV2")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Allowed:
    """A setting, and what it allowed."""

    setting: Setting
    effect: str
    broker: int
    moment: Moment


@rule(
    id="CONF001",
    severity=Severity.LOW,
    needs=(BrokerSetting, ConfigChange, MetadataChange),
    law="durability as configured",
    message="settings in force allowed it: {allowed}",
)
def durability_not_configured(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A setting in force at the time allowed what happened then.

    No setting is reported for itself: only what was in force at an unclean election, a loss or a cut that another value
    of it would have prevented. A topic's own value goes before its brokers', and theirs before what they had by default.

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
    found: list[_Allowed] = []
    for said in (*_elected_uncleanly(evidence), *_committed_alone(evidence), *_cut_without_epochs(evidence)):
        if isinstance(said, Undecided):
            yield said
        else:
            found.append(said)
    if found:
        yield _violation(evidence, found)


def _elected_uncleanly(evidence: PartitionEvidence) -> Iterator[_Allowed | Undecided]:
    change = next((change for change in leader_changes(evidence.moments) if change.unclean), None)
    if change is None:
        return
    setting = evidence.setting(change.leader, UNCLEAN, change.moment)
    if setting is None:
        yield Undecided(reason="an unclean election took place", missing=f"{UNCLEAN} of the topic", blocking=False)
    elif setting.value == "true":
        effect = f"broker {change.leader} could be elected for epoch {change.epoch} from outside the ISR"
        yield _Allowed(setting=setting, effect=effect, broker=change.leader, moment=change.moment)


def _committed_alone(evidence: PartitionEvidence) -> Iterator[_Allowed | Undecided]:
    """Committed records went that one replica alone had held when they were acknowledged."""
    for lost in evidence.lost_terms:
        course = next((c for c in evidence.replayed.courses if lost.committed.term in c.reign.epochs), None)
        alone = None if course is None else _acknowledged_alone(course, lost.start_offset)
        if course is None or alone is None or (course.rank.assigned or 2) < 2:
            continue
        setting = evidence.setting(course.reign.leader, MIN_IN_SYNC, alone)
        if setting is None:
            reason = "records were committed on one copy alone and lost"
            yield Undecided(reason=reason, missing=f"{MIN_IN_SYNC} of the topic", blocking=False)
        elif setting.value == "1":
            effect = (
                f"broker {course.reign.leader} alone could stand behind acknowledged records from {alone.offset} on"
            )
            yield _Allowed(setting=setting, effect=effect, broker=course.reign.leader, moment=alone)
        return


def _acknowledged_alone(course: Course, start: int) -> Moment | None:
    for row in course.rows:
        m = row.moment
        told = m.kind == "produced" and m.acks == -1 and m.error == 0 and (m.offset or -1) >= start
        if told and row.likely_isr == frozenset({course.reign.leader}):
            return m
    return None


def _cut_without_epochs(evidence: PartitionEvidence) -> Iterator[_Allowed]:
    for cut in cuts(evidence.moments):
        if cut.log_end_offset is not None and cut.offset < cut.log_end_offset:
            setting = _old_protocol(evidence, cut)
            if setting is not None:
                effect = (
                    f"broker {cut.broker} cut [{cut.offset}, {cut.log_end_offset}) without asking for leader epochs"
                )
                yield _Allowed(setting=setting, effect=effect, broker=cut.broker, moment=cut.moment)
                return


def _old_protocol(evidence: PartitionEvidence, cut: Cut) -> Setting | None:
    """The setting that keeps a broker from asking for epochs: its protocol first, the topic's record format second."""
    for name in (SPOKEN, FORMAT):
        setting = evidence.setting(cut.broker, name, cut.moment)
        spoken = parse_protocol_version(setting.value) if setting is not None and setting.value else None
        if spoken is not None and spoken < EPOCHS_SINCE:
            return setting
    return None


def _violation(evidence: PartitionEvidence, found: list[_Allowed]) -> Violation:
    settings = [allowed.setting for allowed in found]
    return Violation(
        brokers=tuple(sorted({allowed.broker for allowed in found})),
        confidence="certain" if all(evidence.settings.is_certain(setting) for setting in settings) else "likely",
        facts={
            "allowed": "; ".join(map(_words, found)),
            "names": tuple(setting.name for setting in settings),
            "values": tuple(setting.value or "" for setting in settings),
            "origins": tuple(setting.origin for setting in settings),
        },
        exhibits=tuple(exhibit for allowed in found for exhibit in _exhibits(allowed)),
    )


def _words(allowed: _Allowed) -> str:
    setting = allowed.setting
    whose = f"topic {setting.topic}" if setting.topic is not None else f"broker {allowed.broker}"
    return f"{setting.name} was {setting.value} for {whose}, so that {allowed.effect}"


def _exhibits(allowed: _Allowed) -> Iterator[Exhibit]:
    yield Exhibit(span=allowed.setting.span, role=f"{allowed.setting.name} as set")
    yield Exhibit(span=allowed.moment.span, role="what it allowed")
