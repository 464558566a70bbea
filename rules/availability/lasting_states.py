"""The states that a partition went through, each with how long one witness's own clock shows it in force.

The controllers' record dates a state when it comes about. Without it a leader's own log does: it shows how long that
leader acted under a state, which may be longer than the state was in force, so the row names whose clock it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from rules.availability.account import Condition, StateRow
from rules.evidence import PartitionEvidence
from rules.history.moments import ONE_CONTROLLER, STARTING, ZOOKEEPER_CLOCK, Moment, assigned, is_metadata
from rules.history.statements import PartitionState, Role
from rules.protocol.numbers import whole_number
from rules.settings import MIN_IN_SYNC

CONTROLLER: Final = "controller"
"""The clock of the metadata log."""
_STALE: Final = (None, 0, 11)
"""Answers to an order that names a state: taken, or known already."""
Key = tuple[int, int]
"""Leader epoch and partition epoch: the order of a partition's states."""


class _State(Struct, frozen=True, kw_only=True):
    """One state with every word of it, the controllers' first."""

    key: Key
    leader: int | None
    isr: tuple[int, ...]
    roles: tuple[Role, ...]

    def dated_by(self, clock: str) -> Role | None:
        """The first word of it on a clock."""
        return next((m for m in self.roles if m.clock == clock and _dates(m)), None)

    @property
    def assigned(self) -> tuple[int, ...] | None:
        return next(filter(None, map(assigned, self.roles)), None)


def state_rows(evidence: PartitionEvidence) -> tuple[StateRow, ...]:
    """Every state that is told, in order; none where their order contradicts itself."""
    states = _states(evidence.moments)
    if any(after.key[1] <= before.key[1] for before, after in pairwise(states)):
        return ()
    starts = _starts(evidence.moments)
    rows: list[StateRow] = []
    assigned: tuple[int, ...] | None = None
    for place, state in enumerate(states):
        following = states[place + 1] if place + 1 < len(states) else None
        assigned = state.assigned or (assigned if place and _joined(states[place - 1], state) else None)
        rows.append(_row(evidence, state, following, assigned, starts))
    return tuple(rows)


def _states(moments: Iterable[Moment]) -> list[_State]:
    """What is told of each state; one of which two witnesses tell different things is told by neither."""
    roles: dict[Key, list[Role]] = {}
    for moment in moments:
        if isinstance(moment, Role) and (key := _key(moment)) is not None:
            roles.setdefault(key, []).append(moment)
    states = (_state(key, tuple(sorted(roles[key], key=_rank))) for key in sorted(roles))
    return [state for state in states if len({(_leader(m), m.isr) for m in state.roles}) == 1]


def _state(key: Key, roles: tuple[Role, ...]) -> _State:
    return _State(key=key, leader=_leader(roles[0]), isr=roles[0].isr or (), roles=roles)


def _key(moment: Role) -> Key | None:
    """The state that a statement tells, if it tells one whole."""
    if moment.doubtful or moment.isr is None or moment.partition_epoch is None:
        return None
    if moment.kind == "isr":
        known = moment.error in (None, 0) and moment.previous_isr is None
        epoch = moment.epoch if moment.epoch is not None or moment.latest_term is not None else moment.term
    else:
        known = moment.kind == "leader-starts" or (moment.kind == "leadership" and moment.error in _STALE)
        epoch = moment.epoch
    if not known or epoch is None or epoch < 0 or _led_by(moment) is None:
        return None
    return epoch, moment.partition_epoch


def _led_by(moment: Role) -> int | None:
    return moment.broker if moment.leader is None and moment.kind != "leadership" else moment.leader


def _leader(moment: Role) -> int | None:
    """Who leads by a statement; null where nobody does."""
    leader = _led_by(moment)
    return None if leader is None or leader < 0 else leader


