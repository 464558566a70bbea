"""The diff command: each side a report or a dump, read or audited, and held beside the other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from auditor.archives import AtHand, at_hand, is_readable_archive
from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.diff.compare import Comparison, difference
from auditor.diff.comparison_text import diff_text
from auditor.diff.side import ComparedReport, ToldFinding, side_of
from auditor.document_fields import Json, fields
from auditor.dumps import DumpParts, gather
from auditor.exit_codes import ExitCode
from auditor.kept_report import NO_REPORT, apart, report_in
from auditor.memory import remember
from auditor.outlet import TO_STDOUT, deliver, require_one_of, require_writable
from auditor.progress_bar import watched
from auditor.report.json import document as report_document
from auditor.report.sheet import percent
from auditor.stopping import listen
from parsers.files import found_at
from rules.words import counted, numbered

FORMAT: Final = "tidemark-diff/1"


def run_diff(before: Path, after: Path, config: AuditConfig) -> int:
    """Compare and tell; the exit code."""
    require_one_of(config, ("terminal", "json"))
    for place in (before, after):
        if (here := found_at(place)) not in ("a folder", "a regular file"):
            raise ConfigError(f"{place}: {NO_REPORT}, or a dump; found {here}")
    with ExitStack() as stack:
        dumps = [place for place in (before, after) if not _is_report(place)]
        given = {place: _opened(stack.enter_context(at_hand(place, quiet=config.quiet))) for place in dumps}
        _require_output(config, (before, after), given)
        earlier, later = (_side(place, given.get(place), config) for place in (before, after))
    if apart(earlier.clusters, later.clusters):
        its, own = (numbered("cluster", sorted(side.clusters)) for side in (earlier, later))
        raise ConfigError(f"{before} is of {its}, and {after} of {own}: findings of one cluster are none of the other")
    found = difference(earlier, later)
    code, why = int(exit_code(found, config)), reasons(found, config)
    as_json = config.shown_format == "json"
    words = diff_document(found, code, why) if as_json else diff_text(found, (code, why), verbose=config.verbose)
    deliver(words, config)
    return code


def _is_report(place: Path) -> bool:
    return found_at(place) == "a regular file" and not is_readable_archive(place.name)


def _opened(here: AtHand) -> DumpParts:
    return gather(here.folders, here.archives)


def _require_output(config: AuditConfig, sides: tuple[Path, Path], given: dict[Path, DumpParts]) -> None:
    for dump in given.values() or (DumpParts(root=Path(os.devnull)),):
        require_writable(config, dump)
    taken = {os.path.realpath(side) for side in sides}
    if config.output != TO_STDOUT and os.path.realpath(config.output) in taken:
        raise ConfigError(f"{config.named('output')}: {config.output} is one of the two that are compared")


def _side(place: Path, dump: DumpParts | None, config: AuditConfig) -> ComparedReport:
    if dump is None:
        try:
            document = report_in(place, "the report")
        except ValueError as error:
            raise ConfigError(f"{place}: {NO_REPORT}, or a dump; {error}") from None
        return side_of(document, str(place))
    listen()  # a stop ends the second audit as it ends the first
    with watched(quiet=config.quiet) as progress:
        report = audit(dump.root if dump.archives else place, config, progress)
    if report.interrupted:
        listen()
        raise KeyboardInterrupt
    document = report_document(report)
    remember(document, dump)
    return side_of(document, str(place))


def exit_code(found: Comparison, config: AuditConfig) -> ExitCode:
    """As an audit with the earlier report as its baseline ends."""
    if config.exit_zero:
        return ExitCode.CLEAN
    if _failing(found, config):
        return ExitCode.FINDINGS
    return ExitCode.UNKNOWN if any(_open(found, config)) else ExitCode.CLEAN


def reasons(found: Comparison, config: AuditConfig) -> tuple[str, ...]:
    """Why it ends so, in clauses."""
    asked = f"of severity {config.failing_severity.label} or graver"
    if config.exit_zero:
        return ("--exit-zero was given",)
    if failing := _failing(found, config):
        return (f"{counted(failing, 'new finding')} {asked}",)
    return tuple(_open(found, config)) or (f"nothing new {asked}",)


def _failing(found: Comparison, config: AuditConfig) -> int:
    """How many new findings make the command fail; those that the later side silences do not."""
    own = [new.finding for new in found.new if new.finding.id not in found.after.silenced]
    return sum(finding.verdict == "violated" and finding.severity >= config.failing_severity for finding in own)


def _open(found: Comparison, config: AuditConfig) -> Iterator[str]:
    """What keeps the later side from saying that there is nothing new."""
    after = found.after
    if asked := sum(new.finding.verdict == "undecided" for new in found.new):
        yield f"{counted(asked, 'new question')} could not be decided"
    yield from _unseen(after)
    if after.ratio < config.min_coverage:
        asked_for = f"--min-coverage asks for {config.min_coverage * 100:g}%"
        yield f"the later side read {percent(after.ratio)} of its bytes, and {asked_for}"
    if after.interrupted:
        yield "the later audit was stopped early"


def _unseen(after: ComparedReport) -> Iterator[str]:
    if after.unread:
        yield f"the later side could not read {counted(after.unread, 'thing')} that may hold more"
    if not after.replicas:
        yield "the later side judged no replica"
    if after.lacking:
        yield "the later side lacks replicas or logs of some brokers, and --partial does not say that this is all"


def diff_document(found: Comparison, code: int, why: Sequence[str]) -> str:
    """The document, always the same for the same two reports."""
    document: Json = {
        "format": FORMAT,
        "before": _side_document(found.before),
        "after": _side_document(found.after),
        "warning": found.warning,
        "new": [{**_finding(new.finding), "insteadOf": new.instead_of} for new in found.new],
        "changed": [
            {
                **_finding(each.after),
                "changes": [fields(change) for change in each.changes],
            }
            for each in found.changed
        ],
        "fixed": [_finding(finding) for finding in found.fixed],
        "untold": [{**_finding(each.finding), "because": each.because} for each in found.untold],
        "same": found.same,
        "exitCode": code,
        "because": list(why),
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _side_document(side: ComparedReport) -> Json:
    return {
        **fields(side, "name version level verdict exit_code interrupted"),
        "violated": sum(finding.verdict == "violated" for finding in side.findings.values()),
        "undecided": sum(finding.verdict == "undecided" for finding in side.findings.values()),
        "coverage": {**side.counts, "ratio": side.ratio, "kinds": list(side.kinds)},
    }


def _finding(finding: ToldFinding) -> Json:
    return {
        **fields(finding, "id fingerprint rule verdict"),
        "severity": finding.severity.label,
        **fields(finding, "topic partition brokers message"),
    }
