"""The advise command: audit the partitions asked for, and say whom to elect, what to copy, what not to restart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auditor.archives import at_hand
from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.exit_codes import ExitCode
from auditor.outlet import deliver, require_one_of, require_writable
from auditor.progress_bar import watched
from auditor.report.advice.advice_json import document
from auditor.report.advice.advice_text import text
from auditor.report.model import AuditReport, Gate, PlacedAdvice
from auditor.report.summary.actions import actions
from auditor.report.summary.perhaps import beside_the_advice, perhaps_lost
from auditor.report.summary.totals import totals
from auditor.report.unbilled import unbilled


def run_advise(dumps: Sequence[Path], config: AuditConfig) -> ExitCode:
    """Tell the advice; how the process ends: with findings where records are lost, or something must not be done."""
    require_one_of(config, ("terminal", "json"))
    with at_hand(dumps, quiet=config.quiet) as here:
        require_writable(config, gather(here.folders, here.archives))
        with watched(quiet=config.quiet) as progress:
            report = audit(here.folders, config, progress)
    deliver(_words(report, as_json=config.shown_format == "json"), config)
    return _code(report)


def _words(report: AuditReport, *, as_json: bool) -> str:
    absent, untold, perhaps = report.coverage.absent_logs, report.untold, tuple(beside_the_advice(report))
    verdict, interrupted = report.verdict, report.interrupted
    steps = [action for action in actions(report) if not action.is_gate]
    if as_json:
        return document(
            report.advice,
            verdict=verdict,
            interrupted=interrupted,
            absent=absent,
            untold=untold,
            perhaps=perhaps,
            steps=steps,
        )
    return text(
        report.advice,
        verdict=verdict,
        interrupted=interrupted,
        absent=absent,
        untold=untold,
        perhaps=perhaps,
        lost=totals(report.histories),
        steps=steps,
    )


def _code(report: AuditReport) -> ExitCode:
    if report.interrupted:
        return ExitCode.INTERRUPTED
    going = {gate.going for placed in report.advice for gate in _gates(placed)}
    billed = [loss for history in report.histories for loss in history.losses]
    lost = any(loss.for_good for loss in billed)
    if lost or unbilled(report) or "no-go" in going:
        return ExitCode.FINDINGS
    perhaps = any(loss.unread for loss in billed) or perhaps_lost(report)
    unknown = "unknown" in going or report.untold or perhaps or report.verdict == "unknown"
    return ExitCode.UNKNOWN if unknown else ExitCode.CLEAN


def _gates(placed: PlacedAdvice) -> Sequence[Gate]:
    """What decides: the best candidate, restarts and versions; that another election would cost more stops nobody."""
    best = {f"elect broker {candidate.broker}" for candidate in placed.advice.candidates[:1]}
    return [gate for gate in placed.advice.gates if gate.action in best or not gate.action.startswith("elect ")]
