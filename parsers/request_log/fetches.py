"""Fetches as rows: what was said by name, and what incremental sessions left unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from parsers.provenance import Origin
from parsers.request_log.call import Answered, Asked, FetchCall, PartitionKey, SessionKey
from parsers.request_log.sessions import NOTHING, Base, Cached, OpenSession, SessionState, SessionTable, Step
from parsers.tables.requests import Fetch, SessionGap, SessionGapReason


class Standing(NamedTuple):
    """How much of a row was said, and how far the session vouches for the rest."""

    implied: bool = False
    answer_implied: bool = False
    stale: bool = False
    begun_unseen: bool = False


_PLAIN: Final = Standing()


class Resting(NamedTuple):
    """A row, and how many fetches in a row it stands for."""

    row: Fetch
    times: int = 1
    last: FetchCall | None = None
    waited: bool = False
    """Whether each of several lay in purgatory."""


def fetch_runs(calls: Iterable[FetchCall], origin: Origin, table: SessionTable) -> Iterator[Resting | SessionGap]:
    """The rows of a range, each partition's in order; one that rests in its session is told once with a count."""
    rests: dict[SessionKey, tuple[OpenSession, dict[PartitionKey, _Rest]]] = {}
    for call in calls:
        step = table.advance(call)
        yield from _gaps(call, step, origin)
        if step.session is None:
            # A session that ends, or whose id is given anew, tells the rest of what it knew first.
            for number in (call.session_id, call.answer_session_id):
                yield from _ended(rests, (call.endpoint, number or 0))
            if step.kind == "full":
                yield from map(Resting, _full(call, origin))
            continue
        key = (call.endpoint, call.session_id or 0)
        if key in rests and rests[key][0] is not step.session:
            yield from _ended(rests, key)
        resting = rests.setdefault(key, (step.session, {}))[1]
        named = dict.fromkeys([*(asked.key for asked in call.asked), *(answered.key for answered in call.answered)])
        yield from (rest.told() for name in named if (rest := resting.pop(name, None)) is not None)
        yield from map(Resting, _incremental(call, step.session, origin, implied=False))
        yield from _rest_on(call, step.session, origin, resting, named)
    yield from (told for key in list(rests) for told in _ended(rests, key))


def _ended(
    rests: dict[SessionKey, tuple[OpenSession, dict[PartitionKey, _Rest]]], key: SessionKey
) -> Iterator[Resting]:
    if key in rests:
        yield from (rest.told() for rest in rests.pop(key)[1].values())


class _Rest:
    """A partition that rests, while it does."""

    __slots__ = ("cached", "count", "known", "last", "row", "waited")

    def __init__(self, row: Fetch, cached: Cached, *, known: bool) -> None:
        self.row, self.cached, self.known = row, cached, known
        self.count, self.waited = 1, bool(row.remote_time_us)
        self.last: FetchCall | None = None

    def goes_on(self, cached: Cached | None, call: FetchCall) -> bool:
        asker = (self.known, self.row.replica, self.row.client_id, self.row.min_bytes)
        asks = (call.answer_known, call.replica, call.client_id, call.min_bytes)
        return cached is self.cached and asker == asks

    def again(self, call: FetchCall) -> None:
        self.count += 1
        self.last = call
        self.waited &= bool(call.times.remote)

    def told(self) -> Resting:
        return Resting(self.row, self.count, self.last, self.waited)


def _rest_on(
    call: FetchCall,
    session: OpenSession,
    origin: Origin,
    resting: dict[PartitionKey, _Rest],
    named: Mapping[PartitionKey, None],
) -> Iterator[Resting]:
    """What the session knows of partitions that nobody names stands for one fetch more."""
    for key, cached in session.partitions.items():
        rest = resting.get(key)
        if rest is not None and rest.goes_on(cached, call):
            rest.again(call)
        elif key not in named and cached is not None and cached.asked is not None:
            if rest is not None:
                yield rest.told()
            row = _session_row(call, session, origin, key, None, None)
            resting[key] = _Rest(row, cached, known=call.answer_known)


def fetch_rows(
    calls: Iterable[FetchCall], origin: Origin, before: SessionState = NOTHING, *, implied: bool = True
) -> Iterator[Fetch | SessionGap]:
    """The rows of a range, in order, given what its sessions were before it.

    `implied` False leaves out partitions that neither side names; they can outnumber the named ones by far.
    """
    table = SessionTable(before)
    for call in calls:
        step = table.advance(call)
        yield from _gaps(call, step, origin)
        if step.kind == "refused":
            continue
        if step.session is None:
            yield from _full(call, origin)
        else:
            yield from _incremental(call, step.session, origin, implied)


