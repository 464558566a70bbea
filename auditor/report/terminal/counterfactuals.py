"""What each generation of the protocol would have asked, been answered, cut and lost, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.report.model import PlacedCounterfactual, ProtocolOutcome
from auditor.report.sheet import Sheet, table
from auditor.report.worths import span
from rules.finding import offsets_told

HEADS = ("protocol", "asked epoch → answered (epoch, end)", "cut to", "lost")


def counterfactual_table(placed: PlacedCounterfactual, page: Sheet) -> Iterator[str]:
    """One pair of replicas; an exchange a line, since some protocols ask more than once."""
    pair = placed.table
    title = (
        f"{placed.topic}-{placed.partition}: what each protocol would have done when broker {pair.follower} met broker"
        f" {pair.leader} over {offsets_told(pair.start_offset, pair.end_offset)}"
    )
    yield from page.wrapped(title, 2, "strong", 2)
    if not pair.reconstructed and not any(outcome.cuts for outcome in pair.outcomes):
        yield from page.wrapped("none of the four would have cut anything: the two stay as they are", 4)
        return
    rows = [row for outcome in pair.outcomes for row in _rows(outcome, pair.parts_at(outcome))]
    yield from table(HEADS, rows, indent=4)
    yield from page.wrapped(f"{pair.because}", 4, "faint", 2)
    for outcome in pair.outcomes:
        yield from page.wrapped(f"{outcome.rule}: {outcome.because}", 4, "faint", 2)


def _rows(outcome: ProtocolOutcome, parts_at: int | None) -> Iterator[tuple[str, str, str, str]]:
    name = outcome.rule + (" (ran)" if outcome.in_force else "")
    lost = span(outcome.lost_start, outcome.lost_end).replace("none", "nothing")
    cut = str(outcome.cut_to) if outcome.cuts else "no cut"
    exchanges = (f"{e.asked_epoch} → ({e.answered_epoch}, {e.answered_offset})" for e in outcome.exchanges)
    asked = list(dict.fromkeys(exchanges)) or ["nobody"]
    yield name, asked[0], cut, lost
    yield from (("", exchange, "", "") for exchange in asked[1:])
    if parts_at is not None:  # what is kept so is no rescue
        yield "", f"the two logs part at {parts_at}", "", ""
