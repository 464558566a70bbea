"""Facts travel through Arrow, come in any order, and give one evidence and one verdict."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.plan.units import ReadUnit
from auditor.engines.reading import read_unit
from auditor.engines.settle import settle
from parsers.tables import from_arrow, to_arrow
from rules.narrow.assemble import assemble
from rules.narrow.facts import Fact, Surroundings
from rules.sketch.statement_lines import read_event
from rules.verdict import PartitionVerdict
from tests.replaced import replace

pytestmark = pytest.mark.slow

SAMPLES = ("fast_failover_kip101", "bit_rot_payload", "recreated_topic")


def facts_of(dump: Path) -> tuple[dict[str | None, Surroundings], dict[tuple[str, int], list[Fact]], str]:
    prepared = prepare(gather(dump), AuditConfig(engine="local"))
    facts: dict[tuple[str, int], list[Fact]] = {}
    units: tuple[ReadUnit, ...] = prepared.units
    for unit in units:
        for fact in read_unit(unit, "full"):
            if fact.topic is not None and fact.partition is not None:
                facts.setdefault((fact.topic, fact.partition), []).append(fact)
    return dict(prepared.surroundings), facts, units[0].dump


@pytest.mark.parametrize("name", SAMPLES)
def test_facts_in_any_order_are_one_evidence(name: str, sample: object) -> None:
    surroundings, facts, _ = facts_of(sample(name))  # type: ignore[operator]
    order = random.Random(7)  # noqa: S311 - a choice of orders
    for own in facts.values():
        around = surroundings[own[0].cluster_id]
        evidence = assemble(own, around)
        for _ in range(3):
            assert assemble(order.sample(own, len(own)), around) == evidence


@pytest.mark.parametrize("name", SAMPLES)
def test_facts_and_verdicts_travel_unchanged(name: str, sample: object) -> None:
    surroundings, facts, dump = facts_of(sample(name))  # type: ignore[operator]
    every = [fact for own in facts.values() for fact in own]
    assert from_arrow(to_arrow(every, Fact), Fact) == every
    verdicts = [verdict for own in facts.values() for verdict in settle(own, surroundings, dump)]
    assert any(verdict.findings for verdict in verdicts)
    assert from_arrow(to_arrow(verdicts, PartitionVerdict), PartitionVerdict) == verdicts


def test_facts_without_a_partition_are_no_evidence() -> None:
    fact = Fact(
        cluster_id=None,
        topic=None,
        partition=None,
        topic_id=None,
        broker=1,
        log_dir="d",
        path=None,
        state="current",
        order=0,
    )
    with pytest.raises(ValueError, match="without a partition"):
        assemble([fact], Surroundings(cluster_id=None))


def test_without_a_replica_the_life_of_a_topic_that_was_told_last_is_judged() -> None:
    lives = [
        replace(read_event(line), topic_id=life)
        for line, life in (("t1 leads 1 epoch 0 at 0 hw 0", "a"), ("t9 leads 1 epoch 0 at 0 hw 0", "b"))
    ]
    fact = Fact(
        cluster_id=None,
        topic="again",
        partition=0,
        topic_id=None,
        broker=-1,
        log_dir="",
        path=None,
        state="current",
        order=0,
        moments=(*lives, read_event("t5 acks 1 at 40 acks=all")),
    )
    evidence = assemble([fact], Surroundings(cluster_id=None))
    assert [moment.time for moment in evidence.moments] == [9]