def _full(call: FetchCall, origin: Origin) -> Iterator[Fetch]:
    answers = {answered.key: answered for answered in call.answered}
    for asked in call.asked:
        yield _row(call, origin, asked.key, asked, answers.pop(asked.key, None))
    for answered in answers.values():
        yield _row(call, origin, answered.key, None, answered)


def _incremental(call: FetchCall, session: OpenSession, origin: Origin, implied: bool) -> Iterator[Fetch]:
    """Partitions the request names, then those the answer names, then the others of the session by key."""
    answers = {answered.key: answered for answered in call.answered}
    named = {asked.key: asked for asked in call.asked}
    for key in [*named, *(key for key in answers if key not in named)]:
        yield _session_row(call, session, origin, key, named.get(key), answers.get(key))
    if not implied:
        return
    for key in sorted(key for key in session.partitions if key not in named and key not in answers):
        cached = session.partitions[key]
        if cached is not None and cached.asked is not None:
            yield _session_row(call, session, origin, key, None, None)


def _session_row(
    call: FetchCall,
    session: OpenSession,
    origin: Origin,
    key: PartitionKey,
    asked: Asked | None,
    answered: Answered | None,
) -> Fetch:
    cached = session.partitions.get(key) or Cached()
    stale = (asked is None and cached.asked_stale) or (answered is None and cached.answered_stale)
    return _row(
        call,
        origin,
        key,
        asked or cached.asked,
        answered or _unchanged(call, key, cached.answered),
        Standing(asked is None, answered is None and call.answer_known, stale, session.base is not Base.FULL),
    )


def _unchanged(call: FetchCall, key: PartitionKey, answered: Answered | None) -> Answered | None:
    """An answer that leaves a partition out says: no error, no records, watermark and log start as before."""
    if not call.answer_known:
        return None
    if answered is None:
        return Answered(key, 0, None, records_size=0)
    return Answered(key, 0, answered.high_watermark, None, answered.log_start_offset, records_size=0)


def _row(
    call: FetchCall,
    origin: Origin,
    key: PartitionKey,
    asked: Asked | None,
    answered: Answered | None,
    standing: Standing = _PLAIN,
) -> Fetch:
    asked = asked or Asked(key, None)
    answered = answered or Answered(key, None, None)
    return Fetch(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        time_text=call.time_text,
        client_id=call.client_id,
        correlation_id=call.correlation_id,
        api_version=call.version,
        replica=call.replica,
        replica_epoch=call.replica_epoch,
        min_bytes=call.min_bytes,
        session_id=call.session_id,
        session_epoch=call.session_epoch,
        answer_session_id=call.answer_session_id,
        session_error=call.session_error,
        topic=key.topic or None,
        topic_id=key.topic_id or None,
        partition=key.partition,
        fetch_offset=asked.fetch_offset,
        last_fetched_epoch=asked.last_fetched_epoch,
        current_leader_epoch=asked.current_leader_epoch,
        log_start_offset=asked.log_start_offset,
        request_high_watermark=asked.high_watermark,
        error_code=answered.error_code,
        high_watermark=answered.high_watermark,
        last_stable_offset=answered.last_stable_offset,
        leader_log_start_offset=answered.log_start_offset,
        diverging_epoch=answered.diverging_epoch,
        diverging_end_offset=answered.diverging_end_offset,
        answer_leader=answered.leader,
        answer_leader_epoch=answered.leader_epoch,
        records_size=answered.records_size,
        implied=standing.implied,
        answer_implied=standing.answer_implied,
        possibly_stale=standing.stale,
        session_start_missing=standing.begun_unseen,
        total_time_us=call.times.total,
        queue_time_us=call.times.queue,
        local_time_us=call.times.local,
        remote_time_us=call.times.remote,
        response_queue_time_us=call.times.response_queue,
        send_time_us=call.times.send,
        source=origin.source,
        span_start=call.start,
        span_end=call.end,
    )


def _gaps(call: FetchCall, step: Step, origin: Origin) -> Iterator[SessionGap]:
    if step.kind == "refused":
        yield _gap(call, origin, "session_refused")
    if step.begun_unseen:
        yield _gap(call, origin, "session_start_missing")
    if step.lost:
        yield _gap(call, origin, "lines_lost" if step.lost > 0 else "epoch_went_back", max(step.lost, 0) or None)
    if step.session is not None and not call.answer_known:
        yield _gap(call, origin, "answer_missing")


def _gap(call: FetchCall, origin: Origin, reason: SessionGapReason, lost: int | None = None) -> SessionGap:
    return SessionGap(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        time_text=call.time_text,
        client_id=call.client_id,
        correlation_id=call.correlation_id,
        replica=call.replica,
        session_id=call.session_id or 0,
        session_epoch=call.session_epoch or 0,
        reason=reason,
        lost=lost,
        error_code=call.session_error,
        source=origin.source,
        span_start=call.start,
        span_end=call.end,
    )
