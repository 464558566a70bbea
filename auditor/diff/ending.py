"""How a comparison ends: the exit code, and why it is that one."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.config import AuditConfig
from auditor.diff.compare import Comparison
from auditor.diff.side import ComparedReport
from auditor.exit_codes import ExitCode
from auditor.report.sheet import percent
from rules.words import counted


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
        asked_for = f"--min-coverage asks for {config.min_coverage:.1%}"
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
