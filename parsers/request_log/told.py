"""What fetches and produces tell, a partition at a time, out of the columns of a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from parsers.request_log import columns as c
from parsers.request_log.column_names import FETCHES, PRODUCES
from parsers.request_log.columns import Columns
from parsers.request_log.fetches import Resting
from parsers.request_log.grammar import NULL, Integers
from parsers.request_log.request import Times
from parsers.tables.requests import Fetch, Produce, SessionGap


class FetchTold(NamedTuple):
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


_VALUES: Final = FetchTold._fields[FetchTold._fields.index("min_bytes") : FetchTold._fields.index("implied")]
"""What stands in a statement as it does in a row."""
_values_of: Final[Callable[[Fetch], tuple[int | None, ...]]] = attrgetter(*_VALUES)


class ProduceTold(NamedTuple):
    """What was told of a partition by a produce."""

    topic: str | None
    topic_id: str | None
    partition: int
    time: int | str
    came: int | None
    """As of a fetch."""
    handled: int | None
    answered: int | None
    waited: bool
    acks: int | None
    error_code: int | None
    base_offset: int | None
    log_start_offset: int | None
    records_size: int | None
    client_id: str | None
    start: int
    end: int
    left_out: int = 0
    end_left_out: bool = False
    """Whether a statement is left out that may tell where the batch ends."""


def since(times: Times) -> tuple[int | None, int | None]:
    """Microseconds from a request's handling, and from its answer's making, to the time of its line."""
    if times.total is None or times.queue is None or times.local is None:
        return None, None
    handled = max(0, times.total - times.queue - times.local)
    return handled, None if times.remote is None else max(0, handled - times.remote)


def _own_times(row: Fetch | Produce) -> Times:
    return Times(
        row.total_time_us, row.queue_time_us, row.local_time_us, row.remote_time_us, row.response_queue_time_us,
        row.send_time_us,
    )  # fmt: skip


def run_told(run: Resting) -> FetchTold:
    """What a row of the table tells, and the fetches that say the same again."""
    told = fetch_told(run.row)
    if run.last is None:
        return told
    handled, answered = since(run.last.times)
    return told._replace(
        times=run.times, last_time=run.last.time_text, last_handled=handled, last_answered=answered, waited=run.waited
    )


def fetch_told(row: Fetch) -> FetchTold:
    """What a row of the table tells."""
    opened = row.answer_session_id if row.session_epoch == 0 and not row.session_error else None
    full = row.session_id is None or row.session_epoch in (None, -1, 0)
    return FetchTold._make((
        row.topic, row.topic_id, row.partition or 0, -1 if row.replica is None else row.replica, row.client_id,
        row.session_id if not full else None if row.session_id is None else opened or None,
        row.time_text, None, 1, row.total_time_us, *since(_own_times(row)), None, None, bool(row.remote_time_us),
        *_values_of(row), row.implied, row.possibly_stale, row.span_start, row.span_end, 0,
    ))  # fmt: skip


def produce_told(row: Produce) -> ProduceTold:
    """The same of a produce."""
    return ProduceTold(
        row.topic, row.topic_id, row.partition or 0, row.time_text, row.total_time_us, *since(_own_times(row)),
        bool(row.remote_time_us), row.acks, row.error_code, row.base_offset, row.log_start_offset, row.records_size,
        row.client_id, row.span_start, row.span_end,
    )  # fmt: skip


def told_in(columns: Columns) -> Iterator[FetchTold | ProduceTold]:
    """The rows of a fold, as they are told."""
    yield from map(FetchTold._make, zip(*fetch_columns(columns).values(), strict=True))
    yield from map(ProduceTold._make, zip(*produce_columns(columns).values(), strict=True))


def fetch_columns(columns: Columns) -> dict[str, Sequence[Any]]:
    """The fetches of a fold, a column under each name of `FetchTold`; no columns for no fetches."""
    if not len(columns.fetches):
        return {}
    return dict(zip(FetchTold._fields, _fetch_columns(columns.fetches, columns.texts), strict=True))


def produce_columns(columns: Columns) -> dict[str, Sequence[Any]]:
    """The same of its produces."""
    if not len(columns.produces):
        return {}
    return dict(zip(ProduceTold._fields, _produce_columns(columns.produces, columns.texts), strict=True))


class LostLines(NamedTuple):
    """Where a follower's session shows that lines are not there: in front of a line."""

    start: int
    end: int
    time: int | str
    skipped: bool
    """Whether session epochs were skipped; else the session's first line is not there."""


def lost_lines(columns: Columns) -> Iterator[LostLines]:
    """Where the sessions of followers in a fold have holes."""
    for row in columns.gaps[np.isin(columns.gaps[:, c.GAP_REASON], (c.UNSEEN_GAP, c.LOST_GAP))].tolist():
        if row[c.GAP_REPLICA] >= 0:
            time = row[c.TIME] if row[c.TIME_TEXT] < 0 else columns.texts[row[c.TIME_TEXT]]
            yield LostLines(row[c.START], row[c.END], time, row[c.GAP_REASON] == c.LOST_GAP)


def lost_line(gap: SessionGap) -> LostLines | None:
    """The same of a gap that the plain parser told."""
    follower = gap.replica is not None and gap.replica >= 0
    if not follower or gap.reason not in ("session_start_missing", "lines_lost"):
        return None
    return LostLines(gap.span_start, gap.span_end, gap.time_text, gap.reason == "lines_lost")


