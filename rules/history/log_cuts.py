"""Cuts of logs that brokers told of, with what each of them knew of its log just before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from rules.history.last_life import NO_EARLIER_LIFE, EarlierLife
from rules.history.moments import ROLE_KINDS, Moment, gives_role, leads, log_end
from rules.history.statements import LogCut, LogEvent, Role, RoleTaken

Watermarked = RoleTaken | LogEvent | LogCut
"""What may tell a broker's own high watermark."""


class Cut(Struct, frozen=True, kw_only=True):
    """A truncation that a broker logged, with what it knew of its log just before."""

    broker: int
    offset: int
    log_end_offset: int | None
    high_watermark: int | None
    leader: int | None
    epoch: int | None
    former_epoch: int | None
    """The epoch in which the broker's log grew last before it took the role in which it cut: the cut records are of it
    or older.

    Null where no line tells it.
    """
    moment: LogCut
    known: Watermarked | None
    """The statement that told the high watermark."""
    begun: int = 0
    """Where its own log began then, as it had told: what lies below was not there to be removed."""
    earlier_end: int = 0
    """Records below it may have been of an earlier life of the topic: its broker came back with that log."""
    put_back: bool = False
    """Whether they surely were: the broker had deleted that log, and told of no other that it made."""

    @property
    def committed_end(self) -> int | None:
        """Up to where it removed what the broker knew to be committed; null where nothing tells that it did."""
        # A log that was no longer than the cut had lost those records before.
        ends = [end for end in (self.high_watermark, self.log_end_offset) if end is not None]
        kept = self.of_this_life if self.put_back else self.offset
        return min(ends) if self.high_watermark is not None and min(ends) > kept else None

    @property
    def older(self) -> str:
        """What is open of committed records that may be of an earlier life."""
        cut = f"broker {self.broker} truncated its log to {self.offset}, below its high watermark {self.high_watermark}"
        open_topic = "It is not known whether the removed records were of the old topic or of the new one"
        return f"{cut}. The topic was created again before that. {open_topic}"

    @property
    def of_this_life(self) -> int:
        """From where on what it removed is sure to have been of the topic's last life."""
        return max(self.offset, self.earlier_end)


def cuts(moments: Sequence[Moment], earlier: EarlierLife = NO_EARLIER_LIFE) -> Iterator[Cut]:
    """Every truncation that removed something or may have, broker by broker in the order of its log.

    Of brokers whose logs were not made in the topic's last life, all that they held at first may be of an earlier one.
    """
    if not any(moment.kind == "truncated" for moment in moments):
        return
    logs: dict[str, _OneLog] = {}
    for moment in moments:
        # Releases up to 2.4 write no line when a broker follows; the controller's order tells it.
        order = gives_role(moment) and moment.kind == "leadership" and moment.clock == f"broker {moment.witness}"
        if order or (moment.broker is not None and moment.clock == f"broker {moment.broker}"):
            log = logs.setdefault(moment.clock, _OneLog(earlier))
            yield from log.after(moment, takes_role=gives_role(moment) and (order or moment.kind != "leadership"))


