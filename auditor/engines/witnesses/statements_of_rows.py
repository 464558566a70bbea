"""Rows of broker logs and metadata as the statements that rules over time are judged by."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from parsers.broker_log import wall_clock
from parsers.provenance import row_span
from parsers.tables import BrokerEvent
from parsers.tables.metadata import MetadataChange, replica_ids
from rules.history.moments import ONE_CONTROLLER, ROLE_KINDS, Moment
from rules.history.statements import PartitionState, statement

PartitionName = tuple[str | None, int]
"""Topic and number; no topic where its id is told and what it is named is not known here."""
NO_EPOCH: Final = -1
NO_TOPIC_ID: Final = "A" * 22
"""The id that a broker writes of a topic that has none, as under an inter-broker protocol before 2.8."""

_NO_NAMES: Final[Mapping[str, str]] = {}

Named = tuple[PartitionName, str | None, Moment]
"""A statement with the topic and partition that it is about, and the topic id where it is told."""

_EVENTS: Final[Mapping[str, str]] = {
    "leader-starts": "leader-starts",
    "follower-starts": "follower-starts",
    "isr-updated": "isr",
    "isr-expanding": "isr",
    "role-unchanged": "isr",
    "isr-shrinking": "isr-shrinking",
    "unclean-election": "unclean-election",
    "controller-changed-partition": "leadership",
    "controller-shrunk-isr": "leadership",
    "truncating": "truncated",
    "truncation-no-effect": "truncation-kept",
    "truncating-to-high-watermark": "cut-by-high-watermark",
    "truncating-by-epoch-answer": "cut-by-epoch-answer",
    "truncating-below-high-watermark": "cut-below-high-watermark",
    "non-monotonic-high-watermark": "high-watermark-fell",
    "epoch-answer-kept": "epoch-answer-kept",
    "epoch-round": "epoch-round",
    "epoch-answer-unknown": "epoch-answer-unknown",
    "truncation-not-allowed": "cut-refused",
    "full-truncation": "log-reset",
    "reset-fetch-offset-to-start": "log-reset",
    "all-segments-deleted": "log-reset",
    "log-loaded": "log-loaded",
    "corruption-found": "damaged-end-cut",
    "producer-snapshot-written": "producer-state-saved",
    "partition-added": "taken-up",
    "replica-created": "log-created",
    "replica-deleted": "log-deleted",
    "initial-high-watermark": "high-watermark-loaded",
    "replica-loaded": "high-watermark-loaded",
    "log-start-incremented": "log-start-moved",
    "marked-as-failed": "marked-as-failed",
    "follower-without-leader": "leader-not-seen",
}


_ELIGIBLE: Final = re.compile(r"\belr: \[([\d, ]{1,200})\] ->")
"""In a line of a change the eligible leader replicas before it."""
_NUMBER: Final = re.compile(r"\d+")
_AFTER_ITS_LEADER: Final = "leader offset increment"
"""Why a follower moves its log start, unless for its own retention; before 2.6 no reason is printed."""


def with_its_topic(named: Named) -> Moment:
    """A statement that names the topic id itself."""
    _, topic_id, moment = named
    return moment if moment.topic_id == topic_id else replace(moment, topic_id=topic_id)


def spoken_of(events: pa.RecordBatch, kinds: Sequence[str]) -> pa.RecordBatch:
    """The events that make statements, and those of some other kinds: most lines of a log say nothing about these."""
    return events.filter(pc.is_in(events["kind"], value_set=pa.array([*_EVENTS, *kinds])))


def of_events(events: Iterable[BrokerEvent]) -> Iterator[Named]:
    """Statements of a broker's own log."""
    for event in events:
        kind, topic_id = "leadership" if _eligible(event) else _EVENTS.get(event.kind), known_id(event.topic_id)
        place = place_of(event.topic, topic_id, event.partition, _NO_NAMES)
        if kind is not None and place is not None and not (_says_no_more(event) or _kept(event) or _to_move(event)):
            yield place, topic_id, _event(event, kind)


def _eligible(event: BrokerEvent) -> bool:
    """Whether a change that is called unclean elects an eligible leader replica, which has every committed record."""
    before = _ELIGIBLE.search(event.detail or "") if event.kind == "unclean-election" else None
    return before is not None and str(event.leader) in _NUMBER.findall(before[1])


def _says_no_more(event: BrokerEvent) -> bool:
    """Whether new metadata changed nothing for a follower, or for a leader whose line does not tell its ISR."""
    return event.kind == "role-unchanged" and (event.detail != "leader" or event.partition_epoch is None)


