"""Evidence that is not there, and what it leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.request_logs import Why
from rules.chronicle.silence import Silence
from rules.replay.leading.leader_walk import LeaderRow
from rules.replay.leads.in_sync import IsrHistory
from rules.replay.leads.served_leads import OF_ANOTHER_TIME, ServedLead
from rules.words import numbered

_LEFT_OPEN: Final[Mapping[Why, str]] = {
    "a hole": "how far followers had asked: the high watermark's upper bound",
    "ends early": "what was written, acknowledged and fetched last",
}
_OPENING: Final = "where the epoch opened and what its leader's log end was"
_COUNTED: Final = "who had to be counted: the high watermark's upper bound"
_FETCHED: Final = "How far in-sync replicas had fetched is not fully known"
_THEM: Final = "{epochs}"
"""Where in words for evidence the epochs come to stand of which it is missing."""
NAMED: Final = 5
"""Epochs that are named one by one."""


class Missing(Struct, frozen=True, kw_only=True):
    """Evidence that is not there, and what it leaves open."""

    kind: str
    """What sort of evidence it is and whose, whichever term it is of."""
    evidence: str
    leaves_open: str
    epochs: tuple[int, ...]
    leader: int | None = None
    """Who led the epochs; null where they are of several."""

    @property
    def unknown(self) -> str:
        """What nobody can say of high watermarks without it, in a sentence for people."""
        if self.leaves_open == _OPENING:
            return f"Whether broker {self.leader} led then, and from which offset on, is not known"
        return "Which replicas were in sync is not known" if self.leaves_open == _COUNTED else _FETCHED


_WRONG: Final = {
    "above": ("too high", "A high watermark is too high if an in-sync replica had not fetched up to it"),
    "below": ("too low", "A high watermark is too low if every in-sync replica had fetched beyond it"),
}
"""How a high watermark may be wrong, and the law that says so."""


def unbounded(lacking: Iterable[Missing], side: str, *, created_again: bool) -> Iterator[tuple[str, str]]:
    """What cannot be said of high watermarks, and the evidence that would say it: each broker's epochs together."""
    found: dict[tuple[int | None, str, str], set[int]] = {}
    for each in lacking:
        found.setdefault((each.leader, each.kind, each.unknown), set()).update(each.epochs)
    by_id = ". Its lines must show the topic id, since the topic was created again"
    for (leader, kind, unknown), epochs in found.items():
        whose = "a leader" if leader is None else f"broker {leader}"
        named = _named(sorted(epochs))
        marks = f"{whose}'s high watermarks in {named}"
        wrong, law = _WRONG[side]
        reason = f"it is not known whether {marks} were {wrong}. {law}. {unknown}"
        yield reason, f"{kind.replace(_THEM, named)}{by_id if created_again else ''}"


def _named(epochs: Sequence[int]) -> str:
    more = len(epochs) - NAMED
    return numbered("epoch", [*epochs[:NAMED], f"{more} more"] if more > 0 else epochs)


def missing(lead: ServedLead, isr: IsrHistory, rows: Sequence[LeaderRow]) -> Iterator[Missing]:
    """What a lead's evidence lacks."""
    if lead.opening is None:
        yield _no_opening(lead)
    # A leader whose ISR is nobody else may well have served no follower.
    alone = bool(isr.statements) and all(s.isr == {lead.leader} for s in isr.statements)
    never_led = lead.opening is None and lead.roles_told and "not here" not in lead.unheard and not lead.answers
    if not alone and not any(row.moment.kind == "fetched" for row in rows):
        if not never_led:
            yield _no_fetch(lead)
    elif (gap := lead.unheard.get("a hole") or lead.unheard.get("ends early")) is not None:
        yield _lacking(lead, gap.silence.words, gap.silence.words, _LEFT_OPEN[gap.why])
    elif any(row.moment.doubtful for row in rows):
        kind = f"the beginnings of fetch sessions with broker {lead.leader}"
        yield _lacking(lead, kind, kind, "the offsets of partitions that requests do not name")
    if lead.unplaced:
        kind = lead.unheard["unplaced"].silence.words
        yield _lacking(lead, kind, kind, _COUNTED)
    if not isr.statements:
        logs = "(metadata log or state-change.log)"
        evidence = f"the ISR at the beginning of epoch {lead.epochs[0]} {logs}"
        kind = f"the ISR with which broker {lead.leader} began to lead in {_THEM} {logs}"
        yield _lacking(lead, kind, evidence, _COUNTED)


def _lacking(lead: ServedLead, kind: str, evidence: str, leaves_open: str) -> Missing:
    return Missing(leader=lead.leader, kind=kind, evidence=evidence, leaves_open=leaves_open, epochs=lead.epochs)


def _no_opening(lead: ServedLead) -> Missing:
    """A log that is there and tells of other roles alone is not the same as no log."""
    first = lead.epochs[0]
    if not lead.roles_told:
        asked = Silence(broker=lead.leader, log="roles")
        return _lacking(lead, asked.words, replace(asked, window=f"of epoch {first}").words, _OPENING)
    kind = f"{Silence(broker=lead.leader, log='roles').words} with the line 'starts at leader epoch'"
    why = ". Its log here has no such line of that time"
    why += "" if lead.answers else ". If its whole log has none, it most likely never led then"
    return _lacking(lead, f"{kind}{why}", f"{kind} of epoch {first}{why}", _OPENING)


def _no_fetch(lead: ServedLead) -> Missing:
    """A log that is there and tells of no fetch is not the same as no log."""
    when, leaves_open = f"in {_named(lead.epochs)}", "every high watermark of the term"
    gap = next((lead.unheard[why] for why in OF_ANOTHER_TIME if why in lead.unheard), None)
    if gap is not None:
        return _lacking(lead, gap.silence.words, replace(gap.silence, window=when).words, leaves_open)
    kind, why = f"request log lines of fetches that broker {lead.leader} served", ". Its request log here has none"
    return _lacking(lead, f"{kind}{why}", f"{kind} {when}{why}", leaves_open)
