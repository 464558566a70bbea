"""Sections of the incident report: who was in sync over time, and which settings allowed what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from auditor.report.availability import (
    CLOCKS,
    HEADS,
    PREFACE,
    SETTINGS_HEADS,
    alike_accounts,
    rest_told,
    setting_cells,
    state_cells,
    states_shown,
    told_of,
)
from auditor.report.markdown import code, text
from auditor.report.model import AuditReport, Availability, PlacedAvailability, StateRow
from auditor.report.postmortem.parts import SHOWN, capped, place, places, shortened
from rules.finding import place_of
from rules.words import counted

TABLES_SHOWN: Final = 2
STATES_IN_STORY: Final = 6
Cells = tuple[tuple[str, ...], ...]


def exposed(report: AuditReport) -> Iterator[str]:
    """How long partitions were exposed, and in which states: equal ones once, other states in the appendix."""
    concerned = _concerned(report)
    if not concerned:
        return
    yield "## Availability\n"
    yield CLOCKS
    alike = alike_accounts(concerned, _exposed_of_late)
    for each in alike[:TABLES_SHOWN]:
        yield f"\n### {places(each.places)}\n"
        yield from (f"- {text(line)}" for line in each.sentences)
        if each.rows:
            yield ""
            yield from _table(HEADS, [state_cells(row) for row in each.rows])
        more = each.places[0].availability.rows_told - len(each.rows)
        if more > 0:
            yield f"\n{counted(more, 'other state')} told. The appendix (--appendix) has the newest."
    yield from shortened(len(alike), "table", TABLES_SHOWN)


def _exposed_of_late(account: Availability) -> tuple[StateRow, ...]:
    return tuple(row for row in account.rows if row.conditions)[-STATES_IN_STORY:]


def over_time(report: AuditReport) -> Iterator[str]:
    """Leaders and in-sync replicas of the partitions that the report is about."""
    concerned = _concerned(report)
    if concerned:
        yield CLOCKS
    for placed in concerned[:SHOWN]:
        account = placed.availability
        yield f"\n### {place(placed)}\n"
        yield from (f"- {text(line)}" for line in told_of(account))
        yield ""
        if account.rows:
            yield from _table(HEADS, [state_cells(row) for row in states_shown(account)])
        yield ""
        for each in account.safeguards:
            where = each.set_at
            if where is not None:
                yield f"- {text(each.name)}: {code(where.source)} bytes [{where.start}, {where.end})"
        if account.rows and (rest := rest_told(account)):
            yield f"\n{rest}"
    yield from capped(len(concerned), "partition")
    others = len(report.availability) - len(concerned)
    if others:
        yield f"\n{counted(others, 'more partition')} exposed for a time, without a grave finding: see the JSON report."


def prevention(report: AuditReport) -> Iterator[str]:
    """The settings in force, beside what another value would have done."""
    concerned = _concerned(report)
    if not concerned:
        return
    yield "## What would have prevented this\n"
    yield f"{PREFACE} Nothing is claimed of a setting that is not told."
    alike: dict[Cells, list[PlacedAvailability]] = {}
    for placed in concerned:
        rows = tuple(tuple(setting_cells(setting)) for setting in placed.availability.safeguards)
        alike.setdefault(rows, []).append(placed)
    for rows, same in [*alike.items()][:TABLES_SHOWN]:
        yield f"\n### {places(same)}\n"
        yield from _table(SETTINGS_HEADS, rows)
    yield from shortened(len(alike), "table", TABLES_SHOWN)


def _concerned(report: AuditReport) -> list[PlacedAvailability]:
    """Accounts of partitions in which something grave was found."""
    grave = {place_of(h) for h in report.histories if h.milestones or h.losses}
    return [a for a in report.availability if place_of(a) in grave]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(text(cell) for cell in cells)} |" for cells in rows)
