"""Where the batch of a leader's answer ends surely, where nothing tells that no other answer followed it.

A log of requests that was copied before the disks ends amid a lead. One of which a rotated file was not copied has a
pause. What was written after the last answer before that may never have been answered for.
"""

from __future__ import annotations

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
    for epoch, own in rows.items():
        leader = next((row.witness for row in own if row.kind == "produced"), None)
        log = log_of(logs, -1 if leader is None else leader)
        if log.here:
            later = min((time for term, time in begun.items() if term > epoch), default=None)
            found[epoch] = dict(_cut_short(chronicle, log, [row for row in own if row.witness == leader], later))
    return found


def _cut_short(
    chronicle: Chronicle, log: LoggedRequests, rows: Sequence[Row], later: int | None
) -> Iterator[tuple[int, int]]:
    """The last batch before each pause of a log, and before its end if that comes before the lead's."""
    parts = [*_apart([last for (_, last), _ in pairwise(log.spoken)], rows)]
    if parts and _heard_to_its_end(chronicle, log, parts[-1][-1], later):
        parts.pop()
    for part in parts:
        base = max((row.offset or 0 for row in part if row.kind == "produced"), default=None)
        if base is not None:
            asked = (row.offset for row in part if row.offset is not None and row.offset > base)
            yield base, min(asked, default=base + 1)


def _apart(pauses: Sequence[int], rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows up to each pause of their log, and those behind the last one."""
    left = sorted(rows, key=_logged)
    for pause in pauses:
        before = [row for row in left if _logged(row) <= pause]
        left = left[len(before) :]
        if before and left:
            yield before
    if left:
        yield left


def _heard_to_its_end(chronicle: Chronicle, log: LoggedRequests, last: Row, later: int | None) -> bool:
    """Whether the log of its requests speaks until its leader tells where its log ended, or until another one led."""
    since, own = _logged(last), chronicle.told_by(log.broker)
    if any(moment.set_back != 0 for moment in own):
        return True  # which of its words came later is not told by their times
    ends = [m.time for m in own if m.time is not None and m.time >= since and own_log_end(m) is not None]
    until = min([*ends, *(() if later is None else (later,))], default=None)
    # A broker that was down writes nothing: a log that speaks again since then lacks nothing for that.
    if until is None or log.until >= until:
        return until is not None
    return all(each.why == "a hole" and not _behind(log, last) for each in log.unheard(since, until))


def _behind(log: LoggedRequests, last: Row) -> bool:
    """Whether lines that cannot be read may be of a later time than a row."""
    return any(gap.source != last.span.source or gap.end > last.span.end for gap in log.gaps)


def _logged(row: Moment) -> int:
    return row.last_time or row.time or 0
