"""The local engine: the same functions as on a cluster, in one loop over partitions, without a JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from auditor.engines.named_statements import heard
from auditor.engines.plan.selection import Selection
from auditor.engines.plan.units import OF_ONE_PARTITION, ReadUnit
from auditor.engines.progress import Progress
from auditor.engines.reading import UnitReader
from auditor.engines.settle import settle
from auditor.engines.witnesses.broker_settings import informed
from rules.narrow.facts import Fact, Surroundings
from rules.verdict import PartitionVerdict

PartitionKey = tuple[str | None, str | None, int | None]


def run(
    units: Sequence[ReadUnit],
    surroundings: Mapping[str | None, Surroundings],
    progress: Progress,
    selection: Selection,
    reader: UnitReader | None = None,
) -> Iterator[PartitionVerdict]:
    """Verdicts partition by partition; only one partition's facts and the log dirs' claims are held at a time."""
    claimed: list[Fact] = []
    partitions: dict[PartitionKey, list[ReadUnit]] = {}
    reader = reader or UnitReader()
    of_clusters: list[Fact] = []
    for unit in units:
        if unit.kind not in OF_ONE_PARTITION:
            for fact in reader.read(unit, surroundings[unit.cluster_id].level):
                if fact.of_the_cluster:
                    of_clusters.append(fact)
                elif fact.topic is None or selection.admits(fact.topic, fact.partition):
                    claimed.append(fact)
            progress.advance(unit.bytes)
        else:
            partitions.setdefault((unit.cluster_id, unit.topic, unit.partition), []).append(unit)
    dump = units[0].dump if units else ""
    known, topics = informed(surroundings, of_clusters), heard(units, of_clusters, selection)
    claims: dict[PartitionKey, list[Fact]] = {}
    for fact in topics.named(claimed):
        claims.setdefault((fact.cluster_id, fact.topic, fact.partition), []).append(fact)
    del claimed
    yield from topics.verdicts()
    for key in sorted(claims.keys() | partitions.keys(), key=repr):
        facts = claims.pop(key, [])
        for unit in partitions.get(key, ()):
            facts.extend(reader.read(unit, surroundings[unit.cluster_id].level))
            progress.advance(unit.bytes)
        progress.partition(key[1], key[2])
        yield from settle(facts, known, dump)