def _kept(event: BrokerEvent) -> bool:
    """Whether a follower before 3.6 goes on from its log end: only for a start beyond that it drops its log."""
    to_start = event.kind == "reset-fetch-offset-to-start"
    return to_start and (event.offset or 0) <= (event.previous_offset or 0)


def _to_move(event: BrokerEvent) -> bool:
    """Whether a log was made for a move between log dirs: the one in use goes on meanwhile."""
    return event.kind == "replica-created" and (event.directory or "").endswith("-future")


def _event(event: BrokerEvent, kind: str) -> Moment:
    doubtful = set((event.doubtful or "").split(","))
    # What a controller decides is no statement of the broker that it runs on: that one learns it by an order, later.
    decided = kind == "leadership"
    return statement(
        kind,
        clock=f"{ONE_CONTROLLER if decided else 'broker '}{event.broker}",
        time=wall_clock(event.time_text) if event.time_text else None,
        witness=None if decided else event.broker,
        broker=None if decided else event.broker,
        leader=event.leader,
        epoch=event.epoch,
        partition_epoch=event.partition_epoch,
        offset=event.previous_offset if kind == "high-watermark-fell" else event.offset,
        end_offset=event.log_end_offset,
        high_watermark=event.high_watermark,
        log_start_offset=event.log_start_offset,
        by_leader=kind == "log-start-moved" and event.detail in (None, _AFTER_ITS_LEADER),
        answered_epoch=event.epoch if kind == "cut-by-epoch-answer" else None,
        answer_offset=event.answer_offset,
        isr=ids(event.isr),
        previous_isr=ids(event.previous_isr),
        fresh=event.previous_epoch == NO_EPOCH and kind in ROLE_KINDS,
        former=_former(event, doubtful),
        doubtful=bool({"offset", "high_watermark", "epoch"} & doubtful),
        trust=event.trust,
        span=row_span(event),
    )


def _former(event: BrokerEvent, doubtful: Collection[str]) -> int | None:
    """The epoch before a role; what a release prints wrongly is the new one, so an older one is true."""
    former = event.previous_epoch
    if former is None or former == NO_EPOCH:
        return None
    return former if "previous_epoch" not in doubtful or former < (event.epoch or 0) else None


def ids(joined: str | None) -> tuple[int, ...] | None:
    """Broker ids as they are compared; null where the row does not tell."""
    return None if joined is None else tuple(sorted(replica_ids(joined)))


def of_metadata(
    changes: Iterable[MetadataChange],
    clock: str = "controller",
    written: Callable[[int | None], int | None] = lambda _: None,
    *,
    to_its_end: bool = True,
) -> Iterator[Named]:
    """Statements of the metadata log with when each was `written`, or of znodes on a clock of their own.

    They are trusted less where the log may have gone on.
    """
    for change in changes:
        place = place_of(change.topic, change.topic_id, change.partition, _NO_NAMES)
        if place is None or change.kind == "removed":
            continue
        yield place, change.topic_id, PartitionState(
            kind="leadership",
            clock=clock,
            time=None if _carried_over(change) else change.time,
            leader=change.leader,
            epoch=change.leader_epoch,
            partition_epoch=change.partition_epoch,
            isr=ids(change.isr),
            previous_isr=ids(change.previous_isr),
            elr=ids(change.elr),
            last_known_elr=ids(change.last_known_elr),
            replicas=replica_ids(change.replicas) or None,
            unclean=change.unclean,
            written=written(change.offset),
            standing=change.kind == "snapshot",
            trust="high" if to_its_end else "medium",
            topic_id=change.topic_id,
            span=row_span(change),
        )


def _carried_over(change: MetadataChange) -> bool:
    """Whether a migration wrote a state that had come about before: its time is the migration's."""
    return change.kind == "created" and (change.partition_epoch or 0) > 0


def known_id(topic_id: str | None) -> str | None:
    """A topic's id, which an id of zeros is not."""
    return None if topic_id == NO_TOPIC_ID else topic_id


def known(number: int | None) -> int | None:
    """An offset, an epoch or a time, which a negative number is not."""
    return None if number is None or number < 0 else number


def place_of(
    topic: str | None, topic_id: str | None, partition: int | None, names: Mapping[str, str]
) -> PartitionName | None:
    """Topic and partition of a row; `names` gives the topic of an id."""
    name = topic if topic is not None or topic_id is None else names.get(topic_id)
    return None if partition is None or (name is None and topic_id is None) else (name, partition)
