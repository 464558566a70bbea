"""The report for a person at a terminal: the verdict and its coverage first, then causes, then every replica."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from auditor.report.model import AuditReport, Coverage, PlacedCounterfactual, PlacedReplica, ProtocolOutcome
from rules.finding import Finding, Severity

STYLES: Final = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
SHOWN: Final = 50
"""Findings told in full; the rest is counted, and stands in the JSON report."""


def render(report: AuditReport, console: Console, *, verbose: bool = False) -> None:
    """Print the report; text from the dump is printed as text, never as markup."""
    console.print(_headline(report))
    console.print(_ledger(report.coverage))
    told = [finding for finding in report.findings if verbose or finding.severity > Severity.INFO or finding.blocking]
    for finding in told[:SHOWN]:
        console.print(_finding(finding))
    _tell_rest(report, console, len(told))
    for placed in report.counterfactuals if report.violations else ():
        console.print(_counterfactual(placed))
    if report.refusals:
        console.print(_refusals(report))
    console.print(_replicas(report.replicas, verbose=verbose))


def _tell_rest(report: AuditReport, console: Console, told: int) -> None:
    if told > SHOWN:
        console.print(Text(f"… and {told - SHOWN} more findings: see --format json"))
    quiet = len(report.findings) - told
    if quiet:
        console.print(Text(f"{quiet} notes for information: see -v or --format json", style="dim"))


def _headline(report: AuditReport) -> Text:
    word = {"clean": "CLEAN", "findings": "FINDINGS", "unknown": "UNKNOWN"}[report.verdict]
    style = {"clean": "bold green", "findings": "bold red", "unknown": "bold yellow"}[report.verdict]
    counts = _counts(report)
    coverage = report.coverage
    seen = f"{coverage.replicas_seen} replicas of {coverage.partitions} partitions, {coverage.ratio:.1%} of {_size(coverage.bytes_seen)}"
    text = Text(word, style=style)
    text.append(f"  {counts}" if counts else "")
    text.append(f" in {seen}" if counts else f"  no problem found in {seen}")
    if report.interrupted:
        text.append("  (interrupted: this is what was known by then)", style="bold yellow")
    return text


def _counts(report: AuditReport) -> str:
    words = [Severity(f.severity).label for f in report.violations if f.severity > Severity.INFO]
    parts = [f"{words.count(label)} {label}" for label in STYLES if label in words]
    undecided = sum(finding.blocking for finding in report.findings)
    return ", ".join(parts + ([f"{undecided} undecided"] if undecided else []))


def _ledger(coverage: Coverage) -> Text:
    lines = [
        f"read {_size(coverage.bytes_read)} in {coverage.batches} batches of {coverage.brokers} brokers"
        f" ({coverage.clusters} cluster{'s' if coverage.clusters != 1 else ''});"
        f" {coverage.checksums_verified} checksums recomputed; {coverage.offsets_covered} offsets covered,"
        f" {coverage.offsets_compared} held by two replicas or more",
    ]
    if coverage.bytes_refused or coverage.files_unread or coverage.replicas_missing:
        lines.append(
            f"not read: {_size(coverage.bytes_refused)} of segments, {coverage.files_unread} files in part or whole,"
            f" {coverage.replicas_missing} replicas that checkpoints name and the dump lacks"
        )
    lines += [
        f"not decided: {point.rule} for {point.partitions} partitions: {point.reason} (needs {point.missing})"
        for point in coverage.undecided
    ]
    return Text("\n".join(lines), style="dim")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{count} B"


def _finding(finding: Finding) -> RenderableType:
    label = Severity(finding.severity).label if finding.verdict == "violated" else "undecided"
    head = Text(f"\n{label.upper():<9}", style=STYLES.get(label, "bold yellow"))
    head.append(f" {finding.rule} ", style="bold")
    head.append(f"{finding.topic}-{finding.partition}  {finding.id}")
    body = [Text(finding.message)]
    if finding.implied_by:
        body.append(Text(f"follows from {', '.join(finding.implied_by)}", style="dim"))
    if finding.sketch:
        body.append(Text(finding.sketch, style="bright_black", no_wrap=True))
    body += [
        Text(f"{exhibit.span.source} [{exhibit.span.start}, {exhibit.span.end})  {exhibit.role}", style="dim")
        for exhibit in finding.exhibits[:4]
    ]
    return Group(head, Padding(Group(*body), (0, 0, 0, 2)))


def _counterfactual(placed: PlacedCounterfactual) -> RenderableType:
    title = (
        f"\n{placed.topic}-{placed.partition}: what each protocol would have done when broker {placed.table.follower}"
        f" met broker {placed.table.leader} over [{placed.table.start_offset}, {placed.table.end_offset})"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("protocol", "asked, answered", "cut to", "lost"):
        table.add_column(column, overflow="fold")
    for outcome in placed.table.outcomes:
        name = outcome.rule + (" (ran)" if outcome.in_force else "")
        lost = f"[{outcome.lost_start}, {outcome.lost_end})" if outcome.lost_end > outcome.lost_start else "nothing"
        cut = str(outcome.cut_to) if outcome.cuts else f"{outcome.cut_to} (no cut)"
        table.add_row(Text(name), Text(_exchanges(outcome)), Text(cut), Text(lost))
    return Group(Text(title), Padding(table, (0, 0, 0, 2)))


def _exchanges(outcome: ProtocolOutcome) -> str:
    return "; ".join(f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges) or "nobody"


def _refusals(report: AuditReport) -> Text:
    lines = [f"\nCould not be read ({len(report.refusals)}):"]
    lines += [
        f"  {line.path} [{line.start}, {line.end})  {line.kind}: expected {line.expected}, found {line.found}"
        for line in report.refusals[:SHOWN]
    ]
    return Text("\n".join(lines))


def _replicas(placed: tuple[PlacedReplica, ...], *, verbose: bool) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("replica", overflow="fold", no_wrap=True)
    for column in ("broker", "log start", "log end", "hw on disk", "hw expected", "last epoch"):
        table.add_column(column, justify="right")
    table.add_column("verdict")
    for row in _rows(placed, verbose=verbose):
        table.add_row(*row)
    return Group(Text(), table)


def _rows(placed: tuple[PlacedReplica, ...], *, verbose: bool) -> Iterator[tuple[Text | str, ...]]:
    shown = placed if verbose else [p for p in placed if p.replica.verdict not in ("deleted", "stray")]
    for item in shown:
        replica = item.replica
        low, high = replica.expected_low, replica.expected_high
        yield (
            Text(f"{item.topic}-{item.partition}"),
            str(replica.broker),
            str(replica.log_start_offset),
            str(replica.log_end_offset),
            "none" if replica.high_watermark_on_disk is None else str(replica.high_watermark_on_disk),
            str(low) if low == high else f"{low}..{high}",
            str(replica.epochs[-1].epoch) if replica.epochs else "none",
            Text(replica.verdict, style=STYLES.get(replica.verdict, "green" if replica.verdict == "sound" else "yellow")),
        )
