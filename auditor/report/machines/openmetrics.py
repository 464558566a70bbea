"""OpenMetrics: what a nightly run found, as gauges for a textfile collector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from auditor.report.model import AuditReport
from auditor.report.plain import plain
from rules.finding import Severity

VERDICTS = ("clean", "findings", "unknown")


def render(report: AuditReport) -> str:
    """Families in one order, ended as the format asks."""
    lines = (*_verdict(report), *_found(report), *_lost(report), *_seen(report), "# EOF")
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, says: str) -> Iterator[str]:
    yield f"# TYPE {name} gauge"
    yield f"# HELP {name} {says}"


def _verdict(report: AuditReport) -> Iterator[str]:
    yield from _family("tidemark_verdict", "1 for the verdict of the last audit, 0 for the others.")
    for verdict in VERDICTS:
        yield f"tidemark_verdict{_labels(verdict=verdict)} {int(report.verdict == verdict)}"
    yield from _family("tidemark_exit_code", "The code with which the last audit ended.")
    yield f"tidemark_exit_code {report.exit_code}"


def _found(report: AuditReport) -> Iterator[str]:
    """By severity all of them, zeros too, so that an alert never misses its series; by rule what there is."""
    violations = report.violations
    by_severity = Counter(finding.severity for finding in violations)
    yield from _family("tidemark_findings", "Findings by severity.")
    for severity in Severity:
        yield f"tidemark_findings{_labels(severity=severity.label)} {by_severity[severity]}"
    by_rule = Counter((finding.rule, finding.severity, finding.topic or "") for finding in violations)
    yield from _family("tidemark_rule_findings", "Findings by rule, severity and topic.")
    for (rule, severity_of, topic), count in sorted(by_rule.items()):
        labels = _labels(rule=rule, severity=Severity(severity_of).label, topic=topic)
        yield f"tidemark_rule_findings{labels} {count}"
    yield from _family("tidemark_undecided", "Questions that leave the verdict open.")
    yield f"tidemark_undecided {sum(point.blocking for point in report.coverage.undecided)}"


def _lost(report: AuditReport) -> Iterator[str]:
    by_topic: Counter[str] = Counter()
    for placed in report.histories:
        by_topic[placed.topic] += sum(
            loss.end_offset - loss.start_offset for loss in placed.losses if loss.for_good
        )
    yield from _family("tidemark_lost_offsets", "Offsets of earlier leaders that the leader's log does not hold now.")
    for topic, offsets in sorted(by_topic.items()):
        yield f"tidemark_lost_offsets{_labels(topic=topic)} {offsets}"


def _seen(report: AuditReport) -> Iterator[str]:
    coverage = report.coverage
    for name, says, value in (
        ("partitions", "Partitions that were judged.", coverage.partitions),
        ("replicas_seen", "Replicas in the dump.", coverage.replicas_seen),
        ("replicas_missing", "Replicas that are named and not in the dump.", coverage.replicas_away),
        ("seen_bytes", "Bytes in the dump.", coverage.bytes_seen),
        ("read_bytes", "Bytes that were read.", coverage.bytes_read),
        ("refused_bytes", "Bytes that could not be read.", coverage.bytes_refused),
        ("coverage_ratio", "Part of the bytes that was read, 0 to 1.", coverage.ratio),
    ):
        yield from _family(f"tidemark_{name}", says)
        yield f"tidemark_{name} {value}"


def _labels(**labels: str) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _escaped(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')
