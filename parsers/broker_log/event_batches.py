"""Lines that were found, made into an Arrow batch of events a column at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.broker_log.catalogue import Matcher, Setter, Value
from parsers.broker_log.prefix import NO_PREFIX, parse_prefix
from parsers.broker_log.trust import trust_of
from parsers.broker_log.version import KafkaVersion
from parsers.broker_log.wording import Event
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import BrokerEvent, Refusal, arrow_schema, no_rows

Hit: TypeAlias = tuple[int | str | bytes | None, ...]
"""A row to be: first byte, last byte, time, level, logger, prefix, detail, then the groups of the pattern.

Plain and flat, because there are millions, and the collector of garbage leaves a tuple of plain things alone.
"""
_HEAD: Final = ("span_start", "span_end", "time_text", "level", "logger")
"""Columns with which a hit begins."""
_GROUPS: Final = 7
"""Where the groups begin in a hit."""

_SCHEMA: Final = arrow_schema(BrokerEvent)
NO_EVENTS: Final = no_rows(BrokerEvent)
_TYPES: Final = tuple((field.name, field.type) for field in _SCHEMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Rows to be: the columns that their lines fill themselves, and which prefix and event each of them has."""

    count: int
    columns: Mapping[str, pa.Array]
    prefixes: Sequence[bytes | None]
    prefix_numbers: pa.Array
    events: Sequence[Event]
    event_numbers: pa.Array


_NUMBERS: Final = pa.int64()
NOTHING_FOUND: Final = Found(
    count=0,
    columns={},
    prefixes=(),
    prefix_numbers=pa.nulls(0, _NUMBERS),
    events=(),
    event_numbers=pa.nulls(0, _NUMBERS),
)


def found_of(hits: Mapping[Matcher, list[Hit]], origin: Origin) -> tuple[Found, list[Refusal]]:
    """The rows of all hits in the order of their lines, and a refusal for each line whose numbers no column can hold."""
    try:
        return _found(hits), []
    except (OverflowError, ValueError):
        unfit: list[Hit] = []
        tried = {matcher: _sound(matcher, found, unfit) for matcher, found in hits.items()}
        sound = {matcher: found for matcher, found in tried.items() if found}
        return _found(sound), [_refusal(hit, origin) for hit in unfit]


def _sound(matcher: Matcher, hits: list[Hit], unfit: list[Hit]) -> list[Hit]:
    """The hits that give rows; halves are tried, so that a few bad lines among many cost little."""
    try:
        _found({matcher: hits})
    except (OverflowError, ValueError):
        if len(hits) == 1:
            unfit += hits
            return []
        middle = len(hits) // 2
        return [hit for half in (hits[:middle], hits[middle:]) for hit in _sound(matcher, half, unfit)]
    return hits


def _refusal(hit: Hit, origin: Origin) -> Refusal:
    found = b" ".join(group for group in hit[_GROUPS:] if isinstance(group, bytes))
    start, end = (int(place or 0) for place in hit[:2])
    return refuse(origin, "malformed", start, end, expected="numbers that Kafka can hold", found=found)


def _found(hits: Mapping[Matcher, list[Hit]]) -> Found:
    """The rows of all hits, sorted by where their lines begin; things that one line lists keep their order."""
    if not hits:
        return NOTHING_FOUND
    columns = _Columns()
    prefixes: dict[bytes | None, int] = {}
    for matcher, found in hits.items():
        columns.add(matcher, found, prefixes)
    told = Found(
        count=columns.count,
        columns={name: pa.array(values, _SCHEMA.field(name).type) for name, values in columns.values.items()},
        prefixes=list(prefixes),
        prefix_numbers=pa.array(columns.prefixes, _NUMBERS),
        events=[matcher.event for matcher in hits],
        event_numbers=pa.array(np.repeat(np.arange(len(hits)), [len(found) for found in hits.values()])),
    )
    return _in_order(told)


def _in_order(found: Found) -> Found:
    order = pc.sort_indices(found.columns["span_start"])
    return replace(
        found,
        columns={name: column.take(order) for name, column in found.columns.items()},
        prefix_numbers=found.prefix_numbers.take(order),
        event_numbers=found.event_numbers.take(order),
    )


