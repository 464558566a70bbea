"""The evidence about every partition of a sample, statements over time included, made once for all tests that ask."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.named_statements import heard
from auditor.engines.plan.selection import Selection
from auditor.engines.reading import read_unit
from auditor.engines.witnesses.broker_settings import informed
from rules.evidence import PartitionEvidence
from rules.narrow.assemble import assemble
from rules.narrow.facts import Fact

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


@cache
def histories(case: str) -> dict[tuple[str, int], PartitionEvidence]:
    return evidence_of(SAMPLES / case / "dump")


def evidence_of(dump: Path) -> dict[tuple[str, int], PartitionEvidence]:
    """The evidence about each partition that anything in the dump speaks of."""
    prepared = prepare(gather(dump), AuditConfig(level="quick"))
    facts: dict[tuple[str | None, str, int], list[Fact]] = defaultdict(list)
    every = [fact for unit in prepared.units for fact in read_unit(unit, "quick")]
    of_clusters = [fact for fact in every if fact.of_the_cluster]
    for fact in heard(prepared.units, of_clusters, Selection()).named(every):
        if fact.topic is not None and fact.partition is not None:
            facts[fact.cluster_id, fact.topic, fact.partition].append(fact)
    surroundings = informed(prepared.surroundings, of_clusters)
    return {
        (topic, partition): assemble(own, surroundings[cluster])
        for (cluster, topic, partition), own in facts.items()
        if any(fact.path is not None or fact.moments for fact in own)
    }
