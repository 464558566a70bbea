"""Segments in remote storage: facts about many partitions that stand in the logs of `__remote_log_metadata`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.internal_topics import Records, copies_of, leading
from parsers.internal_topics import REMOTE_LIMIT, RemoteSegment, remote_segments
from parsers.refusal import refuse
from parsers.tables import Refusal
from rules.narrow.facts import Fact
from rules.replicas.remote import RemoteCopy, by_epoch

Place = tuple[str, int]


def read_remote_segments(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition with segments there, and one for what could not be read."""
    chosen = leading(copies_of(unit))
    if chosen is None:
        return
    records = Records(unit)
    latest = remote_segments(records.of(chosen), unit.origin(chosen.pieces[0].source))
    found: dict[Place, list[RemoteCopy]] = {}
    for segment in latest.standing:
        found.setdefault((segment.topic, segment.partition), []).extend(_copies(segment))
    for (topic, partition), copies in sorted(found.items()):
        yield replace(unit_fact(unit, topic, partition), remote_copies=tuple(copies))
    refusals = (*records.refusals, *latest.refusals, *_no_room(unit, latest.left_out))
    if refusals:
        yield unread_fact(unit, refusals)


def _no_room(unit: ReadUnit, left_out: int) -> Iterator[Refusal]:
    """That there are more segments than are kept."""
    if left_out:
        origin = unit.origin(unit.pieces[0].source)
        found = f"{left_out} records of segments beyond them"
        expected = f"at most {REMOTE_LIMIT} segments in remote storage"
        yield refuse(origin, "too_large", 0, 0, expected=expected, found=found)


def _copies(segment: RemoteSegment) -> Iterator[RemoteCopy]:
    for epoch, start, end in by_epoch(segment.epochs, segment.start_offset, segment.end_offset):
        yield RemoteCopy(
            segment=segment.id,
            topic_id=segment.topic_id,
            broker=segment.broker,
            epoch=epoch,
            start_offset=start,
            end_offset=end,
            span=segment.span,
        )
