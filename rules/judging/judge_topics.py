"""Run the rules about whole topics, on what the verdicts about their partitions carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rules.finding import Finding, Severity, Undecided, Violation, named_facts
from rules.judging.giving_up import failed
from rules.judging.spoken import spoken
from rules.replicas.share import PartitionShare
from rules.rule import Rule
from rules.topic_evidence import TopicEvidence
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
        for said in _check(rule, evidence):
            if isinstance(said, Violation):
                findings.append(_violation(rule, said, evidence))
            else:
                undecided.append(
                    RuleCoverage(
                        rule=rule.id,
                        reason=said.reason,
                        missing=said.missing,
                        topic=evidence.topic,
                        partitions=tuple(share.partition for share in evidence.shares),
                        asked_at_level=said.asked_at_level,
                    )
                )
    return PartitionVerdict(
        cluster_id=evidence.cluster_id,
        topic=None,
        partition=None,
        findings=tuple(findings),
        undecided=tuple(undecided),
    )


def _check(rule: Rule, evidence: TopicEvidence) -> Iterator[Violation | Undecided]:
    """As for partitions: a rule that fails has not passed."""
    try:
        yield from () if rule.check_topic is None else tuple(rule.check_topic(evidence))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the rule has not judged
        yield failed("the rule", error)


def _violation(rule: Rule, said: Violation, evidence: TopicEvidence) -> Finding:
    ids = {share.topic_id for share in evidence.shares}
    severity: Severity = rule.severity if said.severity is None else said.severity
    return Finding(
        rule=rule.id,
        severity=int(severity),
        confidence=said.confidence,
        verdict="violated",
        cluster_id=evidence.cluster_id,
        topic=evidence.topic,
        topic_id=min(ids, key=repr) if len(ids) == 1 else None,
        partition=None,
        brokers=said.brokers,
        start_offset=said.start_offset,
        end_offset=said.end_offset,
        message=rule.message.format_map(spoken(said)),
        exhibits=said.exhibits,
        facts=named_facts(said.facts),
    )
