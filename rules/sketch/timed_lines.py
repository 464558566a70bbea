"""Lines of a sketch with a time, about settings that change and about request logs that are not whole.

    t5 sets min.insync.replicas 3 by 1    broker 1 tells in its server.log that it takes this setting of the topic over;
                                          without `by 1` the controllers' record tells it, and nobody when it was taken
                                          over; `none` for a value says that the topic has it no longer
    t9 trace 1 begins                     the request log of broker 1 begins: what it was asked before, nobody logged
    t20 trace 1 pauses until 60000        it holds no line between these times, and lacks none
    t20 trace 1 lacks until 60000         its lines between these times are missing
    t90 trace 1 ends                      its lines are missing from then on

A drawing tells all that happened: nobody sets a clock between its statements. Where a request log tells nothing, nobody
knows that of its broker's clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from parsers.provenance import Span
from rules.chronicle.request_logs import request_logs
from rules.event_lines import Words, number, verb_and_rest, words_of
from rules.evidence import PartitionEvidence
from rules.history.moments import Moment
from rules.history.statements import Answered
from rules.history.steady import QUIET_MS, joined, spoken_in
from rules.history.trace_ends import SpokenStretch, TraceEnd, TraceGap
from rules.settings import Setting
from rules.sketch.drawn_log import SketchError
from rules.sketch.statement_lines import EVENTS

_LINE: Final = re.compile(r"t(?P<time>\d+)\s+(?P<words>(?:sets|trace)\b.*)")
_SHAPES: Final[Mapping[str, str]] = {
    "sets": r"(?P<name>[a-z.]+) (?P<value>\S+)(?: by (?P<broker>\d+))?",
    "trace": r"(?P<broker>\d+) (?:(?P<whole>begins|ends)|(?P<silence>pauses|lacks) until (?P<until>\d+))",
}
_EXAMPLES: Final[Mapping[str, str]] = {
    "sets": "'t5 sets min.insync.replicas 3 by 1'",
    "trace": "'t9 trace 1 begins', 't20 trace 1 pauses until 60000', 't20 trace 1 lacks until 60000' or 't90 trace 1"
    " ends'",
}
_UNTOLD: Final = 1 << 62
"""Later than anything that is drawn."""


class TimedLines:
    """What such lines of one sketch say together."""

    def __init__(self) -> None:
        self._settings: list[Setting] = []
        self._begun: dict[int, int | None] = {}
        """Of each broker with such a line when its request log begins; null where it tells of all from the first on."""
        self._gaps: list[TraceGap] = []
        self._untold: list[tuple[str, int, int]] = []
        """Whose clock shows no lines, from when and until when."""

    def take(self, line: str) -> bool:
        """Whether the line is one of them; then it is noted."""
        match = _LINE.fullmatch(line)
        if match is None:
            return False
        verb, rest = verb_and_rest(match["words"])
        words = words_of(_SHAPES[verb], rest)
        if words is None:
            message = f"expected {_EXAMPLES[verb]}, found {line!r}"
            raise SketchError(message)
        (self._set if verb == "sets" else self._trace)(int(match["time"]), words, line)
        return True

    def _set(self, time: int, words: Words, _line: str) -> None:
        broker, value = number(words, "broker"), words["value"]
        setting = Setting(
            name=words["name"] or "",
            value=None if value == "none" else value,
            origin="metadata" if broker is None else "applied",
            since=time,
            clock="controller" if broker is None else f"broker {broker}",
            span=_span("settings", time),
        )
        self._settings.append(setting)

    def _trace(self, time: int, words: Words, line: str) -> None:
        broker, until = number(words, "broker") or 0, number(words, "until")
        clock, span = f"broker {broker}", _span(EVENTS, time)
        if until is not None and until <= time:
            message = f"expected a later time behind 'until', found {line!r}"
            raise SketchError(message)
        self._begun.setdefault(broker, None)
        if words["whole"] == "begins":
            self._begun[broker] = time
            self._untold.append((clock, -_UNTOLD, time))
            return
        self._untold.append((clock, time, _UNTOLD if until is None else until))
        if words["whole"] == "ends":
            self._gaps.append(TraceGap(broker=broker, source=EVENTS, start=time, end=time, since=time, told_by=span))
        elif words["silence"] == "lacks":
            self._gaps.append(TraceGap(broker=broker, source=EVENTS, start=time, end=until or time))

    def settings(self, topic: str) -> Iterator[Setting]:
        """The settings of the topic, as they were told over time."""
        return (replace(setting, topic=topic) for setting in self._settings)

    def added_to(self, evidence: PartitionEvidence, moments: Sequence[Moment]) -> PartitionEvidence:
        """The evidence with where request logs are not whole, and with when no clock was set."""
        times = [time for moment in moments for time in (moment.time, moment.last_time) if time is not None]
        drawn = (min(times), max(times)) if times else None
        steady = {m.clock: list(self._times(m.clock, *drawn)) for m in moments} if drawn else {}
        logs = request_logs(self._ends(moments, drawn[0]), self._gaps) if drawn else {}
        return replace(evidence, request_logs=logs, steady=steady)

    def _ends(self, moments: Sequence[Moment], first: int) -> Iterator[TraceEnd]:
        """Where each log ends of which a line speaks: with the last answer that is drawn."""
        for broker, begun in self._begun.items():
            answers = [m for m in moments if m.clock == f"broker {broker}" and isinstance(m, Answered)]
            spoken = joined(spoken_in(answers), QUIET_MS)
            yield TraceEnd(
                broker=broker,
                source=EVENTS,
                end=max((m.span.end for m in answers), default=0),
                begun=first if begun is None else begun,
                is_last=True,
                spoken=tuple(SpokenStretch(first=since, last=until) for since, until in spoken),
            )

    def _times(self, clock: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The stretches of a drawing in which a clock was not set."""
        for begin, end in sorted((begin, end) for own, begin, end in self._untold if own == clock):
            if begin >= first:
                yield first, min(begin, last)
            first = max(first, end)
        if first <= last:
            yield first, last


def _span(source: str, time: int) -> Span:
    return Span(source=source, start=time, end=time + 1)
