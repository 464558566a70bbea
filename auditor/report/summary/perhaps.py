"""What may be lost, in words: where replicas differ, and questions; alike ones of several partitions together."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from auditor.report.model import AuditReport, UndecidedLine
from auditor.report.named_places import told_places
from auditor.report.placed import PlacedHistory
from auditor.report.summary.folded_findings import FoldedFinding, folded, where
from auditor.report.unbilled import sentence, unbilled
from rules.finding import UNDECIDED, Finding, Place, Severity, capital, place_of, question_told
from rules.words import counted

PLACES_SHOWN: Final = 3
Ranges = dict[Place, list[tuple[int, int]]]


class AtStake(Struct, frozen=True, kw_only=True):
    """Offsets at which committed records stand on one side alone, and that no bill tells: whoever leads, some go."""

    places: tuple[Place, ...]
    offsets: int

    @property
    def words(self) -> str:
        """How many, and where."""
        many = counted(self.offsets, "offset")
        return (
            f"{many} in {told_places(self.places, PLACES_SHOWN)}. Replicas hold different committed records there, and"
            " only one version of each can stay. All versions are still on the disks."
        )


def at_stake(report: AuditReport) -> AtStake | None:
    """What may go by whoever leads, each offset once; null where all of it is billed, or there is none."""
    found = _on_one_side(report)
    billed: Ranges = {}
    for history in report.histories:
        own = [(loss.start_offset, loss.end_offset) for loss in history.losses if loss.matters]
        billed.setdefault(place_of(history), []).extend(own)
    left = {place: _beyond(billed.get(place, ()), ranges) for place, ranges in found.items()}
    places = tuple(place for place, offsets in left.items() if offsets)
    return AtStake(places=places, offsets=sum(left.values())) if places else None


def _on_one_side(report: AuditReport) -> Ranges:
    """Ranges of committed records that some replicas have and others do not, by findings of high severity."""
    found: Ranges = {}
    for finding in report.violations:
        meant = report.bearing(finding).records
        if meant is not None and not meant.gone and finding.severity >= Severity.HIGH:
            found.setdefault(place_of(finding), []).append((finding.start_offset or 0, finding.end_offset or 0))
    return found


def _beyond(billed: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]) -> int:
    """How many offsets the ranges hold that are not billed."""
    return offsets_in([*billed, *ranges]) - offsets_in(billed)


def offsets_in(ranges: Iterable[tuple[int, int]]) -> int:
    """How many offsets the ranges hold together."""
    many = reached = 0
    for start, end in sorted(ranges):
        many += max(0, end - max(start, reached))
        reached = max(reached, end)
    return many


def perhaps_lost(report: AuditReport) -> tuple[Finding, ...]:
    """Open questions whether more is lost than is billed, and findings by which some may be that no bill counts."""
    left_out = {(h.cluster_id, h.topic, h.partition, loss.next_epoch) for h in report.histories for loss in h.losses}
    billed: dict[Place, list[PlacedHistory]] = {}
    for history in report.histories:
        billed.setdefault(place_of(history), []).append(history)
    return tuple(f for f in report.findings if _asks(f, report, billed) or _uncounted(f, report, left_out))


def perhaps_lost_elsewhere(report: AuditReport) -> tuple[Finding, ...]:
    """Those that do not only ask about records that are at stake already."""
    known = _on_one_side(report)
    return tuple(f for f in perhaps_lost(report) if not _within(f, known.get(place_of(f), ())))


def _within(finding: Finding, ranges: Iterable[tuple[int, int]]) -> bool:
    start, end = finding.start_offset, finding.end_offset
    return start is not None and end is not None and any(low <= start < end <= high for low, high in ranges)


def _asks(finding: Finding, report: AuditReport, billed: Mapping[Place, Sequence[PlacedHistory]]) -> bool:
    """Whether it is open if records are lost, and not only what lost ones were worth, which their bill tells."""
    asks = finding.blocking and report.bearing(finding).records is not None
    return asks and not any(h.bills_all_of(finding) for h in billed.get(place_of(finding), ()))


def _uncounted(finding: Finding, report: AuditReport, left_out: Container[object]) -> bool:
    if finding.verdict != "violated" or not (fact := report.bearing(finding).uncounted):
        return False
    values = finding.values()
    return values.get(fact) is True and (*place_of(finding), values.get("epoch")) not in left_out


def perhaps_words(entries: Iterable[FoldedFinding]) -> Iterator[str]:
    """Where, what is open, and what would tell; once, though two pairs of brokers may leave the same question open."""
    asked: dict[tuple[str, str], list[FoldedFinding]] = {}
    for entry in entries:
        asked.setdefault(_undecided(entry.finding.message), []).append(entry)
    for (named, words), same in asked.items():
        yield f"{named or where(same, PLACES_SHOWN)}{words}"


def _undecided(message: str) -> tuple[str, str]:
    """The partitions that it names itself, and an open question, or a finding that leaves one open, behind them."""
    head, asked, rest = message.partition(": ")
    if not asked or not head.startswith(UNDECIDED):
        return "", f". {message}"
    return head.removeprefix(UNDECIDED).removeprefix(" in "), f": {rest}"


def unadvised(untold: Iterable[UndecidedLine], perhaps: Sequence[str]) -> Iterator[str]:
    """Of what nothing can be said, and why; where a question before tells the same reason, in one sentence."""
    again: dict[str, list[Place]] = {}
    for point in untold:
        what, _, why = question_told(point.reason, point.missing).partition(". ")
        if why and any(capital(asked.partition(": ")[2]) == why for asked in perhaps):
            again.setdefault(what, []).extend(point.places)
        else:
            yield f"In {told_places(point.places)}: {what}{f'. {why}' if why else ''}"
    yield from (f"In {told_places(places)}: {what}. The reason is told above." for what, places in again.items())


def beside_the_advice(report: AuditReport) -> Iterator[str]:
    """Those that the advice on a partition does not tell itself."""
    places = {
        (p.cluster_id, p.topic, p.partition, each.start_offset, each.end_offset)
        for p in report.advice
        for each in p.advice.nowhere
        if each.doubt
    }
    others = (
        f
        for f in perhaps_lost(report)
        if (f.cluster_id, f.topic, f.partition, f.start_offset, f.end_offset) not in places
    )
    yield from perhaps_words(folded(others))
    advised = {(p.cluster_id, p.topic, p.partition) for p in report.advice}
    for history, gone in unbilled(report):
        if place_of(history) not in advised:
            name = f"{history.topic}-{history.partition}"
            yield f"{name}: {sentence(gone, name)}"
