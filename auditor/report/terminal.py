"""The report for a person at a terminal: the verdict and its coverage first, then causes, then every replica."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

from auditor.report.alike import alike_points
from auditor.report.findings import told
from auditor.report.layout import Page, counted, size
from auditor.report.model import AuditReport, Coverage
from auditor.report.replicas import replica_table
from rules.finding import Severity

REFUSALS_SHOWN: Final = 20
MISSING_SHOWN: Final = 6
LAST_MOMENT: Final = 253_402_300_800_000
"""Milliseconds up to the end of the year 9999."""
SEVERITIES: Final = ("critical", "high", "medium", "low")


def render(
    report: AuditReport, *, columns: int = 100, colour: bool = False, verbose: bool = False, quiet: bool = False
) -> str:
    """The whole report; whatever the dump holds, it is printed as text and as nothing else."""
    page = Page(columns=columns, colour=colour)
    lines = [*_headline(report, page), *_ledger(report.coverage, page, quiet=quiet)]
    lines += told(report, page, verbose=verbose, quiet=quiet)
    lines += _refusals(report, page, verbose=verbose)
    lines += replica_table(report.replicas, page, verbose=verbose)
    return "\n".join(lines) + "\n"


def _headline(report: AuditReport, page: Page) -> Iterator[str]:
    coverage = report.coverage
    read = f"{int(coverage.ratio * 1000) / 10}% of {size(coverage.bytes_seen)} read"
    if not coverage.replicas_seen:
        read = "no broker's disk is here"
    reach = f"{coverage.scope.words}: " if report.verdict == "clean" and coverage.scope.words else ""
    text = f"{report.verdict.upper()}  {reach}{_counts(report)} in {_extent(report)}; {read}"
    first, *rest = page.wrapped(text, hanging=2)
    yield page.paint(report.verdict.upper(), report.verdict) + first.removeprefix(report.verdict.upper())
    yield from rest
    if report.interrupted:
        yield from page.wrapped("Interrupted: this is what was known by then.", 2, "unknown")
    if report.verdict == "unknown":
        yield from page.wrapped(f"No verdict, because {'; '.join(_doubts(report))}.", 2, "unknown", 2)


def _extent(report: AuditReport) -> str:
    """Of all that was seen, how much the findings are about; all of it where there are none."""
    told = [finding for finding in report.violations if finding.severity > Severity.INFO]
    held = {
        (placed.cluster_id, placed.topic, placed.partition, placed.replica.broker)
        for placed in report.replicas
        if placed.replica.state == "current"
    }
    places = {(finding.cluster_id, finding.topic, finding.partition) for finding in told}
    named = {(f.cluster_id, f.topic, f.partition, broker) for f in told for broker in f.brokers} & held
    replicas = counted(report.coverage.replicas_seen, "replica")
    partitions = counted(report.coverage.partitions, "partition")
    if not places:
        return f"{replicas} of {partitions}"
    return ", ".join([*([f"{len(named)} of {replicas}"] if named else []), f"{len(places)} of {partitions}"])


def _counts(report: AuditReport) -> str:
    labels = [Severity(finding.severity).label for finding in report.violations]
    parts = [f"{labels.count(label)} {label}" for label in SEVERITIES if label in labels]
    return ", ".join(parts) or "no problem found"


def _doubts(report: AuditReport) -> Iterator[str]:
    """Why the verdict is open."""
    undecided = sum(finding.blocking for finding in report.findings)
    unread = sum(refusal.blocking for refusal in report.refusals)
    if report.interrupted:
        yield "the audit did not end"
    elif report.coverage.replicas_seen == 0:
        yield "no replica was read"
    if undecided:
        yield f"{counted(undecided, 'question')} could not be decided"
    if unread:
        yield f"{counted(unread, 'part')} of the dump could not be read"
    lacking = report.coverage.replicas_lacking
    if lacking:
        yield f"{counted(lacking, 'replica')} named by checkpoints, logs or metadata cannot be seen here (--partial)"
    partly = report.coverage.scope.lacking
    if partly:
        yield f"{partly} of some brokers are not here (--partial)"
    if not (report.interrupted or undecided or unread or lacking or partly or report.coverage.replicas_seen == 0):
        yield "less was read than --min-coverage asks for"


def _ledger(coverage: Coverage, page: Page, *, quiet: bool) -> Iterator[str]:
    """What stands behind the verdict: seen, unread, missing, undecided."""
    seen = f"{counted(coverage.brokers, 'broker')} of {counted(coverage.clusters, 'cluster')}"
    checked = f"{counted(coverage.batches, 'batch')}, {counted(coverage.checksums_verified, 'checksum')} recomputed"
    yield from page.wrapped(f"{seen}; {checked}{_times(coverage)}", 2, "faint", 2)
    compared = f"{coverage.offsets_compared} of them held by two replicas or more and compared"
    yield from page.wrapped(f"{counted(coverage.offsets_covered, 'offset')} covered, {compared}", 2, "faint", 2)
    for times in coverage.log_times:
        whose = f"times in logs of broker{'s' * (len(times.brokers) > 1)} {', '.join(map(str, times.brokers))}"
        meant = f"are in {times.timezone}" if times.timezone else "stand as written, in no known zone (--log-timezone)"
        yield from page.wrapped(f"{whose} {meant}", 2, "faint", 2)
    for release in coverage.contradicted_releases:
        yield from page.wrapped(release.words, 2, "unknown", 2)
    gaps = (
        (coverage.bytes_refused, f"{size(coverage.bytes_refused)} of segments"),
        (coverage.files_unread, f"{counted(coverage.files_unread, 'file')} in part or whole"),
        (
            coverage.replicas_missing,
            f"{counted(coverage.replicas_missing, 'replica')} that checkpoints name and the dump lacks",
        ),
    )
    unread = ", ".join(words for count, words in gaps if count)
    if unread:
        yield from page.wrapped(f"not read: {unread}", 2, "unknown", 2)
    if coverage.missing:
        named = "; ".join(missing.words for missing in coverage.missing[:MISSING_SHOWN])
        rest = coverage.replicas_missing - MISSING_SHOWN
        more = f"; {rest} more" if rest > 0 else ""
        yield from page.wrapped(f"missing: {named}{more}", 2, "unknown", 2)
    if coverage.elsewhere:
        yield from page.wrapped(coverage.elsewhere, 2, "unknown", 2)
    for absent in coverage.absent_logs:
        yield from page.wrapped(absent.words, 2, "unknown", 2)
    if coverage.nameless:
        yield from page.wrapped(coverage.nameless, 2, "unknown", 2)
    if not quiet:
        yield from _undecided(coverage, page)


def _undecided(coverage: Coverage, page: Page) -> Iterator[str]:
    """What is open, and in one line what nobody asked at this level."""
    unasked: dict[str, list[str]] = {}
    for point in coverage.undecided:
        if point.asked_at_level is not None:
            unasked.setdefault(point.asked_at_level, []).append(point.rule)
    asked = (f"{', '.join(sorted(set(rules)))} at --level {level}" for level, rules in sorted(unasked.items()))
    if unasked:
        yield from page.wrapped(f"asked only by a deeper audit: {'; '.join(asked)}", 2, "faint", 2)
    for alike in alike_points(point for point in coverage.undecided if point.asked_at_level is None):
        rules = f"{', '.join(alike.rules)} " if alike.rules else ""
        where = f"not decided: {rules}in {alike.words}"
        yield from page.wrapped(f"{where}: {alike.first.reason} (needs {alike.first.missing})", 2, "faint", 2)


def _times(coverage: Coverage) -> str:
    first, last = (_moment(time) for time in (coverage.first_timestamp, coverage.last_timestamp))
    return f"; records of {first} to {last} UTC" if first and last else ""


def _moment(milliseconds: int | None) -> str:
    if milliseconds is None or not 0 <= milliseconds < LAST_MOMENT:
        return ""
    moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _refusals(report: AuditReport, page: Page, *, verbose: bool) -> Iterator[str]:
    if not report.refusals:
        return
    yield ""
    yield page.paint(f"Could not be read ({len(report.refusals)}):", "strong")
    ordered = sorted(report.refusals, key=lambda line: not line.blocking)
    shown = ordered if verbose else ordered[:REFUSALS_SHOWN]
    for line in shown:
        place = f"{line.path} [{line.start}, {line.end})" if line.end else line.path
        lawful = "it lies beside the log dirs" if line.kind == "unreadable" else "lawful where it stands"
        aside = "" if line.blocking else f"; {lawful}"
        yield from page.wrapped(f"{place}  {line.kind}: expected {line.expected}, found {line.found}{aside}", 2, "", 2)
    if len(shown) < len(ordered):
        yield f"  … and {len(ordered) - len(shown)} more: see -v or --format json"
