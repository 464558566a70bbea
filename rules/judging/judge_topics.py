"""Run the rules about whole topics, on what the verdicts about their partitions carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from rules.evidence.topic import TopicEvidence
from rules.finding import Finding, Violation
from rules.judging.said import Subject, finding, question, sayings
from rules.replicas.share import PartitionShare
from rules.rule import Rule
from rules.verdict import PartitionVerdict, RuleCoverage

TopicName = tuple[str | None, str]


def judge_topics(verdicts: Iterable[PartitionVerdict], rules: Sequence[Rule]) -> Iterator[PartitionVerdict]:
    """A verdict for every topic of which something is found or left open; it stands beside those of its partitions."""
    shares: dict[TopicName, list[PartitionShare]] = {}
    for verdict in verdicts:
        if verdict.share is not None and verdict.topic is not None:
            shares.setdefault((verdict.cluster_id, verdict.topic), []).append(verdict.share)
    for (cluster, topic), own in sorted(shares.items(), key=repr):
        ordered = tuple(sorted(own, key=lambda share: share.partition))
        said = _judged(TopicEvidence(cluster_id=cluster, topic=topic, shares=ordered), rules)
        if said.findings or said.undecided:
            yield said


def _judged(evidence: TopicEvidence, rules: Iterable[Rule]) -> PartitionVerdict:
    findings: list[Finding] = []
    undecided: list[RuleCoverage] = []
    for rule in rules:
        for said in () if rule.check_topic is None else sayings(partial(rule.check_topic, evidence)):
            if isinstance(said, Violation):
                findings.append(finding(rule, said, _place(evidence)))
            else:
                undecided.append(question(rule, said, evidence))
    return PartitionVerdict(
        cluster_id=evidence.cluster_id,
        topic=None,
        partition=None,
        findings=tuple(findings),
        undecided=tuple(undecided),
    )


def _place(evidence: TopicEvidence) -> Subject:
    ids = {share.topic_id for share in evidence.shares}
    topic_id = ids.pop() if len(ids) == 1 else None
    return Subject(cluster_id=evidence.cluster_id, topic=evidence.topic, topic_id=topic_id, partition=None)
