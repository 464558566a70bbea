"""Statements that tell a topic's id alone find their topic, once all who tell an id and a name have been heard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import ReadUnit
from rules.narrow.facts import Fact
from rules.replicas.topic_names import Nameless, TopicIds, TopicName, UnnamedTopicId, without_one_name
from rules.verdict import PartitionVerdict

Cluster = str | None
IdKey = tuple[Cluster, str, int]
"""Cluster, topic id and partition."""


class Naming(Struct, frozen=True, kw_only=True):
    """The topics of ids that stand alone in statements, and the ids that are left without one."""

    topics: Mapping[IdKey, str]
    """Of those partitions that were asked for."""
    unnamed: Mapping[Cluster, tuple[UnnamedTopicId, ...]]

    def named(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The facts with their topics; what is of no topic that is known, or that was asked for, is left out."""
        for fact in facts:
            if fact.topic is not None or fact.topic_id is None:
                yield fact
                continue
            topic = self.topics.get((fact.cluster_id, fact.topic_id, fact.partition or 0))
            if topic is not None:
                yield replace(fact, topic=topic, topic_id=None)

    def verdicts(self) -> Iterator[PartitionVerdict]:
        """What is said of statements that found no topic: that they are there."""
        for cluster, unnamed in self.unnamed.items():
            yield PartitionVerdict(cluster_id=cluster, topic=None, partition=None, unnamed=unnamed)


def nameless_in(facts: Iterable[Fact]) -> dict[Cluster, list[Nameless]]:
    """What tells an id alone, by cluster."""
    found: dict[Cluster, list[Nameless]] = {}
    for fact in facts:
        if fact.nameless:
            found.setdefault(fact.cluster_id, []).extend(fact.nameless)
    return found


def heard(units: Sequence[ReadUnit], facts: Sequence[Fact], selection: Selection) -> Naming:
    """The same from all facts that are told of clusters."""
    borne_names = ((fact.cluster_id, name) for fact in facts for name in fact.names)
    return naming(units, nameless_in(facts), borne_names, selection)


def naming(
    units: Sequence[ReadUnit],
    nameless: Mapping[Cluster, Sequence[Nameless]],
    named: Iterable[tuple[Cluster, TopicName]],
    selection: Selection,
) -> Naming:
    """The topic of each id by directories, else by those of its cluster that tell it, else by anybody.

    Ids are drawn at random: no two clusters have one in common, but whose a log is may be unknown.
    """
    names = list(named)
    borne, anybody = TopicIds(_borne(units)), TopicIds(name for _, name in names)
    topics: dict[IdKey, str] = {}
    unnamed: dict[Cluster, tuple[UnnamedTopicId, ...]] = {}
    for cluster in sorted(nameless, key=repr):
        own = TopicIds(name for of, name in names if of == cluster)
        names_of: dict[str, tuple[str, ...]] = {}
        for topic_id in {each.topic_id for each in nameless[cluster]}:
            names_of[topic_id] = borne.names(topic_id) or own.names(topic_id) or anybody.names(topic_id)
        for each in nameless[cluster]:
            (topic, *others) = names_of[each.topic_id] or ("",)
            if topic and not others and selection.admits(topic, each.partition):
                topics[cluster, each.topic_id, each.partition] = topic
        if left := without_one_name(nameless[cluster], names_of):
            unnamed[cluster] = left
    return Naming(topics=topics, unnamed=unnamed)


def _borne(units: Sequence[ReadUnit]) -> Iterable[TopicName]:
    """What directories tell: the plan gives it to request logs; without any, the replicas' own units have it."""
    given = next((unit.names for unit in units if unit.names), ())
    held = ((u.topic_id, u.topic) for u in units if u.kind == "directory")
    return given or {TopicName(topic_id=each, topic=topic) for each, topic in held if each is not None and topic}
