"""Every replica's log as it was written, turn by turn: whoever led wrote an epoch, whoever followed copied its leader.

Brokers are taken through their turns side by side, for what a follower copied is known when its leader's log is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rules.protocol.steps import StepLimit
from rules.unwritten.brought_into_line import between_roles, epochs_of_cuts, followed
from rules.unwritten.copying import Copying
from rules.unwritten.epoch_log import PossibleLog
from rules.unwritten.log_turns import ROLES_TAKEN, OwnLead, Turn, leads_of
from rules.unwritten.places import At, GrowsFrom, Point
from rules.unwritten.served_copies import Traces
from rules.unwritten.ways import (
    SERVER_LOG,
    TRACES,
    Open,
    Ways,
    bounded,
    each,
    unplaced,
)

NOBODY: Final = -1
"""Stands for a leader of whom a follower's line does not tell: the line of its cut does."""


class WrittenLogs:
    """The logs of all brokers, turn by turn; `doubted` are growths of which too much is in doubt."""

    def __init__(
        self,
        turns: Mapping[int, Sequence[Turn]],
        leaders: Mapping[int, int],
        silent: Mapping[int, Open],
        traces: Traces,
        doubted: frozenset[tuple[int, int]],
    ) -> None:
        """Of the brokers that are silent nothing is said but where they cut."""
        self.turns, self._leaders = turns, leaders
        self.leads = {broker: leads_of(broker, own) for broker, own in turns.items()}
        self._epochs = {broker: epochs_of_cuts(own, leaders) for broker, own in turns.items()}
        untold = frozenset(b for b, own in turns.items() if not any(turn.kind in ROLES_TAKEN for turn in own))
        self.copying = Copying(self.leads, traces, doubted, untold)
        self.points: list[Point] = []
        self._at = {broker: At(silent.get(broker)) for broker in turns}
        self._run()

    def log_of(self, broker: int) -> Ways:
        """A broker's log where its turns end."""
        return self._at[broker].ways if broker in self._at else unplaced(broker)

    def epochs_of(self, broker: int, place: int, leader: int) -> tuple[int, ...]:
        """The epochs in which a broker can have followed a leader when it brought its log into line."""
        entry = self._epochs[broker].get(place)
        if entry is not None:
            return entry
        lead = next(reversed(self.leads.get(leader, ())), None)
        last = lead.epochs[-1] if lead is not None and not lead.over else None
        lasts = last if last is not None and last >= max(self._leaders, default=0) else None
        return between_roles(self.turns[broker], place, leader, self._leaders, lasts)

    def role_told(self, broker: int, place: int) -> bool:
        """Whether a role tells for which epoch a broker brought its log into line."""
        return place in self._epochs[broker]

    def lead_with(self, broker: int, epoch: int) -> OwnLead | None:
        """The only lead in which a broker led an epoch."""
        own = [lead for lead in self.leads.get(broker, ()) if epoch in lead.epochs]
        return own[0] if len(own) == 1 else None

    def _run(self) -> None:
        rounds = StepLimit(2 * sum(map(len, self.turns.values())) + 1, "following how logs were written")
        while any(at.place < len(self.turns[broker]) for broker, at in self._at.items()):
            rounds.step()
            moved = [self._advance(broker) for broker in self._at]
            if not any(moved):
                self._break_a_circle()

    def _break_a_circle(self) -> None:
        """Logs that were copied from each other, as far as is told, cannot be told apart."""
        broker, at = next((b, at) for b, at in self._at.items() if at.place < len(self.turns[b]))
        at.ways = Open(f"broker {broker} may have copied what was copied from it", TRACES)

    def _advance(self, broker: int) -> bool:
        at, begun = self._at[broker], self._at[broker].place
        for place in range(at.place, len(self.turns[broker])):
            if not self._take(broker, at, self.turns[broker][place]):
                return place > begun
            at.place += 1
        return at.place > begun

    def _take(self, broker: int, at: At, turn: Turn) -> bool:
        """Goes over one turn; false where it has to wait for another broker's log."""
        match turn.kind:
            case "leads":
                return self._opens(broker, at, turn)
            case "follows" | "rests":
                return self._follows(broker, at, turn)
            case "cuts" | "keeps":
                return self._reconciles(broker, at, turn)
            case "loads" | "ends":
                return self._loads(broker, at, turn)
            case "starts-at":
                return self._starts(broker, at, turn)
            case "begins":
                at.ways = (PossibleLog(log_start_offset=turn.offset, log_end_offset=turn.offset),)
                at.source = at.former = None
                return True

    def _starts(self, broker: int, at: At, turn: Turn) -> bool:
        """What is deleted was there: the log had reached so far at least, and perhaps it held the next record."""
        if isinstance(at.ways, Open):
            return True
        if at.growing is not None and min(held.log_end_offset for held in at.ways) <= turn.offset:
            reached = self._reached(broker, at, at.ways, turn.offset)
            if reached is None:
                return False
            beyond = () if isinstance(reached, Open) else self._reached(broker, at, reached, turn.offset + 1)
            more = () if beyond is None or isinstance(beyond, Open) else beyond
            at.ways = reached if isinstance(reached, Open) else bounded([*reached, *more])
        at.ways = each(at.ways, lambda held: held.started_at(max(turn.offset, held.log_start_offset)))
        if at.source is not None and at.source.leads:
            self.copying.note(broker, at)
        return True

    def _reached(self, broker: int, at: At, ways: tuple[PossibleLog, ...], end: int) -> Ways | None:
        shorter = any(held.log_end_offset < end for held in ways)
        return self.copying.grown(broker, at, ways, end) if shorter else ways

    def _opens(self, broker: int, at: At, turn: Turn) -> bool:
        epoch = turn.epoch or 0
        if at.source is not None and at.source.leads and at.source.epochs[-1] == epoch:
            return True  # the order that the line before it followed
        if not self._grow(broker, at, turn.log_end_offset):
            return False
        epochs = at.source.epochs if at.source is not None and at.source.leads else ()
        if turn.log_end_offset == 0:
            at.ways = (PossibleLog(),)  # whatever came before, nothing is left of it
        at.ways = each(at.ways, lambda held: held.opened(epoch))
        at.source, at.former = GrowsFrom(broker, (*epochs, epoch), leads=True), None
        self.copying.note(broker, at)
        return True

    def _follows(self, broker: int, at: At, turn: Turn) -> bool:
        if turn.log_end_offset is not None and not self._grow(broker, at, turn.log_end_offset):
            return False
        at.stands = turn.log_end_offset is not None
        if turn.kind == "rests":
            at.resting = True
            return True
        epoch = turn.epoch or 0
        named = followed(turn, self._leaders)
        leader = NOBODY if named is None else named
        following = at.source is not None and not at.source.leads and at.source.leader == leader and not at.resting
        if following and at.source is not None:
            at.source = replace(at.source, epochs=(*at.source.epochs, epoch))
        else:
            at.former = at.former if at.former is not None else at.source
            at.source = GrowsFrom(leader, (epoch,))
        at.resting = False
        return True

    def _reconciles(self, broker: int, at: At, turn: Turn) -> bool:
        leader = turn.leader if turn.leader is not None else (at.source.leader if at.source else None)
        if turn.kind == "keeps":
            if not self._grow(broker, at, turn.offset, settled=True):
                return False
            before, known = at.ways, True
        else:
            reached = self.copying.reach(broker, at, turn.offset)
            if reached is None:
                return False
            before, known = reached
        if turn.moment is not None:
            self.points.append(
                Point(
                    broker=broker,
                    place=at.place,
                    turn=turn,
                    moment=turn.moment,
                    leader=leader,
                    before=before,
                    end_known=known,
                )
            )
        at.ways = each(before, lambda held: held.cut(turn.offset))
        if turn.offset == 0:
            at.ways = (PossibleLog(),)
        same = at.source is not None and at.source.leader == leader and not at.source.leads and not at.resting
        if not same and leader is not None:
            at.source = GrowsFrom(leader, self.epochs_of(broker, at.place, leader))
        at.former, at.resting, at.stands = None, False, False
        return True

    def _loads(self, broker: int, at: At, turn: Turn) -> bool:
        end = turn.log_end_offset
        if end is None:
            at.ways = unplaced(broker)
        elif not self._grow(broker, at, end, lost=True):
            return False
        elif turn.kind == "loads" and end == 0:
            at.ways = (PossibleLog(),)
        elif turn.kind == "loads":
            at.ways = each(at.ways, lambda held: held.cut(end).started_at(turn.offset))
        else:  # a leader that is not started again knows the epoch in which it wrote nothing yet
            at.ways = each(at.ways, lambda held: held.cut(end) if end < held.log_end_offset else held)
        at.source = at.former = None
        at.resting = False
        return True

    def _grow(self, broker: int, at: At, end: int | None, *, lost: bool = False, settled: bool = False) -> bool:
        """Takes a log to where it is told to have ended; false where another broker's log has to be known first."""
        if isinstance(at.ways, Open):
            return True
        if not lost and end is not None:  # a way by which the log would be longer is none
            at.ways = tuple(held for held in at.ways if held.log_end_offset <= end) or at.ways
        ends = {held.log_end_offset for held in at.ways}
        if end is None:
            at.ways = unplaced(broker)
        elif max(ends) > end and not lost:
            at.ways = Open(f"broker {broker}'s log ended at {end}, and nothing tells how it got shorter", SERVER_LOG)
        elif min(ends) < end and at.former is not None and not settled:
            at.ways = Open(f"nothing tells what broker {broker} cut for its new leader", SERVER_LOG)
        elif min(ends) < end:
            grown = self.copying.grown(broker, at, at.ways, end)
            if grown is None:
                return False
            at.ways = grown
        return True
