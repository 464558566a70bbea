"""What happened to a partition that another value of a setting would have prevented, and the value in force then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from rules.evidence import Course, Moment, PartitionEvidence, Setting, Span
from rules.protocol.numbers import whole_number
from rules.protocol.truncation import LEADER_EPOCHS
from rules.protocol.versions import parse_protocol_version
from rules.settings import FACTOR, INTER_BROKER_PROTOCOL, MESSAGE_FORMAT, MIN_IN_SYNC, UNCLEAN

NOT_ENOUGH: Final = (19, 20)
"""NOT_ENOUGH_REPLICAS, before and after the append."""


class Allowed(Struct, frozen=True, kw_only=True):
    """A setting in force, and what it allowed."""

    setting: Setting
    certain: bool
    effect: str
    broker: int
    shown_at: Span


class NotTold(Struct, frozen=True, kw_only=True):
    """Something that a setting decides of which nothing tells."""

    name: str
    reason: str


class _Event(Struct, frozen=True, kw_only=True):
    """Something that happened on a broker, and the settings that let it, the one that decides first."""

    broker: int
    at: Moment
    effect: str
    names: tuple[str, ...]
    lets: Callable[[str], bool]
    reason: str | None = None
    """Why it is asked; null where nothing is to be asked of a setting that is not told."""


def allowed(evidence: PartitionEvidence) -> Iterator[Allowed | NotTold]:
    """The first event of each kind that a setting allowed, or may have."""
    for kind in (_elected_uncleanly, _committed_alone, _written_once, _refused, _cut_without_epochs):
        yield from islice(kind(evidence), 1)


def _said(evidence: PartitionEvidence, event: _Event) -> Iterator[Allowed | NotTold]:
    settings = [setting for name in event.names if (setting := evidence.setting(event.broker, name, event.at))]
    letting = next((setting for setting in settings if setting.value and event.lets(setting.value)), None)
    if letting is not None:
        certain, shown_at = evidence.settings.is_certain(letting), event.at.span
        yield Allowed(setting=letting, certain=certain, effect=event.effect, broker=event.broker, shown_at=shown_at)
    elif not settings and event.reason is not None:
        yield NotTold(name=event.names[0], reason=event.reason)


def _elected_uncleanly(evidence: PartitionEvidence) -> Iterator[Allowed | NotTold]:
    for change in evidence.chronicle.elections:
        if change.unclean:
            event = _Event(
                broker=change.leader,
                at=change.moment,
                effect=f"broker {change.leader} was elected for epoch {change.epoch} from outside the ISR",
                names=(UNCLEAN,),
                lets=lambda value: value == "true",
                reason="an unclean election took place. The setting that allowed it is not known",
            )
            yield from _said(evidence, event)


def _committed_alone(evidence: PartitionEvidence) -> Iterator[Allowed | NotTold]:
    """Committed records went that one replica alone had held when they were acknowledged."""
    for lost in evidence.lost_terms:
        course = next((c for c in evidence.replayed.courses if lost.committed.term in c.lead.epochs), None)
        alone = None if course is None else _acknowledged_alone(course, lost.start_offset)
        if course is not None and alone is not None and (course.rank.assigned or 2) >= 2:  # noqa: PLR2004 - a second copy
            leader = course.lead.leader
            event = _Event(
                broker=leader,
                at=alone,
                effect=f"broker {leader} acknowledged records from offset {alone.offset} on while it alone was in sync",
                names=(MIN_IN_SYNC,),
                lets=lambda value: value == "1",
                reason="records were committed on one copy alone and lost",
            )
            yield from _said(evidence, event)


def _acknowledged_alone(course: Course, start: int) -> Moment | None:
    for row in course.rows:
        m = row.moment
        acknowledged = m.kind == "produced" and m.acks == -1 and m.error == 0 and (m.offset or -1) >= start
        if acknowledged and row.stands_alone(course.lead.leader):
            return m
    return None


def _written_once(evidence: PartitionEvidence) -> Iterator[Allowed]:
    """Records were lost or damaged that were assigned to one broker only, ever."""
    states = [m for m in evidence.chronicle.states if m.replicas]
    alone = {m.replicas or () for m in states}
    only = alone.pop() if len(alone) == 1 else ()
    hurt = _lost_or_damaged(evidence, only[0]) if len(only) == 1 else None
    if hurt is not None:
        yield Allowed(
            setting=Setting(
                name=FACTOR, value="1", origin="assignment", topic=evidence.topic, span=states[-1].span
            ),
            certain=True,
            effect=f"nobody but broker {only[0]} had a copy of offsets {hurt[1]}",
            broker=only[0],
            shown_at=hurt[0],
        )


def _lost_or_damaged(evidence: PartitionEvidence, broker: int) -> tuple[Span, str] | None:
    """The first records of a broker that were lost or, if none were, that cannot be read: where, and which."""
    for lost in evidence.lost_terms:
        if lost.leader in (None, broker):
            return lost.opening.span, f"[{lost.start_offset}, {lost.committed.end_offset}), which it lost"
    for log in (replica.log for replica in evidence.current if replica.broker == broker):
        for fault in log.checksum_faults:
            return fault.span, f"[{fault.base_offset}, {fault.end_offset}), damaged by now"
        for unread in log.unread:
            start, end = unread.expected_offset, unread.next_offset
            if start is not None and end is not None and start < end:
                return unread.span, f"[{start}, {end}), damaged by now"
    return None


def _refused(evidence: PartitionEvidence) -> Iterator[Allowed | NotTold]:
    """Producers that asked for acks=all were refused by a partition that can never have as many replicas in sync."""
    most = max((len(m.replicas or ()) for m in evidence.chronicle.states), default=0)
    for m in evidence.moments if most else ():
        if m.kind == "produced" and m.acks == -1 and m.error in NOT_ENOUGH and m.witness is not None:
            event = _Event(
                broker=m.witness,
                at=m,
                effect=f"broker {m.witness} refused whoever asked for acks=all: the replication factor is {most}",
                names=(MIN_IN_SYNC,),
                lets=lambda value: (whole_number(value) or 0) > most,
            )
            yield from _said(evidence, event)


def _cut_without_epochs(evidence: PartitionEvidence) -> Iterator[Allowed | NotTold]:
    for cut in evidence.chronicle.cuts:
        if cut.log_end_offset is not None and cut.offset < cut.log_end_offset:
            event = _Event(
                broker=cut.broker,
                at=cut.moment,
                effect=f"broker {cut.broker} truncated offsets [{cut.offset}, {cut.log_end_offset}) without asking for"
                " epochs",
                names=(INTER_BROKER_PROTOCOL, MESSAGE_FORMAT),
                lets=_asks_for_no_epochs,
            )
            yield from _said(evidence, event)


def _asks_for_no_epochs(value: str) -> bool:
    spoken = parse_protocol_version(value)
    return spoken is not None and spoken < LEADER_EPOCHS
