"""The report for a person at a terminal: one screen that decides, and behind it, if asked for, all there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from auditor.report.model import AuditReport, Coverage
from auditor.report.sheet import COLUMNS, Sheet
from auditor.report.summary import summary
from auditor.report.terminal.availability_lines import availability_lines
from auditor.report.terminal.finding_lines import finding_lines
from auditor.report.terminal.replica_lines import replica_table
from auditor.report.terminal.screen import screen
from auditor.report.utc_times import moment
from rules.words import counted, numbered

DRAWINGS: Final = (
    "In drawings a line is a replica and a column an offset; the number behind @ is the first. A digit is the leader"
    " epoch of a batch, a dash a batch without one. A number behind \N{MULTIPLICATION SIGN} counts how many are in a"
    " row. A letter marks contents that differ, a dot a hole. An exclamation mark is a damaged batch, | the high"
    " watermark, * who led last, and live a copy of running brokers."
)


def render(
    report: AuditReport, *, columns: int = 100, colour: bool = False, verbose: bool = False, quiet: bool = False
) -> str:
    """The first screen, and all the rest for whoever asks; what the dump holds is printed as text and nothing else."""
    page, known = Sheet(columns=columns, colour=colour), summary(report)
    lines = list(screen(report, known, replace(page, columns=min(columns, COLUMNS)), quiet=quiet, verbose=verbose))
    if verbose:
        lines += ["", *_ledger(report.coverage, page)]
        lines += _drawing_legend(report, page)
        lines += finding_lines(report, page)
        lines += _refusals(report, page)
        lines += availability_lines(report.availability, page)
        lines += replica_table(report.replicas, page)
    return "\n".join(lines) + "\n"


def _ledger(coverage: Coverage, page: Sheet) -> Iterator[str]:
    """What was seen to say so; what was not stands on the screen."""
    seen = f"{counted(coverage.brokers, 'broker')} of {counted(coverage.clusters, 'cluster')}"
    checked = f"{counted(coverage.batches, 'batch')}, {counted(coverage.checksums_verified, 'checksum')} recomputed"
    yield from page.wrapped(f"{seen}; {checked}{_times(coverage)}", 2, "faint", 2)
    compared = f"{coverage.offsets_compared} of them held by two replicas or more and compared"
    yield from page.wrapped(f"{counted(coverage.offsets_covered, 'offset')} covered, {compared}", 2, "faint", 2)
    for times in coverage.log_times:
        whose = f"times in logs of {numbered('broker', times.brokers)}"
        meant = f"are in {times.timezone}" if times.timezone else "stand as written, in no known zone (--log-timezone)"
        yield from page.wrapped(f"{whose} {meant}", 2, "faint", 2)


def _drawing_legend(report: AuditReport, page: Sheet) -> Iterator[str]:
    """How the drawings are read, before the first of them."""
    if any(finding.sketch for finding in report.findings):
        yield from page.wrapped(DRAWINGS, 2, "faint", 2)


def _times(coverage: Coverage) -> str:
    first, last = (moment(time)[:19] for time in (coverage.first_timestamp, coverage.last_timestamp))
    return f"; records of {first} to {last} UTC" if first and last else ""


def _refusals(report: AuditReport, page: Sheet) -> Iterator[str]:
    if not report.refusals:
        return
    yield ""
    yield page.paint(f"Could not be read ({len(report.refusals)}):", "strong")
    for line in sorted(report.refusals, key=lambda line: not line.blocking):
        place = f"{line.path} bytes [{line.start}, {line.end})" if line.end else line.path
        lawful = "it lies beside the log dirs" if line.kind == "unreadable" else "lawful where it stands"
        aside = "" if line.blocking else f"; {lawful}"
        kind = line.kind.replace("_", " ")
        yield from page.wrapped(f"{place}  {kind}: expected {line.expected}, found {line.found}{aside}", 2, "", 2)
