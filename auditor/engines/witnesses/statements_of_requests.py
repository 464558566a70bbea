"""Rows of request logs and of tables of fetches as the statements that rules over time are judged by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from msgspec.structs import replace

from auditor.engines.witnesses.fetched import (
    GATHERED,
    ByColumns,
    as_columns,
    before,
    fetched,
    gathered,
    produced,
    written_by,
)
from auditor.engines.witnesses.statements_of_rows import Named, PartitionName, ids, known, known_id, place_of
from parsers.broker_log import wall_clock
from parsers.provenance import Origin, Span, row_span
from parsers.request_log import Again, Other, PartitionFetch, Worded, partition_fetch
from parsers.tables import Refusal
from parsers.tables.metadata import replica_ids
from parsers.tables.requests import EpochRequest, Fetch, IsrRequest, OffsetRequest, RequestEvent
from rules.history.moments import Moment
from rules.history.statements import Inquiry, LogEvent, PartitionState

HELD: Final = 1 << 15
"""Statements that are held for other requests of the same words."""
_ORDERS: Final = ("leadership", "isr")
"""Statements of whose requests it is told when they came."""
_FETCHER: Final = re.compile(r"broker-(\d{1,9})-fetcher-\d+$")


def of_fetches(fetches: Iterable[Fetch], names: Mapping[str, str]) -> Iterator[Named]:
    """Statements of a table of fetches; `names` gives the topic of an id."""
    rows = (fetch for fetch in fetches if fetch.replica is not None)
    while some := list(islice(rows, GATHERED)):
        writers, sources = [fetch.broker for fetch in some], [fetch.source for fetch in some]
        columns = as_columns([partition_fetch(fetch) for fetch in some])
        yield from fetched({**columns, "writer": writers, "source": sources}, names)


def of_trace(
    rows: Iterable[PartitionFetch | Other | ByColumns], origin: Origin, names: Mapping[str, str]
) -> Iterator[Named]:
    """Statements of a request log; what requests repeat word for word is one statement with a count."""
    repeated = Repeated(names)
    for row in gathered(rows):
        if isinstance(row, Refusal):
            continue
        if isinstance(row, Again):
            yield from repeated.statements_of(row)
            continue
        if isinstance(row, ByColumns):
            yield from fetched(written_by(origin, row.fetches), names)
            yield from produced(written_by(origin, row.produces), names)
            continue
        topic_id = None if isinstance(row, RequestEvent) else known_id(row.topic_id)
        place = place_of(row.topic, topic_id, row.partition, names)
        if place is not None and (moment := request_moment(row)) is not None:
            yield from repeated.ended(place)
            yield place, topic_id, moment
    yield from repeated.rest()


class Repeated:
    """Statements that requests make in the words of others."""

    __slots__ = ("_held", "_names", "_runs", "_said")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._held = 0
        self._said: dict[int, tuple[tuple[Worded, ...], list[Named]]] = {}
        self._runs: dict[PartitionName, tuple[Named, Moment, int | None, int]] = {}

    def statements_of(self, again: Again) -> Iterator[Named]:
        """What a request says; of one that says who leads, when the words change."""
        time, span = wall_clock(again.time_text), None
        for named in self._statements(again.rows):
            place, topic_id, moment = named
            run = self._runs.get(place)
            if run is not None and run[0] is named:
                self._runs[place] = (*run[:2], time, run[3] + 1)
                continue
            span = span or Span(source=moment.span.source, start=again.start, end=again.end)
            ordered = isinstance(moment, PartitionState) and moment.kind in _ORDERS
            arrived = {"arrived": _before(time, again.total_time_us)} if ordered else {}
            now = replace(moment, time=time, span=span, **arrived)
            yield from self.ended(place)
            if moment.kind == "leader-told":
                self._runs[place] = named, now, time, 1
            else:
                yield place, topic_id, now

    def ended(self, place: PartitionName) -> Iterator[Named]:
        """What was repeated of a partition so far."""
        if place in self._runs:
            (_, topic_id, _), first, last, count = self._runs.pop(place)
            yield place, topic_id, first if count == 1 else replace(first, count=count, last_time=last)

    def rest(self) -> Iterator[Named]:
        """The same of all."""
        for place in list(self._runs):
            yield from self.ended(place)

    def _statements(self, rows: tuple[Worded, ...]) -> list[Named]:
        """Statements of rows that stand for their words; the rows are held, or others might be taken for them."""
        held = self._said.get(id(rows))
        if held is None:
            held = rows, list(self._of(rows))
            self._held += 1 + len(rows)
            if self._held > HELD:
                self._said.clear()
                self._held = 1 + len(rows)
            self._said[id(rows)] = held
        return held[1]

    def _of(self, rows: tuple[Worded, ...]) -> Iterator[Named]:
        for row in rows:
            place = place_of(row.topic, known_id(row.topic_id), row.partition, self._names)
            moment = request_moment(row)
            if place is not None and moment is not None:
                yield place, known_id(row.topic_id), moment


def request_moment(row: EpochRequest | OffsetRequest | IsrRequest | RequestEvent) -> Moment | None:
    """What a request other than a fetch or a produce states."""
    span = row_span(row)
    clock, time = f"broker {row.broker}", wall_clock(row.time_text)
    if isinstance(row, EpochRequest):
        return Inquiry(
            kind="epoch-asked", clock=clock, time=time, witness=row.broker, broker=_asker(row), leader=row.broker,
            epoch=row.current_leader_epoch, asked_epoch=row.asked_epoch, answered_epoch=row.answered_epoch,
            answer_offset=row.end_offset, error=row.error_code, topic_id=row.topic_id, span=span,
        )  # fmt: skip
    if isinstance(row, OffsetRequest):
        return Inquiry(
            kind="offset-asked", clock=clock, time=time, witness=row.broker, broker=row.replica, leader=row.broker,
            epoch=row.current_leader_epoch, answer_offset=row.offset, error=row.error_code,
            topic_id=row.topic_id, span=span,
        )  # fmt: skip
    if isinstance(row, RequestEvent):
        return _deletion(row, clock, time, span)
    return _isr_request(row, clock, time, span)


def _deletion(row: RequestEvent, clock: str, time: int | None, span: Span) -> Moment | None:
    """A client had records deleted: the answer names the lowest log start of all replicas, the leader's is no lower."""
    start = max(-1 if row.offset is None else row.offset, -1 if row.low_watermark is None else row.low_watermark)
    if row.api != "DELETE_RECORDS" or row.error_code not in (None, 0) or start < 0:
        return None
    return LogEvent(
        kind="log-start-moved", clock=clock, time=time, witness=row.broker, broker=row.broker, leader=row.broker,
        log_start_offset=start, error=0, span=span,
    )  # fmt: skip


