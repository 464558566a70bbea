"""The incident report as a page: one story, pictures of what it tells, and all proof apart from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import Final, Literal

from msgspec import Struct

from auditor.report.html.shelf import SCRIPT, STYLE, policy, shelf
from auditor.report.html.template_values import page_values
from auditor.report.model import AuditReport
from auditor.report.postmortem.document import parts

PICTURED: Final = 3
"""Partitions that are drawn in the story, the gravest first; the others are drawn in the appendix."""
BlockKind = Literal["heading", "item", "table", "paragraph"]
_SPANS: Final = re.compile(r"\\(?P<escaped>.)|`(?P<code>[^`]*)`|\*\*(?P<strong>[^*]+)\*\*")
_ID: Final = re.compile(r"\b(F-[0-9a-f]{8,})")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_ITEM: Final = re.compile(r"(?P<indent> *)- (?P<words>.*)")


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


class StyledWords(Struct, frozen=True, kw_only=True):
    """Words of one look."""

    words: str
    look: Literal["", "code", "strong", "finding"] = ""


Line = tuple[StyledWords, ...]


class ProseBlock(Struct, frozen=True, kw_only=True):
    """A heading, a point of a list, a table or a paragraph."""

    kind: BlockKind
    depth: int = 0
    """Of a heading below its part, and of a point below the first ones."""
    words: Line = ()
    rows: tuple[tuple[Line, ...], ...] = ()
    """Of a table, the heads first."""


def blocks(lines: Iterable[str], findings: Collection[str]) -> tuple[ProseBlock, ...]:
    """What the lines of one part hold; findings that the page shows are told apart, so that they can be reached."""
    flat = [line for text in lines for line in text.split("\n") if line.strip()]
    return tuple(_blocks(flat, findings))


def _blocks(lines: Iterable[str], findings: Collection[str]) -> Iterator[ProseBlock]:
    for is_row, own in groupby(lines, key=lambda line: line.startswith("|")):
        if is_row:
            rows = (_CELLS.split(line.strip())[1:-1] for line in own if not line.startswith("|---"))
            cells = tuple(tuple(_pieces(cell.strip(), findings) for cell in row) for row in rows)
            yield ProseBlock(kind="table", rows=cells)
        else:
            yield from (_block(line, findings) for line in own)


def _block(line: str, findings: Collection[str]) -> ProseBlock:
    item = _ITEM.fullmatch(line)
    if item is not None:
        return ProseBlock(kind="item", depth=len(item["indent"]) // 2, words=_pieces(item["words"], findings))
    if line.startswith("#"):
        marks, _, words = line.partition(" ")
        return ProseBlock(kind="heading", depth=len(marks) - 2, words=_pieces(words, findings))
    return ProseBlock(kind="paragraph", words=_pieces(line.strip(), findings))


def _pieces(words: str, findings: Collection[str]) -> Line:
    """Marks become looks, and what was escaped stands as itself."""
    pieces: list[StyledWords] = []
    plain, at = "", 0
    for mark in _SPANS.finditer(words):
        plain += words[at : mark.start()]
        at = mark.end()
        if mark["escaped"] is not None:
            plain += mark["escaped"]
            continue
        pieces += _linked(plain, findings)
        plain = ""
        look: Literal["code", "strong"] = "code" if mark["strong"] is None else "strong"
        pieces.append(StyledWords(words=mark[look] or "", look=look))
    return (*pieces, *_linked(plain + words[at:], findings))


def _linked(words: str, findings: Collection[str]) -> Iterator[StyledWords]:
    for part in _ID.split(words):
        if part:
            yield StyledWords(words=part, look="finding" if part in findings else "")
