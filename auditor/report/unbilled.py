"""Records that are gone and of which no bill can be made, in words: what is known of them, and what would tell more."""

from __future__ import annotations

from auditor.report.model import AuditReport, PlacedHistory, Unbilled
from rules.finding import offsets_told
from rules.words import numbered


def unbilled(report: AuditReport) -> list[tuple[PlacedHistory, Unbilled]]:
    """Every such stretch with its partition."""
    return [(history, each) for history in report.histories for each in history.unbilled]


def sentence(gone: Unbilled, place: str = "") -> str:
    """Which records are gone by which finding, why there is no bill, and what stands there now."""
    where = f"{place} {offsets_told(gone.start_offset, gone.end_offset)}".strip()
    worth = "acknowledged" if gone.acknowledged else "committed"
    were = "were removed" if gone.sure else "may have been removed"
    return f"{worth.capitalize()} records, {where}, {were} ({gone.finding}). {now(gone)} {_no_bill(gone)}"


def _no_bill(gone: Unbilled) -> str:
    return f"Who wrote them, and whether copies exist, cannot be told: {gone.because}."


def now(gone: Unbilled) -> str:
    """What stands at the offsets in the log that leads."""
    if not gone.leaders:
        return "Whether the leader's log got them back is not known."
    held = [f"records of epoch {s.epoch} at {offsets_told(s.start_offset, s.end_offset)}" for s in gone.standing]
    if not held:
        return "The leader's log has nothing there now."
    nothing = [f"nothing at {offsets_told(*part)}" for part in gone.empty]
    holdings = " and ".join([*held, *nothing])
    return f"The leader's log now has {holdings}. Whether these are the same records is not known."


def to_do(gone: Unbilled) -> str:
    """Who has to act."""
    again = "producers must write them again. Consumers then get them at new offsets, also those that had read them"
    if gone.leaders and not gone.standing:
        gone_there = "The leader's log does not have these records any more."
        return f"{gone_there} To find out which ones they were, {_tells(gone)}. Then {again}."
    back = "Whether the leader's log got these records back is not known."
    return f"{back} To find out, {_tells(gone)}. If it did not, {again}."


def _tells(gone: Unbilled) -> str:
    missing = gone.missing or f"the logs of {numbered('broker', gone.brokers)}"
    return f"add {missing} to the dump, and audit again"
