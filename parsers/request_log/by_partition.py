"""What fetches and produces tell, a partition at a time, as rules over time ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from parsers.request_log.fetch_columns import (
    ANSWERED,
    ASKED,
    IMPLIED,
    STALE,
    TIMES,
    UNCHANGED,
    Codes,
    Integers,
    RequestColumns,
    Rows,
)
from parsers.request_log.positions import times_of
from parsers.request_log.request import Times
from parsers.request_log.session_lives import LOST, UNSEEN
from parsers.request_log.typed import NULL
from parsers.tables.requests import Fetch


class PartitionFetch(NamedTuple):
    """What was told of a partition by one fetch, or by several in a row."""

    topic: str | None
    topic_id: str | None
    partition: int
    replica: int
    client_id: str | None
    session: int | None
    """The incremental session that the fetch opens or is of."""
    time: int | str
    """Milliseconds on the writer's clock, or the text where it has another form than Kafka's own."""
    last_time: int | str | None
    times: int
    came: int | None
    """Microseconds from the request's coming to the time of its line; null where the line does not tell."""
    handled: int | None
    """The same from when the leader had taken it in."""
    answered: int | None
    """The same from when its answer was made."""
    last_handled: int | None
    last_answered: int | None
    waited: bool
    """Whether each of them lay in purgatory: at first sight there was less than it waited for."""
    min_bytes: int | None
    fetch_offset: int | None
    last_fetched_epoch: int | None
    current_leader_epoch: int | None
    error_code: int | None
    high_watermark: int | None
    last_stable_offset: int | None
    leader_log_start_offset: int | None
    diverging_epoch: int | None
    diverging_end_offset: int | None
    records_size: int | None
    implied: bool
    possibly_stale: bool
    start: int
    end: int
    left_out: int = 0
    """Statements of the same asker that are left out between this one and its next."""


_REPEATED: Final = ("partition", "name", "replica", "client_id", "min_bytes", "fallen", *ASKED, *ANSWERED)
"""What is told once of fetches in a row that say the same."""
_FIELDS: Final = PartitionFetch._fields
_VALUES: Final = _FIELDS[_FIELDS.index("min_bytes") : _FIELDS.index("implied")]
"""What stands in a statement as it does in a row."""
_values_of: Final[Callable[[Fetch], tuple[int | None, ...]]] = attrgetter(*_VALUES)


def _own_since(times: Times) -> tuple[int | None, int | None]:
    """Microseconds from a request's handling, and from its answer's making, to the time of its line."""
    if times.total is None or times.queue is None or times.local is None:
        return None, None
    handled = max(0, times.total - times.queue - times.local)
    return handled, None if times.remote is None else max(0, handled - times.remote)


def partition_fetch(row: Fetch) -> PartitionFetch:
    """What a row of the table tells."""
    opened = row.answer_session_id if row.session_epoch == 0 and not row.session_error else None
    full = row.session_id is None or row.session_epoch in (None, -1, 0)
    return PartitionFetch._make((
        row.topic, row.topic_id, row.partition or 0, -1 if row.replica is None else row.replica, row.client_id,
        row.session_id if not full else None if row.session_id is None else opened or None,
        row.time_text, None, 1, row.total_time_us, *_own_since(times_of(row)), None, None, bool(row.remote_time_us),
        *_values_of(row), row.implied, row.possibly_stale, row.span_start, row.span_end, 0,
    ))  # fmt: skip


class LostLines(NamedTuple):
    """Where a follower's session shows that lines are not there: in front of a line."""

    start: int
    end: int
    time: int | str | None
    skipped: bool
    """Whether session epochs were skipped; else the session's first line is not there."""


def lost_lines(gaps: Rows) -> Iterator[LostLines]:
    """Where the sessions of followers have holes."""
    reasons = gaps.rows["reason"]
    lost = gaps.taken(np.flatnonzero(np.isin(reasons, (UNSEEN, LOST)) & (gaps.of("replica") >= 0)))
    columns = (lost.of("span_start").tolist(), lost.of("span_end").tolist(), _clock(lost), lost.rows["reason"].tolist())
    for start, end, time, reason in zip(*columns, strict=True):
        yield LostLines(start, end, time, reason == LOST)


def fetch_columns(rows: Rows, part: RequestColumns) -> dict[str, Sequence[Any]]:
    """Fetches, a column under each name of `PartitionFetch`: a row at a time would cost as much as reading its line."""
    again = rows.of("times") > 1
    handled, answered = _since(*(rows.of(name) for name in TIMES[:4]))
    last_handled, last_answered = _since(*(np.where(again, rows.of_last(name), NULL) for name in TIMES[:4]))
    return {
        **_places(rows, part),
        "replica": rows.of("replica").tolist(),
        "client_id": _texts(rows.of("client_id"), part.texts),
        "session": _numbers(_sessions(rows)),
        "time": _clock(rows),
        "last_time": _clock(rows, last=True),
        "times": rows.of("times").tolist(),
        "came": _numbers(rows.of("total_time_us")),
        "handled": _numbers(handled),
        "answered": _numbers(answered),
        "last_handled": _numbers(last_handled),
        "last_answered": _numbers(last_answered),
        "waited": (rows.of("waits") == rows.of("times")).tolist(),
        **{name: _numbers(rows.of(name)) for name in _VALUES},
        "implied": (rows.of("flags") & IMPLIED != 0).tolist(),
        "possibly_stale": (rows.of("flags") & STALE != 0).tolist(),
        "start": rows.of("span_start").tolist(),
        "end": rows.of("span_end").tolist(),
        "left_out": [0] * len(rows),
    }


