"""What a log of requests cannot tell: lines that are unread, and answers of another broker among its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.statements_of_rows import PartitionName
from parsers.broker_log import wall_clock
from parsers.refusal import refuse
from parsers.request_log import LostLines, Other, RequestColumns, lost_lines
from parsers.tables import Refusal
from rules.evidence import METADATA_TOPIC
from rules.history.moments import Moment
from rules.history.trace_ends import TraceGap


def trace_gaps(unit: ReadUnit, refusals: Iterable[Refusal]) -> Iterator[TraceGap]:
    """One gap for all unread places of one file, however many there are."""
    spans: dict[str, tuple[int, int]] = {}
    for place in refusals:
        start, end = spans.get(place.source, (place.span_start, place.span_end))
        spans[place.source] = min(start, place.span_start), max(end, place.span_end)
    for source, (start, end) in spans.items():
        yield TraceGap(broker=unit.broker, source=source, start=start, end=end, unread=True)


LATE_MS: Final = 5000
"""A follower fetches every half second: a session that is begun unseen so long after the log is has lost lines."""


class SessionsLost:
    """Where followers' sessions show that lines of a log are not there, while it is read."""

    def __init__(self, unit: ReadUnit) -> None:
        self._unit = unit
        self._span: tuple[int, int] | None = None

    def passing(self, parts: Iterable[RequestColumns | Other]) -> Iterator[RequestColumns | Other]:
        """Everything that is read; the gaps of sessions are noted here."""
        for part in parts:
            if isinstance(part, RequestColumns) and part.gaps is not None:
                self._note(lost_lines(part.gaps))
            yield part

    def _note(self, found: Iterable[LostLines]) -> None:
        for lost in found:
            if self._in_the_middle(lost):
                first, last = self._span or (lost.start, lost.end)
                self._span = min(first, lost.start), max(last, lost.end)

    def _in_the_middle(self, lost: LostLines) -> bool:
        """A log that begins after its sessions did has no hole for that."""
        time = wall_clock(lost.time) if isinstance(lost.time, str) else lost.time
        begun = self._unit.begun
        return lost.skipped or (begun is not None and time is not None and time - begun > LATE_MS)

    def gaps(self, source: str) -> Iterator[TraceGap]:
        """One gap for all holes of the log."""
        if self._span is not None:
            start, end = self._span
            yield TraceGap(broker=self._unit.broker, source=source, start=start, end=end)


def undated(unit: ReadUnit, spoken: dict[PartitionName, list[Moment]]) -> list[Refusal]:
    """Take out what is told at a time that is no date, where other lines have one: it stands nowhere."""
    every = [moment for moments in spoken.values() for moment in moments]
    lost = {(m.span.source, m.span.start, m.span.end) for m in every if m.time is None}
    if not lost or all(moment.time is None for moment in every):
        return []
    for place, moments in spoken.items():
        spoken[place] = [moment for moment in moments if moment.time is not None]
    expected, found = "a date before the message", "a time that is none"
    return [
        refuse(unit.origin(source), "malformed", start, end, expected=expected, found=found)
        for source, start, end in sorted(lost)
    ]


def of_several_brokers(unit: ReadUnit, spoken: Mapping[PartitionName, Sequence[Moment]]) -> Refusal | None:
    """Why a log of requests is not one broker's, if it is not: a broker never fetches from itself.

    A node that is a controller too asks every voter for the metadata log while it knows no leader, itself among them.
    """
    moments_of = (moments for (topic, _), moments in spoken.items() if topic != METADATA_TOPIC)
    own = (moment for moments in moments_of for moment in moments if moment.broker == unit.broker)
    itself = next((m for m in own if m.kind == "fetched" and m.witness == unit.broker), None)
    if itself is None:
        return None
    expected, span = "the requests that one broker answered", itself.span
    found = f"fetches of broker {unit.broker} in its own log: it holds another broker's answers too"
    return refuse(unit.origin(span.source), "ambiguous", span.start, span.end, expected=expected, found=found)
