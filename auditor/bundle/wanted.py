"""What is to be bundled: the dumps and the findings, told apart by how they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from auditor.config import ConfigError
from auditor.memory import recall
from auditor.report.model import AuditReport
from rules.finding import Finding

_ID: Final = re.compile(r"[FI]-[0-9a-f]+")


class BundleRequest(Struct, frozen=True, kw_only=True):
    """What to hand over, and in which file."""

    dumps: Sequence[Path]
    target: Path
    findings: Sequence[str] = ()
    """Ids of findings or incidents, or beginnings of them; empty for all findings."""

    @property
    def whose(self) -> str:
        """The dumps in words: without one on the command line they are the last audit's."""
        return ", ".join(map(str, self.dumps))


def requested(given: Sequence[Path], target: Path, findings: Sequence[str]) -> BundleRequest:
    """A word that is an id and no path is a finding; without a dump it is of the last audit's."""
    ids = [str(word) for word in given if _ID.fullmatch(str(word)) and not word.exists()]
    dumps = [word for word in given if str(word) not in ids]
    if not dumps:
        last = recall(None, None)
        dumps = [*last.archives] or [last.dump]
    return BundleRequest(dumps=dumps, target=target, findings=(*ids, *findings))


def wanted(report: AuditReport, request: BundleRequest) -> tuple[Finding, ...]:
    """The findings that were asked for, those of an incident in its order; all of them where none was."""
    violated = tuple(finding for finding in report.findings if finding.verdict == "violated")
    if not violated:
        raise ConfigError(f"the audit of {request.whose} found nothing that a bundle could show")
    if not request.findings:
        return tuple({finding.id: finding for finding in violated}.values())
    chosen = [finding for word in request.findings for finding in _meant(word, report, violated, request.whose)]
    return tuple({finding.id: finding for finding in chosen}.values())


def _meant(word: str, report: AuditReport, violated: Sequence[Finding], whose: str) -> Sequence[Finding]:
    if word.startswith("I-"):
        incidents = [incident for incident in report.incidents if incident.id.startswith(word)]
        what, known = f"incident of the audit of {whose}", [i.id for i in report.incidents]
        named = _only(word, what, [i.id for i in incidents], known)
        return [f for i in incidents for f in violated if i.id == named and f.id in i.findings]
    name = word if word.startswith("F-") else f"F-{word}"
    meant = [finding for finding in violated if f"F-{finding.fingerprint}".startswith(name)]
    _only(word, f"finding of the audit of {whose}", [finding.id for finding in meant], [f.id for f in violated])
    return meant


def _only(word: str, what: str, meant: Sequence[str], known: Sequence[str]) -> str:
    if len(meant) != 1:
        listed = ", ".join((meant or known)[:10])
        raise ConfigError(f"{word}: expected one {what}, which has: {listed}")
    return meant[0]
