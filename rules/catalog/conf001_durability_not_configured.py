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
    Span,
)
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol.numbers import whole_number
from rules.protocol.versions import parse_protocol_version, protocol
from rules.rule import rule

UNCLEAN: Final = "unclean.leader.election.enable"
MIN_IN_SYNC: Final = "min.insync.replicas"
FACTOR: Final = "replication factor"
NOT_ENOUGH: Final = (19, 20)
"""NOT_ENOUGH_REPLICAS, before and after the append."""
SPOKEN: Final = "inter.broker.protocol.version"
FORMAT: Final = "message.format.version"
EPOCHS_SINCE: Final = protocol("0.11.0-IV2")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Allowed:
    """A setting, and what it allowed."""

    name: str
    value: str
    topic: str | None
    """Null for a setting of the broker."""
    origin: str
    certain: bool
    set_at: Span
    effect: str
    broker: int
    shown_at: Span


@rule(
    id="CONF001",
    severity=Severity.LOW,
    needs=(BrokerSetting, ConfigChange, MetadataChange),
    law="durability as configured",
    message="Settings in force allowed it. {allowed:.}",
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
    found: list[_Allowed] = []
    for said in (
        *_elected_uncleanly(evidence),
        *_committed_alone(evidence),
        *_written_once(evidence),
        *_refused(evidence),
        *_cut_without_epochs(evidence),
    ):
        if isinstance(said, Undecided):
            yield said
        else:
            found.append(said)
    if found:
        yield _violation(found)


def _elected_uncleanly(evidence: PartitionEvidence) -> Iterator[_Allowed | Undecided]:
    change = next((change for change in evidence.chronicle.elections if change.unclean), None)
    if change is None:
        return
    setting = evidence.setting(change.leader, UNCLEAN, change.moment)
    if setting is None:
        yield Undecided(reason="an unclean election took place", missing=f"{UNCLEAN} of the topic", blocking=False)
    elif setting.value == "true":
        effect = f"broker {change.leader} could be elected for epoch {change.epoch} from outside the ISR"
        yield _by_setting(evidence, setting, effect, change.leader, change.moment)


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
                f"broker {course.reign.leader} alone could stand behind acknowledged records from offset"
                f" {alone.offset} on"
            )
            yield _by_setting(evidence, setting, effect, course.reign.leader, alone)
        return


def _acknowledged_alone(course: Course, start: int) -> Moment | None:
    for row in course.rows:
        m = row.moment
        told = m.kind == "produced" and m.acks == -1 and m.error == 0 and (m.offset or -1) >= start
        if told and row.stands_alone(course.reign.leader):
            return m
    return None


def _assignments(evidence: PartitionEvidence) -> list[Moment]:
    return [m for m in evidence.chronicle.states if m.replicas]


def _written_once(evidence: PartitionEvidence) -> Iterator[_Allowed]:
    """Records were lost or damaged that were assigned to one broker only, ever."""
    states = _assignments(evidence)
    alone = {m.replicas for m in states}
    if len(alone) != 1 or len(states[0].replicas or ()) != 1:
        return
    (broker,) = states[0].replicas or ()
    lost = next((lost for lost in evidence.lost_terms if lost.leader in (None, broker)), None)
    damage = _first_damage(evidence, broker)
    if lost is not None:
        shown_at, what = lost.opening.span, f"[{lost.start_offset}, {lost.committed.end_offset}), which it lost"
    elif damage is not None:
        shown_at, what = damage[0], f"[{damage[1]}, {damage[2]}), which are damaged"
    else:
        return
    yield _Allowed(
        name=FACTOR,
        value="1",
        topic=evidence.topic,
        origin="assignment",
        certain=True,
        set_at=states[-1].span,
        effect=f"nobody but broker {broker} had a copy of offsets {what}",
        broker=broker,
        shown_at=shown_at,
    )


def _first_damage(evidence: PartitionEvidence, broker: int) -> tuple[Span, int, int] | None:
    """Where the first records lie on a broker that cannot be read, and which."""
    for replica in evidence.current:
        if replica.broker == broker:
            for fault in replica.log.checksum_faults:
                return fault.span, fault.base_offset, fault.end_offset
            for unread in replica.log.unread:
                start, end = unread.expected_offset, unread.next_offset
                if start is not None and end is not None and start < end:
                    return unread.span, start, end
    return None


def _refused(evidence: PartitionEvidence) -> Iterator[_Allowed]:
    """Producers that asked for acks=all were refused by a partition that can never have as many replicas in sync."""
    most = max((len(m.replicas or ()) for m in _assignments(evidence)), default=0)
    refused = (m for m in evidence.moments if m.kind == "produced" and m.acks == -1 and m.error in NOT_ENOUGH)
    for m in refused if most else ():
        setting = evidence.setting(m.witness, MIN_IN_SYNC, m)
        least = whole_number(setting.value) if setting is not None else None
        if setting is not None and m.witness is not None and least is not None and least > most:
            effect = f"broker {m.witness} refused whoever asked for acks=all: the replication factor is {most}"
            yield _by_setting(evidence, setting, effect, m.witness, m)
            return


def _cut_without_epochs(evidence: PartitionEvidence) -> Iterator[_Allowed]:
    for cut in evidence.chronicle.cuts:
        if cut.log_end_offset is not None and cut.offset < cut.log_end_offset:
            setting = _old_protocol(evidence, cut)
            if setting is not None:
                effect = (
                    f"broker {cut.broker} cut [{cut.offset}, {cut.log_end_offset}) without asking for leader epochs"
                )
                yield _by_setting(evidence, setting, effect, cut.broker, cut.moment)
                return


def _old_protocol(evidence: PartitionEvidence, cut: Cut) -> Setting | None:
    """The setting that keeps a broker from asking for epochs: its protocol first, the topic's record format second."""
    for name in (SPOKEN, FORMAT):
        setting = evidence.setting(cut.broker, name, cut.moment)
        spoken = parse_protocol_version(setting.value) if setting is not None and setting.value else None
        if spoken is not None and spoken < EPOCHS_SINCE:
            return setting
    return None


def _by_setting(evidence: PartitionEvidence, setting: Setting, effect: str, broker: int, moment: Moment) -> _Allowed:
    return _Allowed(
        name=setting.name,
        value=setting.value or "",
        topic=setting.topic,
        origin=setting.origin,
        certain=evidence.settings.is_certain(setting),
        set_at=setting.span,
        effect=effect,
        broker=broker,
        shown_at=moment.span,
    )


def _violation(found: list[_Allowed]) -> Violation:
    return Violation(
        brokers=tuple(sorted({allowed.broker for allowed in found})),
        confidence="certain" if all(allowed.certain for allowed in found) else "likely",
        facts={
            "allowed": "; ".join(map(_words, found)),
            "names": tuple(allowed.name for allowed in found),
            "values": tuple(allowed.value for allowed in found),
            "origins": tuple(allowed.origin for allowed in found),
        },
        exhibits=tuple(exhibit for allowed in found for exhibit in _exhibits(allowed)),
    )


def _words(allowed: _Allowed) -> str:
    whose = f"broker {allowed.broker}" if allowed.topic is None else f"topic {allowed.topic}"
    return f"{allowed.name} was {allowed.value} for {whose}, so {allowed.effect}"


def _exhibits(allowed: _Allowed) -> Iterator[Exhibit]:
    yield Exhibit(span=allowed.set_at, role=f"{allowed.name} as set")
    yield Exhibit(span=allowed.shown_at, role="what it allowed")
