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
    return f"{worth.capitalize()} records, {where}, {were} ({gone.finding}). {_no_bill(gone)} {now(gone)}"


def _no_bill(gone: Unbilled) -> str:
    return f"Who wrote them and where copies are cannot be told, because {gone.because}."


def now(gone: Unbilled) -> str:
    """What stands at the offsets in the log that leads."""
    if not gone.leaders:
        return "Whether the leader's log has them again is not known."
    held = [f"records of epoch {s.epoch} at {offsets_told(s.start_offset, s.end_offset)}" for s in gone.standing]
    if not held:
        return "The leader's log has nothing there now."
    nothing = [f"nothing at {offsets_told(*part)}" for part in gone.empty]
    holdings = " and ".join([*held, *nothing])
    return f"The leader's log now has {holdings}. Whether these are the same records is not known."


def to_do(gone: Unbilled) -> str:
    """Who has to act."""
    again = "producers must write them again, and consumers that read them must read what is written then"
    if gone.leaders and not gone.standing:
        return f"Find out which records these were: {again}. {_tells(gone)}"
    return f"Find out whether the leader's log has these records again. If it does not, {again}. {_tells(gone)}"


def _tells(gone: Unbilled) -> str:
    return f"Add {gone.missing}." if gone.missing else f"The logs of {numbered('broker', gone.brokers)} would tell."