def _fetch_columns(rows: Integers, texts: Sequence[str]) -> Iterator[Sequence[object]]:
    """The columns of `FetchTold`, a list each: a row at a time would cost as much as reading the line."""
    yield from _places(rows, texts)
    yield rows[:, c.REPLICA].tolist()
    yield _clients(rows, texts)
    yield _numbers(_sessions(rows))
    yield _times(rows[:, c.TIME], rows[:, c.TIME_TEXT], texts)
    yield _times(rows[:, c.LAST], rows[:, c.LAST_TEXT], texts)
    yield rows[:, c.COUNT].tolist()
    yield _numbers(rows[:, c.TOTAL])
    yield from map(_numbers, _since(rows[:, c.TOTAL : c.REMOTE + 1]))
    again = rows[:, c.LAST : c.LAST + c.TOLD_LAST][:, 2:]
    yield from map(_numbers, _since(np.where(rows[:, [c.COUNT]] > 1, again, NULL)))
    yield (rows[:, c.WAITS] == rows[:, c.COUNT]).tolist()
    for name in _VALUES:
        yield _numbers(rows[:, FETCHES[name]])
    for flag in (c.IMPLIED, c.STALE):
        yield (rows[:, c.FLAGS] & flag != 0).tolist()
    yield rows[:, c.START].tolist()
    yield rows[:, c.END].tolist()
    yield [0] * len(rows)


def _since(times: Integers) -> tuple[Integers, Integers]:
    """As `since`, of the first four times of many requests."""
    unknown = times == NULL
    handled = np.maximum(0, times[:, 0] - times[:, 1] - times[:, 2])
    answered = np.maximum(0, handled - times[:, 3])
    unhandled = unknown[:, :3].any(axis=1)
    return np.where(unhandled, NULL, handled), np.where(unhandled | unknown[:, 3], NULL, answered)


def _sessions(rows: Integers) -> Integers:
    """The incremental session that each fetch opens or is of."""
    full = np.isin(rows[:, c.EPOCH], (NULL, -1, 0)) | (rows[:, c.SESSION] == NULL)
    opens = full & (rows[:, c.SESSION] != NULL) & (rows[:, c.EPOCH] == 0) & np.isin(rows[:, c.ERROR], (NULL, 0))
    opened = np.where(opens & (rows[:, c.ANSWER_SESSION] != 0), rows[:, c.ANSWER_SESSION], NULL)
    return np.where(full, opened, rows[:, c.SESSION])


def fetch_numbers(rows: Integers) -> dict[str, Integers]:
    """What fetches tell, in numbers under the names of `FetchTold`: texts as codes, NULL where nothing is told.

    A time in another form than Kafka's own is none here.
    """
    return {
        **{name: rows[:, column] for name, column in _FETCH_NUMBERS.items()},
        "session": _sessions(rows),
        "possibly_stale": (rows[:, c.FLAGS] & c.STALE) // c.STALE,
    }


def produce_numbers(rows: Integers) -> dict[str, Integers]:
    """The same of produces, under the names of `ProduceTold`; each row is told once."""
    named = {name: rows[:, column] for name, column in _PRODUCE_NUMBERS.items()}
    return {**named, "times": np.ones(len(rows), dtype=np.int64)}


_CODES: Final = {"topic": c.TOPIC, "topic_id": c.TOPIC_ID, "client_id": c.CLIENT, "time": c.TIME}
_FETCH_NUMBERS: Final = {
    **_CODES, "last_time": c.LAST, "times": c.COUNT,
    **{
        name: FETCHES[name]
        for name in (
            "partition", "replica", "fetch_offset", "last_fetched_epoch", "current_leader_epoch", "error_code",
            "high_watermark", "leader_log_start_offset", "diverging_epoch",
        )
    },
}  # fmt: skip
_PRODUCE_NUMBERS: Final = {
    **_CODES, **{name: PRODUCES[name] for name in ("partition", "acks", "error_code", "base_offset")},
}  # fmt: skip


def _produce_columns(rows: Integers, texts: Sequence[str]) -> Iterator[Sequence[object]]:
    yield from _places(rows, texts)
    yield _times(rows[:, c.TIME], rows[:, c.TIME_TEXT], texts)
    yield _numbers(rows[:, c.TOTAL])
    yield from map(_numbers, _since(rows[:, c.TOTAL : c.REMOTE + 1]))
    yield (rows[:, c.REMOTE] > 0).tolist()
    for column in (c.ACKS, c.SENT_ERROR, c.SENT_BASE, c.SENT_START, c.SENT_SIZE):
        yield _numbers(rows[:, column])
    yield _clients(rows, texts)
    yield rows[:, c.START].tolist()
    yield rows[:, c.END].tolist()
    yield [0] * len(rows)
    yield [False] * len(rows)


def _places(rows: Integers, texts: Sequence[str]) -> Iterator[Sequence[object]]:
    """Topic, topic id and partition; an empty name is none."""
    for column in (c.TOPIC, c.TOPIC_ID):
        yield [texts[code] if code else None for code in rows[:, column].tolist()]
    yield rows[:, c.PARTITION].tolist()


def _clients(rows: Integers, texts: Sequence[str]) -> list[str | None]:
    return [texts[code] if code >= 0 else None for code in rows[:, c.CLIENT].tolist()]


def _numbers(column: Integers) -> list[int | None]:
    untold = column == NULL
    if not untold.any():
        return list(column.tolist())
    if untold.all():
        return [None] * len(column)
    told = column.astype(object)
    told[untold] = None
    return list(told.tolist())


def _times(times: Integers, codes: Integers, texts: Sequence[str]) -> list[int | str | None]:
    if (codes < 0).all():
        return list(_numbers(times))
    return [told if code < 0 else texts[code] for told, code in zip(_numbers(times), codes.tolist(), strict=True)]
