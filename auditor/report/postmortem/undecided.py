"""What the incident report could not determine, and which evidence would decide it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from auditor.report.alike import PLACES_SHOWN, alike_points
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Loss, PlacedAdvice
from auditor.report.named_places import in_order, told_places
from auditor.report.postmortem.impact import Billed
from auditor.report.postmortem.parts import about, billed, place, places
from auditor.report.summary.folded_findings import folded, where
from rules.finding import offsets_told, place_of, question_told
from rules.words import counted

MOST: Final = 8
"""Of one kind; the rest is counted."""


def still_open(report: AuditReport) -> Iterator[str]:
    """The section."""
    yield "## What could not be determined\n"
    lines = [*_undecided(report), *_of_losses(report), *_absent(report), *_missing(report), *_unasked(report)]
    lines += [f"- {text(report.coverage.elsewhere)}"] if report.coverage.elsewhere else []
    lines += [f"- {text(absent.words)}." for absent in report.coverage.absent_logs]
    lines += [f"- {text(report.coverage.nameless)}"] if report.coverage.nameless else []
    lines += [
        f"- {code(line.path)}: expected {text(line.expected)}, found {text(line.found)}"
        for line in report.refusals[:MOST]
    ]
    if len(report.refusals) > MOST:
        lines.append(f"- … and {len(report.refusals) - MOST} more that could not be read: see the JSON report")
    yield "\n".join(lines) if lines else "Nothing was left open."


def _undecided(report: AuditReport) -> Iterator[str]:
    open_findings = [finding for finding in report.findings if finding.verdict == "undecided"]
    entries = folded(open_findings)
    for entry in entries[:MOST]:
        named = about(entry.finding) if len(entry.spots) == 1 else text(where([entry]))
        yield f"- {', '.join(entry.rules)} {named}: {text(entry.finding.message)}"
    if len(entries) > MOST:
        yield f"- … and {counted(len(entries) - MOST, 'more open question')}: see the JSON report"
    open_points = (p for p in report.coverage.undecided if not p.blocking and p.asked_at_level is None)
    for alike in alike_points(open_points):
        point = alike.first
        named = f"{', '.join(alike.rules)}, " if alike.rules else ""
        yield f"- {named}{text(alike.words)}: {text(question_told(point.reason, point.missing))}"


def _unasked(report: AuditReport) -> Iterator[str]:
    """What nobody asked at this level, in one line."""
    rules = sorted({p.rule for p in report.coverage.undecided if p.asked_at_level is not None})
    levels = sorted({p.asked_at_level for p in report.coverage.undecided if p.asked_at_level is not None})
    if rules:
        yield f"- Not checked without --level {' or '.join(levels)}: {', '.join(rules)}."


def _of_losses(report: AuditReport) -> Iterator[str]:
    alike: dict[str, list[Billed]] = {}
    for history, loss in billed(report):
        for line in _of_loss(loss, report.level):
            alike.setdefault(line, []).append((history, loss))
    for line, own in alike.items():
        (first, loss), where = own[0], told_places(in_order(place_of(each) for each, _ in own), PLACES_SHOWN)
        what = f"{counted(len(own), 'range')} in {text(where)}"
        if len(own) == 1:
            what = f"{place(first)} {offsets_told(loss.start_offset, loss.end_offset)} of {loss.epochs}"
        yield f"- {what}: {line}"


def _of_loss(loss: Loss, level: str) -> Iterator[str]:
    if loss.contents is None:
        yield (
            "which records they were, and whose. A copy would tell: the disk of a broker that is not in this dump, a"
            " deleted segment, a mirror, or a consumer's own store."
        )
    elif loss.contents.key_count is None:
        yield "which keys they had. An audit at level deep would tell."
    if not loss.restored and not loss.groups_known:
        unread = ", which level quick does not read," if level == "quick" else ""
        yield (
            f"which consumer groups had read them. The logs of __consumer_offsets{unread} would tell, or what"
            " kafka-consumer-groups --describe printed."
        )
    if not loss.answers:
        yield "which producers were answered for them. The leader's request log would tell."


def _absent(report: AuditReport) -> Iterator[str]:
    lacking: dict[tuple[int, ...], list[PlacedAdvice]] = {}
    for placed in report.advice:
        if placed.advice.absent:
            lacking.setdefault(placed.advice.absent, []).append(placed)
    for brokers, several in list(lacking.items())[:MOST]:
        named = ", ".join(map(str, brokers))
        yield f"- {places(several)}: what the disks of assigned brokers hold that are not in this dump: {named}"


def _missing(report: AuditReport) -> Iterator[str]:
    coverage = report.coverage
    for missing in coverage.missing[:MOST]:
        yield f"- what the replica held that checkpoints name and the dump lacks: {text(missing.words)}"
    if coverage.replicas_missing > MOST:
        yield f"- … and {counted(coverage.replicas_missing - MOST, 'more missing replica')}: see the JSON report"
