"""Who led, from when until when, as the rows of a timeline tell it; an end that nobody tells stays open."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rules.history.moments import Moment
from rules.timeline.rows import TimelineRow
from rules.timeline.values import DrawnReign

REIGNS_KEPT: Final = 80
_ENDS: Final = ("follower-starts", "log-loaded", "log-created", "log-deleted")
"""Statements of a broker after which it led no more: another role, or another life of its process or its log."""


class Reigning:
    """Who leads by the rows that went by."""

    def __init__(self) -> None:
        self._open: dict[int, DrawnReign] = {}
        self._ended: list[DrawnReign] = []
        self._ordered: dict[int, DrawnReign] = {}

    def newest(self) -> tuple[DrawnReign, ...]:
        """The newest reigns by their beginnings; the controller's word counts where a leader's own is not told."""
        own = [*self._ended, *self._open.values()]
        epochs = {reign.epoch for reign in own}
        others = [reign for epoch, reign in self._ordered.items() if epoch not in epochs]
        together = sorted((*own, *others), key=lambda reign: (reign.since, reign.epoch))
        return tuple(together[-REIGNS_KEPT:])

    def take(self, row: TimelineRow) -> None:
        """The next row."""
        moment = row.moment
        if row.time is None or moment.doubtful:
            return
        if moment.kind == "leadership":
            self._by_the_controller(row, row.time)
        elif moment.broker is not None:
            self._by_its_own_word(row, moment.broker, row.time)

    def _by_its_own_word(self, row: TimelineRow, broker: int, time: int) -> None:
        moment, current = row.moment, self._open.get(broker)
        if moment.kind == "leader-starts" and moment.epoch is not None:
            if current is None or current.epoch != moment.epoch:
                self._end(broker, time)
                self._open[broker] = _reign(row, broker, moment.epoch, time, own=True)
        elif current is not None and moment.kind in _ENDS and _after(moment, current):
            self._end(broker, time)

    def _end(self, broker: int, time: int) -> None:
        reign = self._open.pop(broker, None)
        if reign is not None:
            self._ended.append(replace(reign, until=max(time, reign.since)))

    def _by_the_controller(self, row: TimelineRow, time: int) -> None:
        leader, epoch = row.moment.leader, row.moment.epoch
        if leader is not None and leader >= 0 and epoch is not None and epoch not in self._ordered:
            self._ordered[epoch] = _reign(row, leader, epoch, time, own=False)


def _after(moment: Moment, reign: DrawnReign) -> bool:
    """Whether a statement is of a later role; a repeated order of an older epoch ends nothing."""
    return moment.kind != "follower-starts" or (moment.epoch or 0) > reign.epoch


def _reign(row: TimelineRow, broker: int, epoch: int, time: int, *, own: bool) -> DrawnReign:
    return DrawnReign(
        broker=broker,
        epoch=epoch,
        since=time,
        until=None,
        start_offset=row.moment.offset if own else None,
        own=own,
        text=row.text,
        span=row.moment.span,
    )
