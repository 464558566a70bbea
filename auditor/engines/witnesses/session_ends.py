"""How fetch sessions ended: by the log of who answered, and by the word of who asked in vain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs
from msgspec.structs import replace

from auditor.engines.opened.unit_facts import unit_fact
from auditor.engines.plan.units import ReadUnit
from auditor.engines.witnesses.names_of_ids import Spoken
from auditor.engines.witnesses.zoned_times import Zones
from parsers.broker_log import wall_clock
from parsers.provenance import Span
from parsers.request_log import SessionState
from rules.history.steady import QUIET_MS, joined, spoken_in
from rules.history.trace_ends import SessionBroken, SessionLeft, SpokenStretch, TraceEnd
from rules.narrow.facts import Fact

_KIND: Final = "fetch-session-ended"
_NUMBERED: Final = re.compile(r"sessionId=(\d{1,10}), epoch=(\d{1,10})\b")
_COLUMNS: Final = ("broker", "leader", "detail", "time_text", "source", "span_start", "span_end")


def broken_in(events: pa.RecordBatch) -> Iterator[SessionBroken]:
    """What followers wrote of fetches that they could not send."""
    lines = events.filter(pc.equal(events["kind"], _KIND))
    for broker, leader, detail, time, source, start, end in zip(*(lines[n].to_pylist() for n in _COLUMNS), strict=True):
        named = _NUMBERED.search(detail or "")
        if named is not None and broker is not None and leader is not None:
            yield SessionBroken(
                leader=leader,
                replica=broker,
                session=int(named[1]),
                epoch=int(named[2]),
                time=wall_clock(time) if time else None,
                span=Span(source=source, start=start, end=end),
            )


def of_followers(unit: ReadUnit, broken: Iterable[SessionBroken]) -> Iterator[Fact]:
    """A unit's word of broken sessions, of each the furthest."""
    furthest: dict[tuple[int, int, int], SessionBroken] = {}
    for each in broken:
        key = each.leader, each.replica, each.session
        if key not in furthest or furthest[key].epoch < each.epoch:
            furthest[key] = each
    if furthest:
        zones = Zones(unit.log_timezones)
        dated = (replace(each, time=zones.instant(each.replica, each.time)) for each in furthest.values())
        yield structs.replace(unit_fact(unit, None, None), sessions_broken=tuple(dated))


def of_the_log(unit: ReadUnit, spoken: Spoken, sessions: SessionState, names: int) -> Fact:
    """Where a stretch of a request log ends, and behind the last one how its sessions stand."""
    (piece,) = unit.pieces
    left: dict[int, int | None] = {}
    for (_, number), session in sessions.sessions.items() if unit.ends_chain else ():
        # A session that was closed has no partitions, and no number.
        left[number] = session.next_epoch or None if left.get(number, 1) is not None else None
    zones = Zones(unit.log_timezones)
    spoken_of = (moment for said in spoken.values() for moment in zones.of_moments(said))
    end = TraceEnd(
        broker=unit.broker,
        source=piece.source,
        end=piece.end,
        begun=zones.instant(unit.broker, unit.begun),
        is_last=unit.ends_chain,
        spoken=tuple(SpokenStretch(first=first, last=last) for first, last in joined(spoken_in(spoken_of), QUIET_MS)),
        sessions=tuple(SessionLeft(session=number, next_epoch=following) for number, following in sorted(left.items())),
        names=names,
    )
    return structs.replace(unit_fact(unit, None, None), trace_ends=(end,))
