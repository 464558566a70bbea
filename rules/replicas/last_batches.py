"""Where the batch of a leader's answer ends surely, where nothing tells that no other answer followed it.

A log of requests that was copied before the disks ends amid a lead. One of which a rotated file was not copied has a
pause. What was written after the last answer before that may never have been answered for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import LoggedRequests, RequestLogs, log_of
from rules.history.moments import Moment, agreed, own_log_end, succeeded
from rules.history.statements import Fetched, Produced

Row = Produced | Fetched


def last_batches(chronicle: Chronicle, logs: RequestLogs) -> Mapping[int, Mapping[int, int]]:
    """By epoch and first record the batches after whose answers more may be missing, and where each ends at least."""
    rows: dict[int, list[Row]] = {}
    begun: dict[int, int] = {}
    for moment in chronicle.moments:
        if moment.term is not None and moment.time is not None:
            begun[moment.term] = min(moment.time, begun.get(moment.term, moment.time))
            if succeeded(moment) or (moment.kind == "fetched" and agreed(moment)):
                rows.setdefault(moment.term, []).append(moment)
    found: dict[int, dict[int, int]] = {}
    own_ends: dict[int, Sequence[int] | None] = {}
    later: int | None = None
    for epoch in sorted(begun, reverse=True):
        own = rows.get(epoch, ())
        leader = next((row.witness for row in own if row.kind == "produced"), None)
        log = log_of(logs, -1 if leader is None else leader)
        if log.here:
            if log.broker not in own_ends:
                own_ends[log.broker] = _ends_told(chronicle.told_by(log.broker))
            ended = own_ends[log.broker], later
            found[epoch] = dict(_cut_short(log, [row for row in own if row.witness == leader], ended))
        later = begun[epoch] if later is None else min(later, begun[epoch])
    return found


def _ends_told(own: Sequence[Moment]) -> Sequence[int] | None:
    """When a broker told where its log ended, in order; null where its clock was set back and times order nothing."""
    if any(moment.set_back != 0 for moment in own):
        return None
    return sorted(m.time for m in own if m.time is not None and own_log_end(m) is not None)


def _cut_short(
    log: LoggedRequests, rows: Sequence[Row], ended: tuple[Sequence[int] | None, int | None]
) -> Iterator[tuple[int, int]]:
    """The last batch before each pause of a log, and before its end if that comes before the lead's."""
    parts = [*_apart([last for (_, last), _ in pairwise(log.spoken)], rows)]
    if parts and _heard_to_its_end(log, parts[-1][-1], *ended):
        parts.pop()
    for part in parts:
        base = max((row.offset or 0 for row in part if row.kind == "produced"), default=None)
        if base is not None:
            asked = (row.offset for row in part if row.offset is not None and row.offset > base)
            yield base, min(asked, default=base + 1)


def _apart(pauses: Sequence[int], rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows up to each pause of their log, and those behind the last one."""
    placed = sorted(rows, key=_logged)
    places = {bisect_right(placed, pause, key=_logged) for pause in pauses} | {0, len(placed)}
    return (placed[start:end] for start, end in pairwise(sorted(places)))


def _heard_to_its_end(log: LoggedRequests, last: Row, ends: Sequence[int] | None, later: int | None) -> bool:
    """Whether the log of its requests speaks until its leader tells where its log ended, or until another one led."""
    if ends is None:
        return True
    since = _logged(last)
    until = min([*ends[bisect_left(ends, since) :][:1], *(() if later is None else (later,))], default=None)
    # A broker that was down writes nothing: a log that speaks again since then lacks nothing for that.
    if until is None or log.until >= until:
        return until is not None
    return all(each.why == "a hole" and not _behind(log, last) for each in log.unheard(since, until))


def _behind(log: LoggedRequests, last: Row) -> bool:
    """Whether lines that cannot be read may be of a later time than a row."""
    return any(gap.source != last.span.source or gap.end > last.span.end for gap in log.gaps)


def _logged(row: Moment) -> int:
    return row.last_time or row.time or 0
