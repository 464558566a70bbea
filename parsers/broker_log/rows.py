"""Lines that were found, made into an Arrow batch of events a column at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from parsers.broker_log.catalogue import Matcher, Setter, Value
from parsers.broker_log.prefix import NO_PREFIX, parse_prefix
from parsers.broker_log.trust import trust_of
from parsers.broker_log.version import KafkaVersion
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import BrokerEvent, Refusal, arrow_schema

Hit: TypeAlias = tuple[int | str | bytes | None, ...]
"""A row to be: first byte, last byte, time, level, logger, prefix, detail, then the groups of the pattern.

Plain and flat, because there are millions, and the collector of garbage leaves a tuple of plain things alone.
"""
_GROUPS: Final = 7
"""Where the groups begin in a hit."""

Column: TypeAlias = Sequence[Value] | pa.Array

_SCHEMA: Final = arrow_schema(BrokerEvent)
_TYPES: Final = tuple((field.name, field.type) for field in _SCHEMA)


def batch_of(
    hits: Mapping[Matcher, list[Hit]], origin: Origin, version: KafkaVersion | None
) -> tuple[pa.RecordBatch, list[Refusal]]:
    """The rows of all hits in the order of their lines, and a refusal for each line whose numbers no column can hold."""
    batches: list[pa.RecordBatch] = []
    refusals: list[Refusal] = []
    for matcher, found in hits.items():
        batches += _batches(matcher, found, origin, version, refusals)
    if not batches:
        return pa.RecordBatch.from_pylist([], schema=_SCHEMA), refusals
    joined = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    order = pc.sort_indices(joined.column("span_start"))
    return joined.take(order), refusals


def _batches(
    matcher: Matcher, hits: list[Hit], origin: Origin, version: KafkaVersion | None, refusals: list[Refusal]
) -> list[pa.RecordBatch]:
    """One batch; where a number does not fit, one for each hit that is sound."""
    try:
        return [_batch(matcher, hits, origin, version)]
    except (OverflowError, ValueError):
        if len(hits) > 1:
            return [batch for hit in hits for batch in _batches(matcher, [hit], origin, version, refusals)]
        found = b" ".join(group for group in hits[0][_GROUPS:] if isinstance(group, bytes))
        start, end = (int(place or 0) for place in hits[0][:2])
        refusals.append(refuse(origin, "malformed", start, end, expected="numbers that Kafka can hold", found=found))
        return []


def _batch(matcher: Matcher, hits: list[Hit], origin: Origin, version: KafkaVersion | None) -> pa.RecordBatch:
    starts, ends, times, levels, loggers, prefixes, details, *by_group = zip(*hits, strict=True)
    columns: dict[str, Column] = {
        "span_start": starts, "span_end": ends, "time_text": times, "level": levels, "logger": loggers,
    }  # fmt: skip
    columns |= _prefix_columns(prefixes, origin)
    for setter in matcher.setters:
        columns[setter.column] = _filled(by_group[setter.group], setter, columns.get(setter.column))
    for to, of in matcher.copies:
        columns[to] = columns[of]
    if matcher.event.whole_message or matcher.event.reason_follows:
        columns["detail"] = details
    trust = trust_of(matcher.event.kind, version)
    fixed: dict[str, Value] = {
        "cluster_id": origin.cluster_id, "log_dir": origin.log_dir, "source": origin.source, "kind": matcher.event.kind,
        "trust": trust.level, "trust_reason": trust.reason, "doubtful": ",".join(trust.doubtful) or None,
    }  # fmt: skip
    arrays = [_array(columns.get(name), fixed.get(name), type_, len(hits)) for name, type_ in _TYPES]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _prefix_columns(prefixes: Sequence[bytes | None], origin: Origin) -> dict[str, Column]:
    """The columns that prefixes fill: each of the few different prefixes is looked at once, and its values repeated."""
    place = {prefix: index for index, prefix in enumerate(dict.fromkeys(prefixes))}
    indices = pa.array([place[prefix] for prefix in prefixes], pa.int32())
    parsed = [parse_prefix(prefix) if prefix else NO_PREFIX for prefix in place]
    known: dict[str, list[Value]] = {
        "broker": [origin.broker if prefix.broker is None else prefix.broker for prefix in parsed],
        "component": [prefix.component for prefix in parsed],
        "topic": [prefix.topic or origin.topic for prefix in parsed],
        "partition": [origin.partition if prefix.partition is None else prefix.partition for prefix in parsed],
        "leader": [prefix.leader for prefix in parsed],
        "directory": [prefix.directory for prefix in parsed],
    }
    return {name: pa.array(values, _SCHEMA.field(name).type).take(indices) for name, values in known.items()}


def _filled(groups: Sequence[bytes | None], setter: Setter, before: Column | None) -> Column:
    """A column from a group; where the line lacks the group, what the prefix told stays."""
    convert = setter.convert
    if None not in groups:
        return list(map(convert, groups))  # type: ignore[arg-type]
    told = before.to_pylist() if isinstance(before, pa.Array) else before or [None] * len(groups)
    return [old if group is None else convert(group) for group, old in zip(groups, told, strict=True)]


def _array(column: Column | None, fixed: Value, type_: pa.DataType, count: int) -> pa.Array:
    if column is None:
        return pa.repeat(pa.scalar(fixed, type_), count)
    return column if isinstance(column, pa.Array) else pa.array(column, type_)
