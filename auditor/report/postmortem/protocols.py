"""What each version of the protocol would have done: one small table, however many replicas met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditor.report.model import AuditReport, Counterfactual, PlacedCounterfactual, ProtocolOutcome
from auditor.report.postmortem.impact import not_told
from auditor.report.postmortem.parts import place, places
from auditor.report.worths import span
from rules.finding import offsets_told
from rules.words import counted


def protocols(report: AuditReport) -> Iterator[str]:
    """The section."""
    yield "## What each protocol would have done\n"
    placed = report.counterfactuals
    if not placed:
        yield not_told(report) or "No two replicas hold different records now, and no cut is told of."
    elif len(placed) == 1:
        yield from one(placed[0])
    else:
        yield from _several(placed)


def one(placed: PlacedCounterfactual) -> Iterator[str]:
    """The table of one meeting of two replicas."""
    table = placed.table
    yield (
        f"{place(placed)}: broker {table.follower} following broker {table.leader},"
        f" {offsets_told(table.start_offset, table.end_offset)}\n"
    )
    yield "| protocol | asked → answered | cut to | kept | lost |"
    yield "|---|---|---|---|---|"
    for outcome in table.outcomes:
        kept, lost = span(outcome.kept_start, outcome.kept_end), span(outcome.lost_start, outcome.lost_end)
        parts_at = table.parts_at(outcome)
        lost += f"; the two logs part at {parts_at}" if parts_at is not None else ""
        yield f"| {_name(outcome)} | {_asked(outcome)} | {_cut(outcome)} | {kept} | {lost} |"


def _several(placed: Sequence[PlacedCounterfactual]) -> Iterator[str]:
    """Each protocol in one line for all meetings, with the first as the example."""
    first = placed[0]
    example = f"{place(first)}, broker {first.table.follower} following broker {first.table.leader}"
    yield f"{counted(len(placed), 'meeting')} of two replicas that differ or differed, in {places(placed)}.\n"
    yield f"| protocol | cuts in | offsets cut | logs differ afterwards in | such as {example}: asked → answered |"
    yield "|---|---|---|---|---|"
    for outcome in first.table.outcomes:
        tables = [each.table for each in placed]
        outcomes = [(table, own) for table in tables for own in table.outcomes if own.rule == outcome.rule]
        yield f"| {_ran(outcomes)} | {_totals(outcomes)} | {_asked(outcome)}, {_cut_words(outcome)} |"


def _totals(outcomes: Sequence[tuple[Counterfactual, ProtocolOutcome]]) -> str:
    cuts = sum(outcome.cuts for _, outcome in outcomes)
    lost = sum(max(0, outcome.lost_end - outcome.lost_start) for _, outcome in outcomes)
    differ = sum(table.parts_at(outcome) is not None for table, outcome in outcomes)
    return f"{cuts} of {len(outcomes)} | {lost} | {differ} of {len(outcomes)}"


def _ran(outcomes: Sequence[tuple[Counterfactual, ProtocolOutcome]]) -> str:
    """The protocol, and in how many of the meetings it is the follower's own."""
    ran = sum(outcome.in_force for _, outcome in outcomes)
    name = outcomes[0][1].rule
    if not ran:
        return name
    return f"{name} (in force)" if ran == len(outcomes) else f"{name} (in force in {ran} of {len(outcomes)})"


def _name(outcome: ProtocolOutcome) -> str:
    return f"{outcome.rule} (in force)" if outcome.in_force else outcome.rule


def _asked(outcome: ProtocolOutcome) -> str:
    exchanges = (f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
    return "; ".join(dict.fromkeys(exchanges)) or "nobody"


def _cut(outcome: ProtocolOutcome) -> str:
    return str(outcome.cut_to) if outcome.cuts else "no cut"


def _cut_words(outcome: ProtocolOutcome) -> str:
    return f"cut to {outcome.cut_to}" if outcome.cuts else "no cut"
