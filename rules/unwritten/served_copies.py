"""What leaders' request logs tell of copying: whom they served in which lead, and how far their logs had reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeGuard

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.request_logs import RequestLogs, log_of
from rules.history.moments import Moment, assigned
from rules.history.statements import Answered
from rules.unwritten.log_turns import OwnLead

OFFSET_OUT_OF_RANGE: Final = 1


class Traces:
    """The answers to followers and producers, leader by leader in the order of its log."""

    def __init__(self, chronicle: Chronicle, request_logs: RequestLogs) -> None:
        self._request_logs = request_logs
        own = [m for m in chronicle.moments if m.clock == f"broker {m.witness}"]
        self._places = {id(m): place for place, m in enumerate(own)}
        self._ordered = {(m.witness, m.epoch) for m in own if m.kind == "leadership"}
        self._assigned = [
            (m.epoch, named) for m in chronicle.moments if m.epoch is not None and (named := assigned(m))
        ]
        self._fetches: dict[tuple[int | None, int | None], list[Moment]] = {}
        self._reached: dict[int | None, list[Moment]] = {}
        self._out_of_range: dict[tuple[int | None, int | None], list[Moment]] = {}
        for moment in own:
            if moment.kind == "fetched" and moment.error == OFFSET_OUT_OF_RANGE:
                self._out_of_range.setdefault((moment.witness, moment.broker), []).append(moment)
            if _counts(moment):
                self._reached.setdefault(moment.witness, []).append(moment)
                if moment.kind == "fetched":
                    self._fetches.setdefault((moment.witness, moment.broker), []).append(moment)

    def served(self, broker: int, lead: OwnLead, start: int, end: int) -> bool | None:
        """Whether a follower asked for offsets of a range in a lead; null where the leader's log may lack it."""
        asked = self._within(lead, self._fetches.get((lead.broker, broker), ()))
        if any(start <= (m.offset or 0) < end for m in asked):
            return True
        return False if self._whole(lead) else None

    def in_range(self, broker: int, lead: OwnLead) -> bool:
        """Whether a follower never asked for what lay outside of its leader's log: else it may have begun anew."""
        turned_away = self._within(lead, self._out_of_range.get((lead.broker, broker), ()))
        return self._whole(lead) and not any(True for _ in turned_away)

    def _whole(self, lead: OwnLead) -> bool:
        """Whether the log that holds a lead's orders holds all its answers too."""
        ordered = all((lead.broker, epoch) in self._ordered for epoch in lead.epochs)
        return ordered and not log_of(self._request_logs, lead.broker).gaps

    def dismissed(self, broker: int, since: int) -> bool:
        """Whether a broker was of the assignment no more at some time after an epoch: no role of its own tells it."""
        return any(epoch > since and broker not in replicas for epoch, replicas in self._assigned)

    def wrote_to(self, lead: OwnLead, epochs: Sequence[int | None]) -> int:
        """How far a leader's log had reached when its lead was over, at least."""
        known = self._within(lead, self._reached.get(lead.broker, ()))
        own = (m for m in known if m.term in epochs and m.latest_term is None)
        return max(((m.offset or 0) + (m.kind == "produced") for m in own), default=0)

    def _within(self, lead: OwnLead, moments: Iterable[Moment]) -> Iterator[Moment]:
        begun = self._place(lead.opened, 0)
        over = self._place(lead.closed, len(self._places))
        return (moment for moment in moments if begun <= self._places[id(moment)] < over)

    def _place(self, moment: Moment | None, otherwise: int) -> int:
        return otherwise if moment is None else self._places.get(id(moment), otherwise)


def _counts(moment: Moment) -> TypeGuard[Answered]:
    """Whether it is a replica's fetch or a produce by which its leader's log had come so far."""
    if moment.kind != "produced" and (moment.kind != "fetched" or moment.answered_epoch is not None):
        return False
    tells = moment.offset is not None and moment.offset >= 0 and not moment.doubtful
    return tells and moment.error in (None, 0)