def produce_columns(rows: Rows, part: RequestColumns) -> dict[str, Sequence[Any]]:
    """The same of produces."""
    handled, answered = _since(*(rows.of(name) for name in TIMES[:4]))
    return {
        **_places(rows, part),
        "time": _clock(rows),
        "came": _numbers(rows.of("total_time_us")),
        "handled": _numbers(handled),
        "answered": _numbers(answered),
        "waited": (rows.of("remote_time_us") > 0).tolist(),
        **{
            name: _numbers(rows.of(name))
            for name in ("acks", "error_code", "base_offset", "log_start_offset", "records_size")
        },
        "client_id": _texts(rows.of("client_id"), part.texts),
        "request": _numbers(rows.of("correlation_id")),
        "start": rows.of("span_start").tolist(),
        "end": rows.of("span_end").tolist(),
        "left_out": [0] * len(rows),
    }


def named_by_lines(part: RequestColumns) -> int:
    """How often lines name a partition with a fetch or a produce, whatever rests in sessions meanwhile."""
    resting = IMPLIED | UNCHANGED
    produces = 0 if part.produces is None else len(part.produces)
    return produces + (0 if part.fetches is None else int((part.fetches.of("flags") & resting != resting).sum()))


def without_repetitions(rows: Rows) -> Rows:
    """Fetches each of which tells of its partition something else than the one before by the same asker."""
    session = _sessions(rows)
    if (session != NULL).all():
        # As a rule, a fetch of a session names what has changed.
        return rows
    order = np.lexsort([rows.of(name) for name in ("partition", "name", "replica")])
    places = np.arange(1, len(order))
    for column in (session, rows.rows["flags"] & STALE, *map(rows.of, _REPEATED)):
        places = places[column[order[places]] == column[order[places - 1]]]
    starts = np.delete(np.arange(len(order)), places)
    first, end = order[starts], order[np.append(starts[1:], len(order)) - 1]
    every, last = rows.rows, rows.rows["last"][end]
    counts = {name: np.add.reduceat(every[name][order], starts) for name in ("times", "waits")}
    ends = {"last": np.where((last < 0) & (end != first), every["line"][end], last)}
    kept = np.argsort(first)
    columns = {name: column[first] for name, column in every.items()} | counts | ends
    return replace(rows, rows={name: column[kept] for name, column in columns.items()})


def _since(total: Integers, queue: Integers, local: Integers, remote: Integers) -> tuple[Integers, Integers]:
    """The same of many requests."""
    unhandled = (total == NULL) | (queue == NULL) | (local == NULL)
    handled = np.maximum(0, total - queue - local)
    answered = np.maximum(0, handled - remote)
    return np.where(unhandled, NULL, handled), np.where(unhandled | (remote == NULL), NULL, answered)


def _sessions(rows: Rows) -> Integers:
    """The incremental session that each fetch opens or is of."""
    session, epoch, opened = rows.of("session_id"), rows.of("session_epoch"), rows.of("answer_session_id")
    full = np.isin(epoch, (NULL, -1, 0)) | (session == NULL)
    opens = full & (session != NULL) & (epoch == 0) & np.isin(rows.of("session_error"), (NULL, 0)) & (opened != 0)
    return np.where(full, np.where(opens, opened, NULL), session)


def fetch_numbers(rows: Rows) -> dict[str, Integers]:
    """What fetches tell, in numbers under the names of `PartitionFetch`: texts as codes, NULL where nothing is told.

    A time in another form than Kafka's own is none here.
    """
    return {
        **_codes(rows),
        "last_time": rows.of_last("time"),
        **{name: rows.of(name) for name in _NUMBERS},
        "session": _sessions(rows),
        "possibly_stale": (rows.of("flags") & STALE) // STALE,
    }


def produce_numbers(rows: Rows) -> dict[str, Integers]:
    """The same of produces; each row is told once."""
    named = {name: rows.of(name) for name in ("partition", "acks", "error_code", "base_offset")}
    return {**_codes(rows), **named, "times": np.ones(len(rows), dtype=np.int64)}


_NUMBERS: Final = (
    "times", "partition", "replica", "fetch_offset", "last_fetched_epoch", "current_leader_epoch", "error_code",
    "high_watermark", "leader_log_start_offset", "diverging_epoch",
)  # fmt: skip


def _codes(rows: Rows) -> dict[str, Integers]:
    name = rows.of("name")
    return {"topic": name, "topic_id": name, "client_id": rows.of("client_id"), "time": rows.of("time")}


def _places(rows: Rows, part: RequestColumns) -> dict[str, Sequence[Any]]:
    """Topic, topic id and partition; an empty name is none."""
    spelt = [(topic or None, topic_id or None) for topic, topic_id in part.names]
    named = [spelt[code] for code in rows.of("name").tolist()]
    return {
        "topic": [topic for topic, _ in named],
        "topic_id": [topic_id for _, topic_id in named],
        "partition": rows.of("partition").tolist(),
    }


def _texts(codes: Integers, texts: Codes[str | None]) -> list[str | None]:
    spelt = list(texts)
    return [spelt[code] for code in codes.tolist()]


def _numbers(column: Integers) -> list[int | None]:
    untold = column == NULL
    if not untold.any():
        return list(column.tolist())
    if untold.all():
        return [None] * len(column)
    values = column.astype(object)
    values[untold] = None
    return list(values.tolist())


def _clock(rows: Rows, *, last: bool = False) -> Sequence[int | str | None]:
    """Times, as they are written where they have another form than Kafka's own."""
    lines = rows.rows["last" if last else "line"]
    times = np.where(lines < 0, 0, rows.lines["time"][lines])
    if (times != NULL).all():
        return _numbers(np.where(lines < 0, NULL, times))
    return [
        None if line < 0 else rows.time_texts[line].decode() if time == NULL else time
        for line, time in zip(lines.tolist(), times.tolist(), strict=True)
    ]
