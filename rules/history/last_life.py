"""Which statements tell of a topic's last life, where it was deleted and created again and nobody wrote its topic id.

Up to 2.7 topics have no id: a topic of the same name begins again at leader epoch 0 and offset 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from rules.history.moments import ROLE_KINDS, Moment, held_up_to, in_sync, ordered

NOBODY: Final[frozenset[int]] = frozenset()
TELLING: Final = (*ROLE_KINDS, "leadership", "log-deleted")


class EarlierLife(Struct, frozen=True, kw_only=True):
    """The brokers whose logs were or may be of an earlier life of the topic."""

    left_behind: frozenset[int] = NOBODY
    """They had a replica then, and the last life knows nothing of them: neither they nor others say they took part."""
    deleted_before: frozenset[int] = NOBODY
    """They tell of a log's deletion before the last life, and of none in it."""
    not_made: frozenset[int] = NOBODY
    """Nothing tells that their logs were made in the last life.

    Every life begins with empty logs. A broker that was away when the topic was deleted loads its old log again. By
    topic ids brokers keep lives apart themselves.
    """
    put_back: frozenset[int] = NOBODY
    """Those of them that deleted their log and have it again: one file of their own words tells that they made none."""


NO_EARLIER_LIFE: Final = EarlierLife()


def earlier_life(moments: Sequence[Moment], last_life: Sequence[Moment]) -> EarlierLife:
    """Whose logs are of an earlier life, by all that was told of the partition and by what is of its last one.

    Nobody's, unless something is told of a life before the last one, or of how it ended.
    """
    if len(last_life) == len(moments) and not _begun(last_life):
        return NO_EARLIER_LIFE
    dated = ordered(_dated(last_life))
    brought = {} if any(m.topic_id is not None for m in last_life if m.kind != "described") else dict(_brought(dated))
    return EarlierLife(
        left_behind=_left_behind(moments, dated),
        deleted_before=gave_up(_dated(moments)) - _gave_up_again(dated),
        not_made=frozenset(brought),
        put_back=frozenset(broker for broker, put_back in brought.items() if put_back),
    )


def _left_behind(moments: Iterable[Moment], dated: Sequence[Moment]) -> frozenset[int]:
    last = _since_made(dated)
    return _taking_part(_dated(moments)) - _taking_part(last) if last else NOBODY


def gave_up(moments: Iterable[Moment]) -> frozenset[int]:
    """The brokers that tell of a log's deletion."""
    return frozenset(m.broker for m in moments if m.kind == "log-deleted" and m.broker is not None)


def _gave_up_again(dated: Iterable[Moment]) -> frozenset[int]:
    """The brokers that tell of the deletion of a log that was made in these statements."""
    made: set[str] = set()
    again: list[Moment] = []
    for moment in dated:
        if moment.kind in ("log-created", *ROLE_KINDS):
            made.add(moment.clock)
        elif moment.clock in made:
            again.append(moment)
    return gave_up(again)


def _brought(dated: Iterable[Moment]) -> Iterator[tuple[int, bool]]:
    """The brokers whose first word of what they hold is that they hold something; and whether that was put back.

    A deletion ends the life before, and makes no log: its folder may be put back. The folder that waits for its
    deletion is loaded too, and serves nothing.
    """
    by_broker: dict[int, list[Moment]] = {}
    for moment in dated:
        if moment.broker is not None and moment.clock == f"broker {moment.broker}":
            by_broker.setdefault(moment.broker, []).append(moment)
    for broker, own in by_broker.items():
        gone = next((m for m in own if m.kind == "log-deleted"), None)
        place = next((n for n, m in enumerate(own) if m.kind != "log-deleted" and held_up_to(m) is not None), None)
        if place is not None and held_up_to(own[place]):
            served = next((m for m in own[place:] if m.kind == "log-created" or _saved_mark(m)), None)
            if gone is None or served is None or served.kind == "log-created" or gone not in own[:place]:
                yield broker, False
            else:
                yield broker, gone.span.source == served.span.source


def _saved_mark(moment: Moment) -> bool:
    """Whether its broker tells of a high watermark that it had saved: of a log that is in use, and was before."""
    return moment.kind == "high-watermark-loaded" and bool(moment.high_watermark)