class _OneLog:
    """What a broker has told of its log up to a line of it."""

    __slots__ = ("_begun", "_earlier", "_end", "_grew", "_known", "_life", "_role", "_started")

    def __init__(self, life: EarlierLife) -> None:
        self._life = life
        self._begun = 0
        self._end: int | None = None
        self._earlier: int | None = None
        self._known: Watermarked | None = None
        self._role: Role | None = None
        self._grew: int | None = None
        """The epoch of a role that is told once more, where the log is longer than when it was told first."""
        self._started = False
        """Whether the broker was started again, and tells no role since: in which one it cut is not known."""

    def after(self, moment: Moment, *, takes_role: bool) -> Iterator[Cut]:
        """Take in one more line; the cut that it tells."""
        if takes_role and gives_role(moment):
            self._role, self._started = self._taken(moment), False
        ended_at = log_end(moment)
        self._end = self._end if ended_at is None else ended_at
        if moment.broker in self._life.not_made and self._earlier is None:
            self._earlier = ended_at
        if moment.kind == "log-loaded":
            self._known, self._started = None, True
        if moment.kind in BEGINNINGS and isinstance(moment, LogEvent):
            self._begun = moment.log_start_offset or 0
        if _tells_watermark(moment) and not _lower(self._known, moment):
            self._known = moment
        if moment.kind == "truncated" and moment.offset is not None:
            # Where no line tells its end, all that it knew of may be of an earlier life.
            knew = self._known.high_watermark if self._known and moment.broker in self._life.not_made else None
            earlier = (knew if self._earlier is None else self._earlier) or 0
            # Who leads cuts nothing: a role that it took next is not told.
            unknown = self._started or (self._role is not None and leads(self._role))
            made = _cut(moment, (self._end, earlier), self._known, None if unknown else self._role)
            yield replace(made, begun=self._begun, put_back=moment.broker in self._life.put_back)
            self._end, self._earlier, self._known = moment.offset, min(earlier, moment.offset), None
            self._begun = min(self._begun, moment.offset)

    def _taken(self, moment: Role) -> Role:
        """The role with the epoch in which the log grew last before it; null where that is not told."""
        before = self._role
        # The same role told again, after a restart or with another ISR, leaves the former epoch what it was.
        repeated = moment.term == moment.epoch and before is not None
        former = before.term if repeated and before is not None else moment.term
        # Before the first role that is told it was in some epoch below: which one is sure where there is but one.
        former = None if before is None and (former or 0) > 0 else former
        if repeated and before is not None:
            longer = (log_end(moment) or 0) > (log_end(before) or 0)
            self._grew = moment.epoch if longer else self._grew
        elif before is not None and self._end == log_end(moment) and _as_long(before, moment):
            former = before.term if self._grew is None else self._grew
        else:
            self._grew = None
        return moment if former == moment.term else replace(moment, term=former)


WHEN_MADE: Final = "a record of when the topic was deleted and created again"
"""What would tell whether a log was made since."""
BEGINNINGS: Final = ("log-loaded", "log-start-moved", "log-created", "log-reset")
"""What tells where a log begins, or that it is new."""
BY_HIGH_WATERMARK: Final = ("cut-by-high-watermark", "epoch-answer-unknown")
"""What a fetcher writes when its high watermark decides where the log is cut."""
DECISIONS: Final = (*BY_HIGH_WATERMARK, "cut-by-epoch-answer", "epoch-answer-kept")


def decided_by(own: Sequence[Moment], place: int) -> LogCut | None:
    """The last line of one log before the cut at that place that says what decided it."""
    for before in range(place - 1, -1, -1):
        said = own[before]
        if isinstance(said, LogCut) and said.kind in DECISIONS:
            return said
        if said.kind in (*ROLE_KINDS, "log-loaded", "truncated"):
            return None
    return None


def _as_long(before: Role, after: Role) -> bool:
    """Whether a follower's log ended where it had ended when it began to follow: it wrote nothing in between."""
    return not leads(before) and log_end(before) is not None and log_end(before) == log_end(after)


def _tells_watermark(moment: Moment) -> TypeGuard[Watermarked]:
    if isinstance(moment, RoleTaken) or moment.kind in ("high-watermark-loaded", "cut-below-high-watermark"):
        return moment.high_watermark is not None
    return False


def _lower(before: Watermarked | None, moment: Watermarked) -> bool:
    """Releases up to 2.3 print one line an assigned replica, remote ones with 0: only the highest is the log's own."""
    if before is None or moment.kind != "high-watermark-loaded":
        return False
    return (before.high_watermark or 0) > (moment.high_watermark or 0)


def _cut(moment: LogCut, ends: tuple[int | None, int], known: Watermarked | None, role: Role | None) -> Cut:
    end, earlier = ends
    return Cut(
        broker=-1 if moment.broker is None else moment.broker,
        offset=-1 if moment.offset is None else moment.offset,
        log_end_offset=end,
        high_watermark=known.high_watermark if known else None,
        leader=role.leader if role else None,
        epoch=role.epoch if role else None,
        former_epoch=role.term if role else None,
        moment=moment,
        known=known,
        earlier_end=earlier,
    )