def _before(time: int | None, microseconds: int | None) -> int | None:
    return before([time], [microseconds])[0]


def _asker(row: EpochRequest) -> int | None:
    """The asking replica; before version 3 the request does not name it, but its fetcher's client id does."""
    if row.replica is not None:
        return row.replica
    fetcher = _FETCHER.match(row.client_id or "")
    return int(fetcher[1]) if fetcher else None


def _isr_request(row: IsrRequest, clock: str, time: int | None, span: Span) -> Moment | None:
    """Only what is in force: orders of the controller, and its answers without error; and what clients were told."""
    if row.api == "METADATA":
        return PartitionState(
            kind="leader-told", clock=clock, time=time, witness=row.broker, leader=row.leader,
            epoch=known(row.leader_epoch), isr=ids(row.isr), replicas=replica_ids(row.replicas) or None,
            error=row.error_code, topic_id=row.topic_id, span=span,
        )  # fmt: skip
    ordered = row.api == "LEADER_AND_ISR" and not row.answered
    granted = row.api == "ALTER_PARTITION" and row.answered and row.error_code == 0
    if not (ordered or granted):
        return None
    return PartitionState(
        kind="leadership" if ordered else "isr", clock=clock, time=time, arrived=_before(time, row.total_time_us),
        witness=row.broker, leader=row.leader,
        partition_epoch=row.partition_epoch, isr=ids(row.isr), replicas=replica_ids(row.replicas) or None,
        epoch=row.leader_epoch, error=row.error_code, topic_id=row.topic_id, span=span,
        controller_epoch=row.sender_epoch if ordered else None,
    )  # fmt: skip
