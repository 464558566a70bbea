"""Where the batch of a leader's last answer ends surely, where nothing tells that no other answer followed it.

A log of requests that was copied before the disks ends amid a lead. What the disk holds behind the last answer was
written later, and nothing tells that anybody was answered for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import RequestLogs, log_of
from rules.history.moments import Moment, agreed, own_log_end, succeeded
from rules.history.statements import Produced


class LastBatch(NamedTuple):
    """The batch of an epoch's last answer that is told: more answers may have followed it."""

    base_offset: int
    end_at_least: int


def last_batches(chronicle: Chronicle, logs: RequestLogs) -> Mapping[int, LastBatch]:
    """By epoch, of those after whose last answer the leader's log of requests may not speak until the lead's end."""
    last: dict[int, Produced] = {}
    begun: dict[int, int] = {}
    for moment in chronicle.moments:
        if moment.term is None or moment.time is None:
            continue
        begun[moment.term] = min(moment.time, begun.get(moment.term, moment.time))
        if succeeded(moment) and (moment.offset or 0) >= (last[moment.term].offset or 0 if moment.term in last else 0):
            last[moment.term] = moment
    found: dict[int, LastBatch] = {}
    for epoch, answer in last.items():
        later = min((time for term, time in begun.items() if term > epoch), default=None)
        if not _heard_to_its_end(chronicle, logs, answer, later):
            found[epoch] = LastBatch(answer.offset or 0, _end_at_least(chronicle, answer))
    return found


def _heard_to_its_end(chronicle: Chronicle, logs: RequestLogs, answer: Produced, later: int | None) -> bool:
    """Whether the log of its requests speaks until its leader tells where its log ended, or until another one led."""
    log, since = log_of(logs, answer.witness or 0), answer.last_time or answer.time or 0
    if not log.here:
        return True
    words = (m for m in chronicle.told_by(answer.witness or 0) if own_log_end(m) is not None)
    ends = [m.time for m in words if m.time is not None and m.time >= since]
    until = min([*ends, *(() if later is None else (later,))], default=None)
    # A broker that was down writes nothing: a log that speaks again since then lacks nothing for that.
    return until is not None and (log.until >= until or not any(log.unheard(since, until)))


def _end_at_least(chronicle: Chronicle, answer: Produced) -> int:
    """The next offset that a follower asked the leader for, else the next one of all."""
    first = answer.offset or 0
    asked = (m.offset for m in chronicle.told_by(answer.witness or 0) if _asks_behind(m, answer))
    return min((offset for offset in asked if offset is not None), default=first + 1)


def _asks_behind(moment: Moment, answer: Produced) -> bool:
    fetches = moment.kind == "fetched" and moment.term == answer.term and agreed(moment)
    return fetches and (moment.offset or 0) > (answer.offset or 0)
