"""What leaders answered to producers, by their own clocks; and of which untold reign an answer may be."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from rules.history.moments import Moment
from rules.history.statements import Produced

Timed = tuple[int, Produced]


class Acknowledged:
    """Answers without error that have a time, found by their witness and that time."""

    def __init__(self, moments: Iterable[Moment]) -> None:
        self._answers: dict[str, list[Timed]] = {}
        for m in moments:
            if m.kind == "produced" and m.error == 0 and m.offset is not None and m.time is not None:
                self._answers.setdefault(m.clock, []).append((m.time, m))
        for answers in self._answers.values():
            answers.sort(key=_time)

    def between(self, clock: str, start: int, end: int | None) -> list[Produced]:
        """What a witness answered from one time of its clock to another, or from then on."""
        own = self._answers.get(clock, [])
        last = None if end is None else bisect_left(own, end, key=_time)
        return [answer for _, answer in own[bisect_left(own, start, key=_time) : last]]


def _time(entry: Timed) -> int:
    return entry[0]


def last_untold(moments: Sequence[Moment], leaders: Mapping[int, int], newest: int) -> Mapping[int, int]:
    """By broker the newest epoch that it may have led and does not tell to have opened; -1 where there is none.

    Of the epochs up to the newest, those that were given to nobody were led by nobody.
    """
    vacant = {m.epoch for m in moments if m.kind == "leadership" and m.leader == -1}
    opened: dict[int | None, set[int | None]] = {}
    for m in moments:
        if m.kind == "leader-starts":
            opened.setdefault(m.broker, set()).add(m.epoch)
    asked = {m.witness for m in moments if m.witness is not None} | {m.broker for m in moments if m.broker is not None}
    found: dict[int, int] = {}
    for broker in asked:
        own = opened.get(broker, set())
        untold = (e for e in range(newest, -1, -1) if e not in vacant and e not in own)
        found[broker] = next((e for e in untold if leaders.get(e, broker) == broker), -1)
    return found
