"""What befell a broker's replica by its own log: where its records came from, and where they ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from rules.history.log_cuts import BY_HIGH_WATERMARK, DECISIONS
from rules.history.moments import ROLE_KINDS, Moment, gives_role, leads
from rules.history.statements import LogCut

Kind = Literal["leads", "follows", "rests", "cuts", "keeps", "loads", "begins", "starts-at", "ends"]
ROLES_TAKEN: Final = ("leads", "follows", "rests")
_DECISIONS: Final = (*DECISIONS, "epoch-round")


class Turn(Struct, frozen=True, kw_only=True):
    """One of them."""

    kind: Kind
    moment: Moment | None = None
    """Null where the evidence ends: the disk shows it."""
    leader: int | None = None
    """Whom the broker follows from here on; of a cut and of one that cut nothing, whom the fetcher named."""
    epoch: int | None = None
    log_end_offset: int | None = None
    """Where the log ended then, before anything was cut; null where it is not told."""
    offset: int = 0
    """Where the log was cut, or begins."""
    by_watermark: bool = False
    decision: LogCut | None = None


def turns_of(moments: Iterable[Moment]) -> tuple[Turn, ...]:
    """The turns of one broker, in the order of its log."""
    return tuple(_turns(moments))


def _turns(moments: Iterable[Moment]) -> Iterator[Turn]:
    decision: LogCut | None = None
    for moment in moments:
        if isinstance(moment, LogCut) and moment.kind in _DECISIONS:
            decision = moment
        elif moment.kind in ("truncated", "truncation-kept"):
            yield _reconciled(moment, decision)
            decision = None
        elif gives_role(moment) and moment.epoch is not None:
            yield _role(moment)
        elif moment.kind in ("log-loaded", "log-created", "log-deleted", "log-reset", "log-start-moved"):
            decision = None
            yield _disk(moment)


def _reconciled(moment: LogCut, decision: LogCut | None) -> Turn:
    kept = moment.kind == "truncation-kept"
    return Turn(
        kind="keeps" if kept else "cuts",
        moment=moment,
        leader=decision.leader if decision else None,
        log_end_offset=moment.end_offset if kept else None,
        offset=_or_zero(moment.end_offset if kept else moment.offset),
        by_watermark=decision is not None and decision.kind in BY_HIGH_WATERMARK,
        decision=decision,
    )


def _role(moment: Moment) -> Turn:
    end = moment.offset if moment.kind in ROLE_KINDS and not moment.doubtful else None
    if leads(moment):
        return Turn(kind="leads", moment=moment, epoch=moment.epoch, log_end_offset=end)
    if moment.leader is not None and moment.leader < 0:
        return Turn(kind="rests", moment=moment, epoch=moment.epoch, log_end_offset=end)
    return Turn(kind="follows", moment=moment, leader=moment.leader, epoch=moment.epoch, log_end_offset=end)


def _disk(moment: Moment) -> Turn:
    match moment.kind:
        case "log-loaded":
            start = _or_zero(moment.log_start_offset)
            return Turn(kind="loads", moment=moment, log_end_offset=moment.end_offset, offset=start)
        case "log-start-moved":
            return Turn(kind="starts-at", moment=moment, offset=_or_zero(moment.log_start_offset))
        case "log-reset":
            return Turn(kind="begins", moment=moment, offset=_or_zero(moment.offset))
        case _:
            return Turn(kind="begins", moment=moment)


def _or_zero(offset: int | None) -> int:
    return 0 if offset is None else offset


class OwnLead(Struct, frozen=True, kw_only=True):
    """Epochs that a broker led one after the other without a break."""

    broker: int
    first: int
    """The place of its first turn among the broker's turns."""
    last: int
    """The place behind its last one."""
    epochs: tuple[int, ...]
    starts: tuple[int | None, ...]
    """Where the log ended when each epoch was opened."""
    end_offset: int | None
    """Where the log ended when the lead was over; null where that is not told, or it lasts."""
    over: bool
    opened: Moment | None
    closed: Moment | None

    def next_start(self, epoch: int) -> int | None:
        """Where the log ended when an epoch of it was over; null where that is not told."""
        place = self.epochs.index(epoch) + 1
        return self.starts[place] if place < len(self.starts) else self.end_offset


def leads_of(broker: int, turns: Sequence[Turn]) -> tuple[OwnLead, ...]:
    """Every lead of a broker, by its own turns."""
    found: list[OwnLead] = []
    first: int | None = None
    for place, turn in enumerate(turns):
        if turn.kind == "leads" and first is None:
            first = place
        if first is not None and turn.kind not in ("leads", "starts-at"):
            found.append(_lead(broker, turns, first, place))
            first = None
    return (*found, *(() if first is None else (_lead(broker, turns, first, len(turns)),)))


def _lead(broker: int, turns: Sequence[Turn], first: int, behind: int) -> OwnLead:
    starts: dict[int, int | None] = {}
    for turn in turns[first:behind]:
        if turn.kind == "leads" and turn.epoch is not None:
            known = starts.get(turn.epoch)
            starts[turn.epoch] = turn.log_end_offset if known is None else known
    after = turns[behind] if behind < len(turns) else None
    # A log that was loaded after a crash may lack what had been written.
    exact = after is not None and after.kind in ("keeps", "follows", "rests")
    return OwnLead(
        broker=broker,
        first=first,
        last=behind,
        epochs=tuple(starts),
        starts=tuple(starts.values()),
        end_offset=after.log_end_offset if exact and after is not None else None,
        over=after is not None and after.kind != "ends",
        opened=turns[first].moment,
        closed=after.moment if after is not None else None,
    )
