"""Rules over time on random walks of a cluster that keeps the protocol: what never happens there is never found."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.evidence import BrokerVersion, PartitionEvidence
from rules.finding import Severity, Violation
from tests.models.oracle import Version
from tests.models.test_replay_truth import TOLD_OF, by_name, losses, walk
from tests.models.witnessed import moments_of

NEVER = ("LEAD004", "EPOCH008", "HW006", "BUG001")

MILD = (Severity.INFO, Severity.LOW)


def found(version: Version, seed: int) -> list[tuple[str, str]]:
    """What the rules say of medium severity or above, with everything told and with some files lost."""
    walked = walk(version, seed)
    moments = moments_of(walked)
    brokers = tuple(BrokerVersion(broker=broker, binary=version.name) for broker in walked.recorder.generations)
    said: list[tuple[str, str]] = []
    for kept in (moments, losses(walked, moments, seed)["files"]):
        evidence = PartitionEvidence(
            cluster_id=None, topic="t", partition=0, replicas=(), moments=kept, versions=brokers
        )
        for rule in map(BY_ID.__getitem__, NEVER):
            alarms = (answer for answer in rule.check(evidence) if isinstance(answer, Violation))
            said += [(rule.id, str(alarm.facts)) for alarm in alarms if alarm.severity not in MILD]
    return said


@pytest.mark.parametrize("version", TOLD_OF, ids=by_name)
def test_a_lawful_walk_raises_no_alarm(version: Version) -> None:
    assert [said for seed in range(4) for said in found(version, seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("version", TOLD_OF, ids=by_name)
def test_many_lawful_walks_raise_no_alarm(version: Version) -> None:
    assert [said for seed in range(1000, 1100) for said in found(version, seed)] == []
