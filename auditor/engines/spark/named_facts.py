"""Topics for facts that bear an id alone, in the table of facts: names travel only where somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.functions import broadcast, coalesce, col, explode, expr

from auditor.engines.named_statements import Naming, nameless_in, naming
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import ReadUnit
from rules.narrow.facts import Fact
from rules.replicas.topic_names import TopicName

TELLS_NAMES: Final = "size(names) > 0"
"""Facts that tell nothing but names of ids."""
_ALONE: Final = "topic IS NULL AND topic_id IS NOT NULL"
_GIVEN: Final = "of_cluster string, of_id string, of_partition int, given string"


def heard(units: Sequence[ReadUnit], of_clusters: Sequence[Fact], facts: DataFrame, selection: Selection) -> Naming:
    """The topics of ids that stand alone, by all names that are told of these."""
    nameless = nameless_in(of_clusters)
    asked = sorted({each.topic_id for own in nameless.values() for each in own})
    names = _names(facts, asked) if asked else ()
    return naming(units, nameless, names, selection)


def _names(facts: DataFrame, asked: Sequence[str]) -> Iterator[tuple[str | None, TopicName]]:
    each = facts.where(TELLS_NAMES).select("cluster_id", explode("names").alias("name"))
    ids = facts.sparkSession.createDataFrame([(topic_id,) for topic_id in asked], "topic_id string")
    for row in each.select("cluster_id", "name.*").distinct().join(broadcast(ids), "topic_id").collect():
        yield row.cluster_id, TopicName(topic_id=row.topic_id, topic=row.topic)


def named(facts: DataFrame, topics: Naming) -> DataFrame:
    """The facts with their topics; those of no topic that is known, or that was asked for, are left out."""
    if not topics.topics:
        return facts.where(f"NOT ({_ALONE})")
    rows = [(*key, topic) for key, topic in topics.topics.items()]
    given = broadcast(facts.sparkSession.createDataFrame(rows, _GIVEN))
    same = "of_cluster <=> cluster_id AND of_id = topic_id AND of_partition = partition AND topic IS NULL"
    joined = facts.join(given, expr(same), "left").where(f"NOT ({_ALONE}) OR given IS NOT NULL")
    columns = {"topic": coalesce("topic", "given"), "topic_id": expr("IF(given IS NULL, topic_id, NULL)")}
    return joined.select(*(columns.get(name, col(name)).alias(name) for name in facts.columns))
