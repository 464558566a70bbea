"""What a unit tells of topics' ids: the names that they bear, and statements that tell an id without a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.statements_of_rows import PartitionName, known_id
from rules.evidence import METADATA_TOPIC
from rules.history.moments import Moment
from rules.history.repetitions import standing_for
from rules.narrow.facts import Fact
from rules.replicas.topic_names import Nameless, TopicName

METADATA_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
"""Kafka gives the metadata log this id in every cluster."""
Spoken = dict[PartitionName, list[Moment]]
"""Statements by what they are about."""


def names_of(unit: ReadUnit) -> dict[str, str]:
    """The topics of ids that are known before a unit is read."""
    return {METADATA_ID: METADATA_TOPIC, **{name.topic_id: name.topic for name in unit.names}}


def apart(spoken: Mapping[PartitionName, list[Moment]]) -> Iterator[tuple[PartitionName, str | None, list[Moment]]]:
    """Statements of each partition, those of different ids apart where only the id is known."""
    for (topic, partition), moments in spoken.items():
        if topic is not None:
            yield (topic, partition), None, moments
            continue
        by_id: dict[str | None, list[Moment]] = {}
        for moment in moments:
            by_id.setdefault(moment.topic_id, []).append(moment)
        yield from (((None, partition), topic_id, own) for topic_id, own in by_id.items())


def of_topics(unit: ReadUnit, spoken: Mapping[PartitionName, list[Moment]], others: Iterable[TopicName]) -> list[Fact]:
    """What a unit tells of ids, in its statements or beside them: names in a fact, ids without one in another."""
    pairs = {(known_id(name.topic_id), name.topic) for name in others}
    pairs.update((m.topic_id, topic) for (topic, _), moments in spoken.items() if topic is not None for m in moments)
    pairs -= {(name.topic_id, name.topic) for name in unit.names}
    names = [TopicName(topic_id=topic_id, topic=topic) for topic_id, topic in sorted(_whole(pairs))]
    nameless = [
        Nameless(topic_id=topic_id, partition=partition, statements=sum(map(standing_for, moments)))
        for (_, partition), topic_id, moments in apart(spoken)
        if topic_id is not None
    ]
    blank = unit_fact(unit, None, None)
    facts = [replace(blank, names=tuple(names))] if names else []
    return [*facts, replace(blank, nameless=tuple(nameless))] if nameless else facts


def _whole(pairs: Iterable[tuple[str | None, str | None]]) -> Iterator[tuple[str, str]]:
    return ((topic_id, topic) for topic_id, topic in pairs if topic_id is not None and topic is not None)


def named_in(events: pa.RecordBatch) -> set[TopicName]:
    """The names of ids that lines of a broker's log tell, whatever else they are about."""
    both = events.filter(pc.and_(pc.is_valid(events["topic_id"]), pc.is_valid(events["topic"])))
    pairs = set(zip(both["topic_id"].to_pylist(), both["topic"].to_pylist(), strict=True))
    return {TopicName(topic_id=topic_id, topic=topic) for topic_id, topic in pairs}
