"""Fetches and produces as the statements that rules over time are judged by, a column at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from auditor.engines.witnesses.statements_of_rows import Named, PartitionName, known, known_id, place_of
from parsers.broker_log import wall_clock
from parsers.provenance import Origin, Span
from parsers.request_log import Other, PartitionFetch
from rules.history.statements import Fetched, Produced

Value = TypeVar("Value")
Statements = Mapping[str, Sequence[Any]]
"""Columns as `fetch_columns` and `produce_columns` name them; no columns for no rows."""
Clock = Sequence[int | None]
GATHERED: Final = 1 << 12
"""Rows that become statements at once, where they come one by one."""


class ByColumns(NamedTuple):
    """Fetches and produces of one log."""

    fetches: Statements
    produces: Statements


def gathered(rows: Iterable[PartitionFetch | Other | ByColumns]) -> Iterator[Other | ByColumns]:
    """What is told, with fetches in columns."""
    fetches = list[PartitionFetch]()
    for row in rows:
        if isinstance(row, PartitionFetch):
            fetches.append(row)
        else:
            yield row
        if len(fetches) >= GATHERED:
            yield ByColumns(as_columns(fetches), {})
            fetches = []
    yield ByColumns(as_columns(fetches), {})


def as_columns(rows: Sequence[PartitionFetch]) -> Statements:
    """The same, a column under each name."""
    return dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True)) if rows else {}


def written_by(origin: Origin, columns: Statements) -> Statements:
    """Columns of one log, with whose it is in each row."""
    if not columns:
        return {}
    rows = len(columns["start"])
    return {**columns, "writer": [origin.broker] * rows, "source": [origin.source] * rows}


def fetched(columns: Statements, names: Mapping[str, str]) -> Iterator[Named]:
    """Statements of fetches by `writer` in `source`; `names` gives the topic of an id."""
    if not columns:
        return iter(())
    replicas, last = columns["replica"], _clock(columns["last_time"])
    clients = zip(replicas, columns["client_id"], strict=True)
    own: dict[str, Iterable[object]] = {
        "kind": ["fetched" if replica >= 0 else "consumed" for replica in replicas],
        "last_time": last,
        "last_taken_in": before(last, columns["last_handled"]),
        "last_answered": before(last, columns["last_answered"]),
        "count": columns["times"],
        "broker": [replica if replica >= 0 else None for replica in replicas],
        "epoch": _sure(columns["current_leader_epoch"], columns["possibly_stale"]),
        "offset": columns["fetch_offset"],
        "high_watermark": map(known, columns["high_watermark"]),
        "log_start_offset": columns["leader_log_start_offset"],
        "last_stable_offset": map(known, columns["last_stable_offset"]),
        "asked_epoch": columns["last_fetched_epoch"],
        "answered_epoch": columns["diverging_epoch"],
        "answer_offset": columns["diverging_end_offset"],
        "client_id": [None if replica >= 0 else client for replica, client in clients],
        "doubtful": columns["possibly_stale"],
    }
    return _statements(Fetched, own, ("min_bytes", "implied", "session"), columns, names)


def produced(columns: Statements, names: Mapping[str, str]) -> Iterator[Named]:
    """The same of produces."""
    if not columns:
        return iter(())
    own: dict[str, Iterable[object]] = {
        "kind": ["produced"] * len(columns["start"]),
        "broker": columns["writer"],
        "offset": columns["base_offset"],
        "took": columns["came"],
    }
    return _statements(Produced, own, ("acks", "log_start_offset", "client_id", "request"), columns, names)


def _statements(
    kind: type[Fetched | Produced],
    own: Mapping[str, Iterable[object]],
    alike: tuple[str, ...],
    given: Statements,
    names: Mapping[str, str],
) -> Iterator[Named]:
    """What both tell, and columns of their own; rows of topics that nobody names are left out."""
    time, writers = _clock(given["time"]), given["writer"]
    columns: dict[str, Iterable[object]] = {
        **own,
        "clock": [f"broker {writer}" for writer in writers],
        "time": time,
        "arrived": before(time, given["came"]),
        "taken_in": before(time, given["handled"]),
        "answered": before(time, given["answered"]),
        "witness": writers,
        "leader": writers,
        "error": given["error_code"],
        "span": _of_columns(Span, {name: given[name] for name in ("source", "start", "end")}),
        **{name: given[name] for name in (*alike, "waited", "records_size", "left_out", "topic_id")},
    }
    for (place, topic_id), moment in zip(_places(given, names), _of_columns(kind, columns), strict=True):
        if place is not None:
            yield place, topic_id, moment


def _of_columns(kind: type[Value], columns: Mapping[str, Iterable[object]]) -> Iterator[Value]:
    """Values out of columns under the names of their fields; what no column tells is as the class declares it."""
    names = tuple(columns)
    return (kind(**dict(zip(names, row, strict=True))) for row in zip(*columns.values(), strict=True))


def _places(columns: Statements, names: Mapping[str, str]) -> Iterator[tuple[PartitionName | None, str | None]]:
    found: dict[tuple[str | None, str | None, int], tuple[PartitionName | None, str | None]] = {}
    for key in zip(columns["topic"], columns["topic_id"], columns["partition"], strict=True):
        place = found.get(key)
        if place is None:
            topic_id = known_id(key[1])
            place = found[key] = place_of(key[0], topic_id, key[2], names), topic_id
        yield place


def _sure(epochs: Sequence[int | None], stale: Sequence[bool]) -> list[int | None]:
    """The epochs of fetches; none where the session may have moved on unseen, since the epoch it keeps may be over."""
    return [None if doubtful else epoch for epoch, doubtful in zip(epochs, stale, strict=True)]


def _clock(times: Sequence[int | str | None]) -> Clock:
    return [wall_clock(time) if isinstance(time, str) else time for time in times]


def before(times: Clock, spent: Sequence[int | None]) -> Clock:
    """The milliseconds that lay so many microseconds before the beginning of others."""
    return [
        None if time is None or microseconds is None else (time * 1000 - microseconds) // 1000
        for time, microseconds in zip(times, spent, strict=True)
    ]