def _rank(moment: Role) -> tuple[int, str, int]:
    """The controllers' record first, then one controller's log, then brokers, then what was saved of ZooKeeper."""
    one = moment.clock.startswith(ONE_CONTROLLER)
    word = 0 if is_metadata(moment) else 3 if moment.clock == ZOOKEEPER_CLOCK else 1 if one else 2
    return word, moment.clock, moment.time or 0


def _dates(moment: Role) -> bool:
    """Whether its time is one at which the state came about or was heard of: a snapshot's state was there before."""
    recorded = isinstance(moment, PartitionState) and moment.clock == CONTROLLER and moment.previous_isr is None
    found = recorded and (moment.partition_epoch or 0) > 0
    return moment.time is not None and moment.set_back is not None and not found


def _starts(moments: Iterable[Moment]) -> Mapping[str, Sequence[int]]:
    """When each broker's own log tells that it was started."""
    found: dict[str, list[int]] = {}
    for moment in moments:
        if moment.kind in STARTING and moment.time is not None:
            found.setdefault(moment.clock, []).append(moment.time)
    return found


def _joined(before: _State, after: _State) -> bool:
    """Whether no state can lie between two."""
    return after.key[1] == before.key[1] + 1


def _row(
    evidence: PartitionEvidence,
    state: _State,
    following: _State | None,
    assigned: tuple[int, ...] | None,
    starts: Mapping[str, Sequence[int]],
) -> StateRow:
    after = following if following is not None and _joined(state, following) else None
    begun, ended = _dated(state, after, starts)
    broker = state.leader if state.leader is not None else next(iter(assigned or state.isr), None)
    setting = evidence.setting(broker, MIN_IN_SYNC, begun)
    least = None if setting is None else whole_number(setting.value)
    return StateRow(
        epoch=state.key[0],
        partition_epoch=state.key[1],
        leader=state.leader,
        isr=state.isr,
        assigned=assigned,
        eligible=_eligible(state.roles),
        clock=begun.clock,
        time=begun.clock_time if _dates(begun) else None,
        until=None if ended is None else ended.clock_time,
        milliseconds=None if ended is None else (ended.time or 0) - (begun.time or 0),
        next_told=after is not None,
        min_in_sync=least,
        min_in_sync_sure=setting is not None and evidence.settings.is_certain(setting),
        conditions=tuple(_conditions(state, least)),
        span=begun.span,
    )


def _eligible(roles: Iterable[Role]) -> tuple[int, ...] | None:
    return next((m.elr for m in roles if isinstance(m, PartitionState) and m.elr is not None), None)


def _dated(state: _State, after: _State | None, starts: Mapping[str, Sequence[int]]) -> tuple[Role, Role | None]:
    """The best word of a state, and of the very next one by the same clock where that tells how long it lasted."""
    for clock in _witnesses(state) if after is not None else ():
        begun, ended = state.dated_by(clock), None if after is None else after.dated_by(clock)
        if begun is None or ended is None or (ended.time or 0) < (begun.time or 0):
            continue
        # A process that is started meanwhile hears of a state late, or of the same one again.
        if not any((begun.time or 0) <= start <= (ended.time or 0) for start in starts.get(clock, ())):
            return begun, ended
    own = (state.dated_by(clock) for clock in _witnesses(state))
    dated = next((m for m in own if m is not None), None)
    return dated or next(filter(_dates, state.roles), state.roles[0]), None


def _witnesses(state: _State) -> Iterator[str]:
    """Clocks by which a state may be timed: the controllers', and that of the leader which acts under it."""
    deciding = (m.clock for m in state.roles if is_metadata(m) or m.clock.startswith(ONE_CONTROLLER))
    yield from dict.fromkeys(deciding)
    if state.leader is not None:
        yield f"broker {state.leader}"


def _conditions(state: _State, least: int | None) -> Iterator[Condition]:
    """What a state lacks; where nobody leads nothing is written, so nothing else is said of it."""
    if state.leader is None:
        yield "no-leader"
        return
    if len(state.isr) == 1:
        yield "one-copy"
    if least is not None and len(state.isr) < least:
        yield "below-min-isr"
