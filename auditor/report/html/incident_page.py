"""The incident report as a page: one story, pictures of what it tells, and all proof apart from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from auditor.report.html.prose import ProseBlock, blocks
from auditor.report.html.shelf import SCRIPT, STYLE, policy, shelf
from auditor.report.html.values import page_values
from auditor.report.model import AuditReport
from auditor.report.postmortem.document import parts

PICTURED: Final = 3
"""Partitions that are drawn in the story, the gravest first; the others are drawn in the appendix."""


class IncidentPart(Struct, frozen=True, kw_only=True):
    """One part of the story."""

    anchor: str
    title: str
    blocks: tuple[ProseBlock, ...]


def render(report: AuditReport) -> str:
    """The whole page, the same for the same report."""
    style, script = (shelf().get_template(name).render() for name in (STYLE, SCRIPT))
    drawn = tuple(_parts(report))
    given = {**page_values(report), "parts": drawn, "pictured": PICTURED, "policy": policy(style, script)}
    return shelf().get_template("incident.html").render(**given) + "\n"


def _parts(report: AuditReport) -> Iterator[IncidentPart]:
    """The parts of the text, in its order."""
    ids = {finding.id for finding in report.findings}
    for number, lines in enumerate(parts(report)):
        first, *rest = _flat(lines)
        yield IncidentPart(anchor=f"part{number}", title=first.removeprefix("## "), blocks=blocks(rest, ids))


def _flat(lines: Iterable[str]) -> list[str]:
    return [line for text in lines for line in text.split("\n") if line.strip()]
