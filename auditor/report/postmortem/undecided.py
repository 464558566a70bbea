"""What the incident report could not determine, and which evidence would decide it."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.alike import alike_points
from auditor.report.bill import span
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Loss
from auditor.report.postmortem.parts import SHOWN, about, billed, capped, place


def still_open(report: AuditReport) -> Iterator[str]:
    """The section."""
    yield "## What could not be determined\n"
    lines = [*_undecided(report), *_of_losses(report), *_absent(report), *_missing(report), *_unasked(report)]
    lines += [f"- {text(report.coverage.elsewhere)}"] if report.coverage.elsewhere else []
    lines += [f"- {text(absent.words)}" for absent in report.coverage.absent_logs]
    lines += [f"- {text(report.coverage.nameless)}"] if report.coverage.nameless else []
    lines += [
        f"- {code(line.path)}: expected {text(line.expected)}, found {text(line.found)}"
        for line in report.refusals[:SHOWN]
    ]
    yield "\n".join(lines) if lines else "Nothing was left open."
    yield from capped(len(report.refusals), "refusal")


def _undecided(report: AuditReport) -> Iterator[str]:
    open_findings = [finding for finding in report.findings if finding.verdict == "undecided"]
    alike_findings: dict[tuple[str, str], list[str]] = {}
    for finding in open_findings[:SHOWN]:
        alike_findings.setdefault((about(finding), finding.message), []).append(finding.rule)
    for (where, message), rules in alike_findings.items():
        yield f"- {', '.join(dict.fromkeys(rules))} {where}: {text(message)}"
    yield from capped(len(open_findings), "open question")
    open_points = (p for p in report.coverage.undecided if not p.blocking and p.asked_at_level is None)
    for alike in alike_points(open_points):
        point = alike.first
        named = f"{', '.join(alike.rules)}, " if alike.rules else ""
        yield f"- {named}{alike.words}: {text(point.reason)}; decided by {text(point.missing)}"


def _unasked(report: AuditReport) -> Iterator[str]:
    """What nobody asked at this level, in one line."""
    rules = sorted({p.rule for p in report.coverage.undecided if p.asked_at_level is not None})
    levels = sorted({p.asked_at_level for p in report.coverage.undecided if p.asked_at_level is not None})
    if rules:
        yield f"- asked only by an audit at level {' or '.join(levels)}: {', '.join(rules)}"


def _of_losses(report: AuditReport) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for history, loss in billed(report)[:SHOWN]:
        what = f"{place(history)} {span(loss.start_offset, loss.end_offset)} of epoch {loss.epoch}"
        for line in _of_loss(loss, report.level):
            alike.setdefault(line, []).append(what)
    yield from (f"- {', '.join(places)}: {line}" for line, places in alike.items())


def _of_loss(loss: Loss, level: str) -> Iterator[str]:
    if loss.contents is None:
        yield (
            "which records they were, and whose; decided by a copy: the disk of a broker that is not in this dump, a"
            " deleted segment, a mirror, a consumer's own store"
        )
    elif loss.contents.key_count is None:
        yield "which keys they had; decided by an audit at level deep"
    if not loss.restored and not loss.groups_known:
        unread = ", which level quick does not read," if level == "quick" else ""
        yield (
            f"which consumer groups had read them; decided by the logs of __consumer_offsets{unread} or what"
            " kafka-consumer-groups --describe printed"
        )
    if not loss.answers:
        yield "which producers were answered for them; decided by the leader's request log"


def _absent(report: AuditReport) -> Iterator[str]:
    for placed in report.advice[:SHOWN]:
        if placed.advice.absent:
            brokers = ", ".join(map(str, placed.advice.absent))
            yield f"- {place(placed)}: what the disks of assigned brokers hold that are not in this dump: {brokers}"


def _missing(report: AuditReport) -> Iterator[str]:
    coverage = report.coverage
    for missing in coverage.missing[:SHOWN]:
        yield f"- what the replica held that checkpoints name and the dump lacks: {text(missing.words)}"
    yield from capped(coverage.replicas_missing, "missing replica")
