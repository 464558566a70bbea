"""Lines that were found, made into an Arrow batch of events a column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from parsers.broker_log.catalogue import Matcher, Value
from parsers.broker_log.prefix import Prefix
from parsers.broker_log.trust import trust_of
from parsers.broker_log.version import KafkaVersion
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import BrokerEvent, Refusal, arrow_schema

Hit: TypeAlias = tuple[int, int, bytes | None, bytes | None, bytes | None, Prefix, str | None, tuple[bytes | None, ...]]
"""A row to be: first and last byte, time, level, logger, prefix, detail, groups. Plain, because there are millions."""

Column: TypeAlias = Sequence[Value] | pa.Array

_SCHEMA: Final = arrow_schema(BrokerEvent)


def batch_of(
    hits: dict[int, list[Hit]], matchers: dict[int, Matcher], origin: Origin, version: KafkaVersion | None
) -> tuple[pa.RecordBatch, list[Refusal]]:
    """The rows of all hits in the order of their lines, and a refusal for each line whose numbers no column can hold."""
    batches: list[pa.RecordBatch] = []
    refusals: list[Refusal] = []
    for number, found in hits.items():
        batches += _batches(matchers[number], found, origin, version, refusals)
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
        start, end, *_, groups = hits[0]
        found = b" ".join(group for group in groups if group)
        refusals.append(refuse(origin, "malformed", start, end, expected="numbers that Kafka can hold", found=found))
        return []


def _batch(matcher: Matcher, hits: list[Hit], origin: Origin, version: KafkaVersion | None) -> pa.RecordBatch:
    columns = _line_columns(hits, origin)
    groups = list(zip(*(hit[7] for hit in hits), strict=True))
    for setter in matcher.setters:
        columns[setter.column] = _filled(groups[setter.group], setter.convert, columns.get(setter.column))
    for to, of in matcher.copies:
        columns[to] = columns[of]
    if matcher.event.whole_message or matcher.event.reason_follows:
        columns["detail"] = [hit[6] for hit in hits]
    trust = trust_of(matcher.event.kind, version)
    fixed: dict[str, Value] = {
        "cluster_id": origin.cluster_id, "log_dir": origin.log_dir, "source": origin.source, "kind": matcher.event.kind,
        "trust": trust.level, "trust_reason": trust.reason, "doubtful": ",".join(trust.doubtful) or None,
    }  # fmt: skip
    count = len(hits)
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else _repeated(fixed.get(field.name), field, count)
        for field in _SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _line_columns(hits: list[Hit], origin: Origin) -> dict[str, Column]:
    """The columns that the entry's head and the message's prefix fill, as far as any hit has them."""
    starts, ends, times, levels, loggers, prefixes, *_ = zip(*hits, strict=True)
    columns: dict[str, Column] = {
        "span_start": starts, "span_end": ends, "time_text": times, "level": levels, "logger": loggers,
        "broker": [origin.broker if prefix.broker is None else prefix.broker for prefix in prefixes],
        "component": [prefix.component for prefix in prefixes],
        "topic": [prefix.topic or origin.topic for prefix in prefixes],
        "partition": [origin.partition if prefix.partition is None else prefix.partition for prefix in prefixes],
        "leader": [prefix.leader for prefix in prefixes],
        "directory": [prefix.directory for prefix in prefixes],
    }  # fmt: skip
    return columns


def _filled(groups: Sequence[bytes | None], convert: object, before: Column | None) -> list[Value]:
    """A column from a group; where the line lacks the group, what the head and prefix told stays."""
    if before is None:
        return [None if group is None else convert(group) for group in groups]  # type: ignore[operator]
    return [old if group is None else convert(group) for group, old in zip(groups, before, strict=True)]  # type: ignore[operator]


def _repeated(value: Value, field: pa.Field, count: int) -> pa.Array:
    return pa.nulls(count, field.type) if value is None else pa.repeat(pa.scalar(value, field.type), count)
