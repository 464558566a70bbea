"""A policy applied to what was judged: which findings weigh how much, and which of them make a run fail."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from auditor.config import AuditConfig, ConfigError
from auditor.config.policy import NO_POLICY, AcceptedFinding, Policy
from auditor.kept_report import NO_REPORT, apart, clusters_of, fingerprint_of, report_in, topic_id_of
from auditor.report.policy_outcome import PolicyOutcome, SilencedLine, ThresholdSet
from rules.catalog import BY_ID
from rules.finding import Finding, may_be_one_topic
from rules.fingerprint import by_name
from rules.verdict import PartitionVerdict

WHAT: Final = "the baseline"


def weighed(verdicts: Iterable[PartitionVerdict], policy: Policy) -> Iterator[PartitionVerdict]:
    """The verdicts without the rules that are off, and with the severities that were set."""
    for verdict in verdicts:
        if policy == NO_POLICY:
            yield verdict
            continue
        findings = tuple(_weighed(f, policy) for f in verdict.findings if f.rule not in policy.off)
        undecided = tuple(point for point in verdict.undecided if point.rule not in policy.off)
        yield structs.replace(verdict, findings=findings, undecided=undecided)


def _weighed(finding: Finding, policy: Policy) -> Finding:
    """A finding that the rule itself weighs otherwise than its page keeps the rule's weight."""
    causes = tuple(cause for cause in finding.implied_by if cause not in policy.off)
    severity = dict(policy.severities).get(finding.rule)
    own = finding.verdict == "violated" and finding.severity == BY_ID[finding.rule].severity
    finding = finding if causes == finding.implied_by else replace(finding, implied_by=causes)
    return replace(finding, severity=int(severity)) if severity is not None and own else finding


def outcome_of(
    findings: Sequence[Finding],
    left_out: int,
    config: AuditConfig,
    clusters: Collection[str] = (),
    today: date | None = None,
) -> PolicyOutcome | None:
    """What the policy and the baseline make of the findings; nothing where neither was given."""
    policy = config.policy
    if policy == NO_POLICY and not config.baseline:
        return None
    before, of = _baseline(config)
    foreign = apart(of, clusters)
    before = {} if foreign else before
    named = [(by_name(finding.fingerprint), finding) for finding in findings]
    known = [(key, f) for key, f in named if key in before and may_be_one_topic(f.topic_id, before[key])]
    day = today or datetime.now(UTC).date()
    matched = [(silence, _meant(silence, findings)) for silence in policy.silences]
    return PolicyOutcome(
        rules_off=policy.off,
        left_out=left_out,
        severities=policy.severities,
        thresholds=tuple(_thresholds(policy)),
        silenced=tuple(_line(s, found) for s, found in matched if found and s.until >= day),
        expired=tuple(_line(s, found) for s, found in matched if found and s.until < day),
        unmatched=tuple(_line(s, None) for s, found in matched if not found),
        baseline=config.baseline,
        foreign=tuple(tuple(sorted(each)) for each in (of, clusters)) if foreign else (),
        known=tuple(finding.id for _, finding in known),
        gone=len(before.keys() - {key for key, _ in known}),
    )


def _thresholds(policy: Policy) -> Iterator[ThresholdSet]:
    for given in policy.thresholds:
        (own,) = (each for each in BY_ID[given.rule].thresholds if each.name == given.name)
        yield ThresholdSet(rule=given.rule, name=given.name, unit=own.unit, value=given.value, default=own.default)


def require_baseline(config: AuditConfig) -> None:
    """Refuse a baseline that is no report before anything is read: a long audit must not end with that."""
    _baseline(config)


def counted(findings: Iterable[Finding], outcome: PolicyOutcome | None) -> tuple[Finding, ...]:
    """The findings that may make the run fail: a question that is silenced stays open."""
    if outcome is None:
        return tuple(findings)
    silenced = {line.finding for line in outcome.silenced}
    known = set(outcome.known)
    return tuple(f for f in findings if f.id not in known and (f.verdict == "undecided" or f.id not in silenced))


def _meant(silence: AcceptedFinding, findings: Sequence[Finding]) -> Finding | None:
    """The one finding whose fingerprint begins so."""
    found = [finding for finding in findings if finding.fingerprint.startswith(silence.digits)]
    return found[0] if len(found) == 1 else None


def _line(silence: AcceptedFinding, found: Finding | None) -> SilencedLine:
    named = f"F-{silence.digits}" if found is None else found.id
    return SilencedLine(finding=named, reason=silence.reason, until=silence.until.isoformat())


def _baseline(config: AuditConfig) -> tuple[dict[str, str | None], frozenset[str]]:
    """The fingerprints of a report's findings, each with the topic's id; and the clusters that it is of."""
    if not config.baseline:
        return {}, frozenset()
    try:
        document = report_in(Path(config.baseline), WHAT)
        return {fingerprint_of(f): topic_id_of(f) for f in document["findings"]}, clusters_of(document)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"{config.named('baseline')} {config.baseline}: {NO_REPORT}, found something else") from None