def _column(found: Found, name: str) -> pa.Array:
    own = found.columns.get(name)
    return pa.nulls(found.count, _SCHEMA.field(name).type) if own is None else own


def batch_from(found: Found, origin: Origin, version: KafkaVersion | None) -> pa.RecordBatch:
    """The rows with what their prefixes, their kinds and the file's place tell."""
    if not found.count:
        return NO_EVENTS
    told = {
        **_repeated(_of_prefixes(found.prefixes, origin), found.prefix_numbers),
        **_repeated(_of_events(found.events, version), found.event_numbers),
    }
    place = {"cluster_id": origin.cluster_id, "log_dir": origin.log_dir, "source": origin.source}
    arrays: list[pa.Array] = []
    for name, type_ in _TYPES:
        own = found.columns.get(name)
        if name in told:
            # Where the line tells it itself, its prefix does not count.
            own = told[name] if own is None else pc.coalesce(own, told[name])
        arrays.append(pa.repeat(pa.scalar(place.get(name), type_), found.count) if own is None else own)
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


class _Columns:
    """The columns that lines fill themselves, wording after wording; lives only while a batch is made."""

    def __init__(self) -> None:
        self.count = 0
        self.values: dict[str, list[Value]] = {}
        self.prefixes: list[int] = []

    def add(self, matcher: Matcher, hits: list[Hit], prefixes: dict[bytes | None, int]) -> None:
        """The hits of one wording; `prefixes` numbers the different prefixes."""
        told = list(zip(*hits, strict=True))
        *head, heads, details = told[:_GROUPS]
        by_group = told[_GROUPS:]
        columns: dict[str, Sequence[Value]] = dict(zip(_HEAD, head, strict=True))
        for setter in matcher.setters:
            columns |= zip(setter.columns, _converted(by_group[setter.group], setter), strict=True)
        for to, of in matcher.copies:
            columns[to] = columns[of]
        if matcher.tells_more:
            columns["detail"] = details
        for prefix in heads:
            prefixes.setdefault(prefix, len(prefixes))
        self.prefixes += map(prefixes.__getitem__, heads)
        self._append(columns, len(hits))

    def _append(self, columns: Mapping[str, Sequence[Value]], count: int) -> None:
        for name in columns.keys() - self.values.keys():
            self.values[name] = [None] * self.count
        self.count += count
        for name, values in self.values.items():
            values.extend(columns.get(name) or [None] * count)


def _converted(groups: Sequence[bytes | None], setter: Setter) -> Iterable[Sequence[Value]]:
    """The values of a group, a sequence for each of its columns; null where the line lacks the group."""
    convert, width = setter.convert, len(setter.columns)
    if None in groups:
        nothing = None if width == 1 else (None,) * width
        values = [nothing if group is None else convert(group) for group in groups]
    else:
        values = list(map(convert, groups))  # type: ignore[arg-type]
    return (values,) if width == 1 else zip(*values, strict=True)  # type: ignore[return-value]


def _repeated(few: Mapping[str, Sequence[Value]], places: pa.Array) -> dict[str, pa.Array]:
    """Columns of few different values, each made once and repeated."""
    return {name: pa.array(values, _SCHEMA.field(name).type).take(places) for name, values in few.items()}


def _of_prefixes(prefixes: Iterable[bytes | None], origin: Origin) -> dict[str, Sequence[Value]]:
    parsed = [parse_prefix(prefix) if prefix else NO_PREFIX for prefix in prefixes]
    return {
        "broker": [origin.broker if prefix.broker is None else prefix.broker for prefix in parsed],
        "component": [prefix.component for prefix in parsed],
        "topic": [prefix.topic or origin.topic for prefix in parsed],
        "partition": [origin.partition if prefix.partition is None else prefix.partition for prefix in parsed],
        "leader": [prefix.leader for prefix in parsed],
        "directory": [prefix.directory for prefix in parsed],
    }


def _of_events(events: Sequence[Event], version: KafkaVersion | None) -> dict[str, Sequence[Value]]:
    trusts = [trust_of(event.kind, version) for event in events]
    return {
        "kind": [event.kind for event in events],
        "trust": [trust.level for trust in trusts],
        "trust_reason": [trust.reason for trust in trusts],
        "doubtful": [",".join(trust.doubtful) or None for trust in trusts],
    }