def _dated(moments: Iterable[Moment]) -> list[Moment]:
    return [moment for moment in moments if moment.kind != "described" and moment.time is not None]


def _since_made(moments: Iterable[Moment]) -> list[Moment]:
    """What each clock tells since the log was made or a role taken, behind the log's deletion where it tells of one."""
    by_clock: dict[str, list[Moment]] = {}
    gone: set[str] = set()
    for moment in moments:
        if moment.kind == "log-deleted":
            by_clock.pop(moment.clock, None)
            gone.add(moment.clock)
        elif moment.clock not in gone or moment.kind in ("log-created", *ROLE_KINDS):
            gone.discard(moment.clock)
            by_clock.setdefault(moment.clock, []).append(moment)
    return [moment for clock in by_clock.values() for moment in clock]


def _taking_part(moments: Iterable[Moment]) -> frozenset[int]:
    named = (broker for moment in moments for broker in (moment.broker, moment.witness, *in_sync(moment)))
    return frozenset(broker for broker in named if broker is not None)


def of_the_last_life(moments: Sequence[Moment]) -> list[Moment]:
    """The statements since the topic was created last; all of them where no clock shows that it was created again.

    A clock that has seen fewer lives than another began late, or its broker held the partition in some of them only:
    its times are taken as those of the one that has seen the last life begin. What a broker told before it made its log
    again, behind a deletion, may be of an earlier life. Where a clock was set back, and it is open what was written
    since, an epoch that falls shows no new life.
    """
    if any(moment.set_back is None for moment in moments):
        return list(moments)
    begun: dict[str, list[int]] = {}
    for fall in _begun(moments):
        begun.setdefault(fall.first.clock, []).append(fall.first.time or 0)
    most = max(map(len, begun.values()), default=0)
    since = {clock: times[-1] for clock, times in begun.items() if len(times) == most}
    everywhere = max(since.values(), default=0)
    made = _made_again(ordered(_dated(moments)), everywhere) if since else {}
    return [
        moment
        for moment in moments
        if moment.kind == "described" or moment.time is None
        or moment.time >= max(since.get(moment.clock, everywhere), made.get(moment.clock, 0))
    ]


def _made_again(moments: Iterable[Moment], begun: int) -> dict[str, int]:
    """When each clock told last of a log's deletion behind which its broker made the log again.

    Releases up to 2.4 tell no role of a broker that follows: then no epoch shows what began there. A log that goes
    after the last life has begun elsewhere is of the life before, if its broker tells of that and has made none since.
    """
    gone: dict[str, int] = {}
    made: dict[str, int] = {}
    older: set[str] = set()
    for moment in moments:
        clock, time = moment.clock, moment.time or 0
        if moment.kind == "log-deleted":
            gone[clock] = time
            if clock in older:
                made[clock] = time
        elif moment.kind == "log-created" and clock in gone:
            made[clock] = gone[clock]
        elif time < begun:
            older.add(clock)
        elif moment.kind in ("log-created", *ROLE_KINDS):
            older.discard(clock)
    return made


class _Fall(Struct, frozen=True, kw_only=True):
    """A leader epoch that a clock tells below one that it told before, or anew after the log was deleted."""

    first: Moment
    """The first statement of the life that would begin here."""
    epoch: int
    deleted: bool
    log_end: int | None
    """Where the log ended that the role was taken with; null where no line tells."""


def _begun(moments: Iterable[Moment]) -> Sequence[_Fall]:
    """Where lives begin that are not the first."""
    telling = ordered(m for m in moments if m.kind in TELLING)
    return _beginnings([*_falls(telling)])


def _beginnings(falls: Sequence[_Fall]) -> list[_Fall]:
    """The falls that begin a new life: behind a deletion, or to epoch 0 with an empty log.

    An epoch falls to 0 too where ZooKeeper was put back to an older state, and there the logs go on. An order or a
    controller's word tells of no log: it begins a life where somebody else shows one.
    """
    begun = [fall for fall in falls if fall.deleted]
    if any(fall.log_end and not fall.deleted for fall in falls):
        return begun
    shown = begun or any(fall.epoch == 0 and fall.log_end == 0 for fall in falls)
    return [fall for fall in falls if fall.deleted or fall.epoch == 0] if shown else []


