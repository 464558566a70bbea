"""The diff command: each side a report or a dump, read or audited, and held beside the other."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from auditor.archives import AtHand, at_hand, is_readable_archive
from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.diff.compare import difference
from auditor.diff.comparison_json import diff_document
from auditor.diff.comparison_text import diff_text
from auditor.diff.ending import exit_code, reasons
from auditor.diff.side import ComparedReport, side_of
from auditor.dumps import DumpParts, gather
from auditor.kept_report import NO_REPORT, apart, report_in
from auditor.memory import remember
from auditor.outlet import TO_STDOUT, deliver, require_one_of, require_writable
from auditor.progress_bar import watched
from auditor.report import json
from auditor.stopping import listen
from parsers.files import found_at
from rules.words import numbered


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
    document = json.document(report)
    remember(document, dump)
    return side_of(document, str(place))
