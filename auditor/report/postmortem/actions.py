"""Who must act after an incident, and what must not be done before: the same words as on the first screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.markdown import text
from auditor.report.model import AuditReport
from auditor.report.postmortem.parts import capped
from auditor.report.summary.action import Action
from auditor.report.summary.actions import actions as summed_up

ACTIONS_SHOWN: Final = 16
GATES_SHOWN: Final = 12
AIMS_SHOWN: Final = 6
IDS_SHOWN: Final = 6


def actions(report: AuditReport) -> Iterator[str]:
    """The section of who must act: copies first, then who writes, who reads, and what findings ask for."""
    yield "## Who must act\n"
    summed = summed_up(report)
    asked = [action for action in summed if not action.is_gate]
    yield from _listed(asked[:ACTIONS_SHOWN])
    yield from capped(len(asked), "action", ACTIONS_SHOWN)
    if not asked:
        beyond = " beyond what is a NO-GO below" if any(action.kind == "no-go" for action in summed) else ""
        yield f"Nobody{beyond}, as far as this evidence goes."


def gates(report: AuditReport) -> Iterator[str]:
    """The section of what may be done as things stand: restarts, elections, a change of versions."""
    found = [action for action in summed_up(report) if action.is_gate]
    if not found:
        return
    yield "## Go or no-go\n"
    yield from _listed(found[:GATES_SHOWN])
    yield from capped(len(found), "gate", GATES_SHOWN, "`tidemark advise`")


def _listed(listed: Sequence[Action]) -> Iterator[str]:
    for action in listed:
        ids = ", ".join(action.findings[:IDS_SHOWN])
        yield f"- {text(action.line(AIMS_SHOWN))}{f' {ids}' if ids else ''}"