class _Clock:
    """What one clock has told of its broker by a place; lives only inside `_falls`."""

    def __init__(self, first: Moment) -> None:
        self.began = first
        """Where the life begins that it tells of now, as far as it knows."""
        self.newest: int | None = None
        self.ordered_to: int | None = None
        self.deleted: Moment | None = None
        self.told: Moment | None = None

    def deletes(self, moment: Moment) -> None:
        """What comes behind a deletion may be of the next life."""
        self.began = self.deleted = moment
        self.ordered_to = None

    def takes(self, moment: Moment, epoch: int) -> bool:
        """Whether its epoch falls, or is taken again behind a deletion: the life before has ended then."""
        gone, self.deleted = self.deleted is not None, None
        before = 0 if self.newest is None and gone else self.newest
        # A controller gives an epoch to one leader.
        other = moment.kind == "leadership" and self.ordered_to not in (None, moment.leader)
        again = epoch == before and (gone or (other and epoch == 0))
        falls = before is not None and (epoch < before or again)
        if falls and not gone:
            self.began = moment
        anew = self.newest is None or (falls and (gone or epoch == 0))
        self.newest = epoch if anew else max(self.newest or 0, epoch)
        if moment.kind == "leadership" and moment.leader is not None:
            self.ordered_to = moment.leader
        return falls

    def begins(self) -> bool:
        """Whether nobody was told yet that a life begins there."""
        before, self.told = self.told, self.began
        return before is not self.began


def _falls(moments: Sequence[Moment]) -> Iterator[_Fall]:
    """Where each clock tells an older leader epoch, or takes one anew after the log was deleted.

    A replica that is moved away and comes back comes back in a newer epoch. A late order names an older one. Behind a
    deletion epoch 0 begins a life, even where no line of the life before tells its epoch. So does a lead in an epoch
    that another broker had led before it deleted its log: what its clock tells behind a deletion is of that life.
    """
    led_again = {id(moment) for moment in _led_again(moments)}
    clocks: dict[str, _Clock] = {}
    for place, moment in enumerate(moments):
        clock = clocks.setdefault(moment.clock, _Clock(moment))
        if moment.kind == "log-deleted":
            clock.deletes(moment)
        elif moment.epoch is not None and not moment.doubtful and moment.error in (None, 0):
            behind, elsewhere = clock.deleted is not None, id(moment) in led_again
            if (clock.takes(moment, moment.epoch) or elsewhere) and clock.begins():
                end = _log_end(moments[place:], moment.clock, moment.epoch)
                yield _Fall(first=clock.began, epoch=moment.epoch, deleted=elsewhere or behind, log_end=end)


def _led_again(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Roles by which a broker leads in an epoch that another led before that one deleted its log: one life has one.

    Epoch 0 opens with an empty log, and before any deletion of its life. So anybody's deletion counts there.
    """
    led_by: dict[int, int] = {}
    ended: dict[int, int] = {}
    for moment in sorted(moments, key=lambda moment: moment.time or 0):
        if moment.kind == "log-deleted":
            ended |= {epoch: led for epoch, led in led_by.items() if epoch == 0 or led == moment.broker}
        elif moment.epoch is not None and not moment.doubtful and (leader := _leader(moment)) is not None:
            if ended.pop(moment.epoch, leader) != leader and moment.kind == "leader-starts":
                yield moment
                led_by, ended = {}, {}
            led_by[moment.epoch] = leader


def _leader(moment: Moment) -> int | None:
    """Who leads by the word of a leader, which opens epoch 0 with an empty log, or by the controller's."""
    if moment.kind == "leader-starts":
        return None if moment.epoch == 0 and moment.offset else moment.broker
    if moment.kind != "leadership" or moment.error not in (None, 0) or (moment.leader or 0) < 0:
        return None
    return moment.leader


def _log_end(behind: Iterable[Moment], clock: str, epoch: int) -> int | None:
    """Where the log ended by the first role that the clock's broker tells from here on, if it is of this epoch."""
    role = next((m for m in behind if m.clock == clock and (m.kind in ROLE_KINDS or m.epoch != epoch)), None)
    taken = role is not None and role.kind in ROLE_KINDS and role.epoch == epoch and not role.doubtful
    return role.offset if role is not None and taken else None
