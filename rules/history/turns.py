"""Turns of a partition's history: elections, assignments and in-sync replicas, read from what was said around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeGuard

from msgspec import Struct

from rules.history.moments import (
    ROLE_KINDS,
    ZOOKEEPER_CLOCK,
    Moment,
    assigned,
    falls,
    gives_role,
    in_sync,
    is_metadata,
)
from rules.history.statements import PartitionState, RoleTaken

_STATES: Final = ("leadership", "isr")
"""Kinds of statements that a partition's state is told by."""
Numbers = tuple[int | None, int | None]
"""The leader epoch and the partition epoch of a state."""


class LeaderChange(Struct, frozen=True, kw_only=True):
    """An election: who leads from which epoch on, and who was in sync, eligible and leader before."""

    leader: int
    epoch: int
    previous_isr: tuple[int, ...]
    eligible: tuple[int, ...]
    """The eligible leaders in the state right before it, where that is told; with one missing they may be others."""
    last_leader: int | None
    """Who led last before it; null where nobody is told to have led, or another may have led since."""
    unclean: bool
    moment: PartitionState
    before: PartitionState | None


def leader_changes(moments: Sequence[Moment], states: Sequence[PartitionState]) -> Iterator[LeaderChange]:
    """Every election of which the ISR before it is known, once an epoch; the controllers' own word goes first.

    Of that their record goes before a line in a log: more clocks are known to stand to its clock.
    """
    changes: dict[int, tuple[PartitionState, tuple[int, ...], PartitionState | None, bool]] = {}
    for moment in sorted(filter(_is_unclean, moments), key=lambda said: not is_metadata(said)):
        changes.setdefault(moment.epoch or 0, (moment, moment.previous_isr or (), None, True))
    several = _told_in_several_ways(moments)
    twice = bool(several) or _led_twice(moments)
    for told_first, after in pairwise(states):
        # ZooKeeper was put back, and states were numbered as before: whoever tells the next one knows which it was.
        ways = several.get(_numbers(told_first), (told_first,))
        before = next((way for way in ways if not twice or way.clock == after.clock), None)
        # With a state missing between the two, the ISR may have grown unseen.
        if before is None or (after.partition_epoch or 0) != (before.partition_epoch or 0) + 1:
            continue
        if _elects(after) and after.epoch != before.epoch and after.clock != "controller" and before.isr is not None:
            # Who led before and goes on was not elected, whatever somebody wrote into the state.
            outside = after.leader not in (*before.isr, before.leader)
            changes.setdefault(after.epoch or 0, (after, before.isr, before, outside))
    eligible = _eligible(moments, states)
    led = {state.epoch or 0: state.leader for state in states if state.leader is not None}
    for epoch, (moment, isr, state, unclean) in sorted(changes.items()):
        yield LeaderChange(
            leader=moment.leader or 0,
            epoch=epoch,
            previous_isr=isr,
            eligible=eligible.get(epoch, ()),
            last_leader=_last_before(epoch, led),
            unclean=unclean,
            moment=moment,
            before=state,
        )


def _told_in_several_ways(moments: Iterable[Moment]) -> dict[Numbers, list[PartitionState]]:
    """By their numbers the states of which controllers tell more than one leader, or more than one ISR."""
    states: dict[Numbers, list[PartitionState]] = {}
    for m in moments:
        if m.kind == "leadership" and m.partition_epoch is not None and m.isr is not None and m.error in (None, 0):
            ways = states.setdefault(_numbers(m), [])
            if all((way.clock, *_held(way)) != (m.clock, *_held(m)) for way in ways):
                ways.append(m)
    return {numbers: ways for numbers, ways in states.items() if len({_held(way) for way in ways}) > 1}


def _led_twice(moments: Iterable[Moment]) -> bool:
    """Whether two brokers tell that they led one epoch, so that the word of one controller may be missing."""
    roles = {(m.epoch, m.broker) for m in moments if m.kind == "leader-starts" and not m.doubtful}
    return len(roles) > len({epoch for epoch, _ in roles})


def _numbers(state: PartitionState) -> Numbers:
    return state.epoch, state.partition_epoch


def _held(state: PartitionState) -> tuple[int | None, frozenset[int]]:
    return state.leader, frozenset(state.isr or ())


def _last_before(epoch: int, led: Mapping[int, int]) -> int | None:
    """Who led last before an epoch, if of every epoch since it is told that nobody led it."""
    before = next((e for e in range(epoch - 1, -1, -1) if led.get(e, 0) >= 0), -1)
    return led.get(before)


def _is_unclean(moment: Moment) -> TypeGuard[PartitionState]:
    """Whether a controller says that it elects uncleanly."""
    own = moment.kind == "unclean-election" or (moment.kind == "leadership" and moment.unclean)
    return own and _elects(moment)


def _elects(moment: Moment) -> bool:
    """Whether it names a leader of an epoch."""
    return moment.epoch is not None and moment.leader is not None and moment.leader >= 0


def _eligible(moments: Iterable[Moment], states: Sequence[PartitionState]) -> dict[int, tuple[int, ...]]:
    """By epoch the eligible leaders in the state right before its first one."""
    eligible: dict[int | None, tuple[int, ...]] = {}
    for moment in moments:
        if isinstance(moment, PartitionState) and moment.kind in _STATES and moment.elr is not None:
            eligible.setdefault(moment.partition_epoch, moment.elr)
    first = {state.epoch: state.partition_epoch for state in reversed(states)}
    return {epoch or 0: eligible[own - 1] for epoch, own in first.items() if own is not None and own - 1 in eligible}


def partition_states(moments: Iterable[Moment]) -> list[PartitionState]:
    """Partition states in the order of the logical clock, each once: leader epoch, then partition epoch."""
    known: dict[tuple[int, int], PartitionState] = {}
    for moment in moments:
        if not isinstance(moment, PartitionState) or moment.kind not in _STATES:
            continue
        if moment.epoch is not None and moment.partition_epoch is not None:
            known.setdefault((moment.epoch, moment.partition_epoch), moment)
    return [known[key] for key in sorted(known)]


def last_isr(moments: Sequence[Moment]) -> PartitionState | None:
    """The newest partition state by the logical clock, where no leader may have changed its ISR by itself since.

    None where somebody led in a newer epoch, of which no such state is told, or a znode tells another ISR of it.
    """
    states = [m for m in moments if m.kind == "leadership" and m.epoch is not None and m.isr is not None]
    dated = (m for m in states if m.partition_epoch is not None)
    newest = max(dated, key=lambda m: (m.epoch or 0, m.partition_epoch or 0), default=None)
    if newest is None or newest.clock == ZOOKEEPER_CLOCK or last_leader(moments)[0] > (newest.epoch or 0):
        return None  # whoever saved the state of a znode did so at some time: the ISR may have shrunk since
    saved = (m for m in states if m.clock == ZOOKEEPER_CLOCK and (m.epoch or 0) >= (newest.epoch or 0))
    if any(set(m.isr or ()) != set(newest.isr or ()) for m in saved):
        return None
    later = (m for m in moments if m.kind in ("isr", "isr-shrinking") and m.term == newest.epoch)
    # Up to 2.6 the leader changes the ISR by itself: what came after the last order is not an order.
    return None if any(m.partition_epoch is None for m in later) else newest


def last_leader(moments: Iterable[Moment]) -> tuple[int, int]:
    """The newest epoch in which somebody is told to lead, and who: -1 and -1 where nobody is."""
    named = ((m, m.broker if m.kind == "leader-starts" else m.leader) for m in moments)
    leads = [(m.epoch, who) for m, who in named if m.kind in ("leader-starts", "leadership") and who is not None]
    known = ((epoch, who) for epoch, who in leads if epoch is not None and who >= 0)
    return max(known, key=lambda known: known[0], default=(-1, -1))


def last_assignment(moments: Iterable[Moment], topic_ids: frozenset[str] = frozenset()) -> tuple[int, ...]:
    """The brokers of the newest assignment that anything tells, of these topic ids where some are given."""
    states = (m for m in moments if isinstance(m, PartitionState) and m.replicas)
    of_topic = [m for m in states if not topic_ids or m.topic_id is None or m.topic_id in topic_ids]
    newest = max(of_topic, key=lambda m: (_or_none(m.epoch), _or_none(m.partition_epoch)), default=None)
    return (newest.replicas or ()) if newest is not None else ()


def taking_part(moments: Iterable[Moment]) -> frozenset[int]:
    """Every broker that is told to have a replica: by an assignment, an ISR, or its own word that it took a role."""
    statements = list(moments)
    named = frozenset(broker for m in statements for broker in (*assigned(m), *in_sync(m)))
    return named | {m.witness for m in statements if gives_role(m) and m.witness is not None}


def _or_none(number: int | None) -> int:
    return -1 if number is None else number


def epochs_begin_anew(moments: Sequence[Moment]) -> bool:
    """Whether leader epochs fall on some clock and no topic id tells why: the topic may have been created again."""
    roles = (m for m in moments if m.kind in ("leader-starts", "leadership") and m.epoch is not None)
    # A late order names an older epoch, and is refused.
    accepted = ((m.clock, m.epoch or 0) for m in roles if m.error in (None, 0))
    return all(m.topic_id is None for m in moments) and falls(accepted)


def roles_fall_back(moments: Iterable[Moment]) -> bool:
    """Whether a broker took a role in an older epoch than before, in one life of the topic, or may have done so.

    It may where its clock was set back, and nothing tells what it wrote after that; and where orders, or a controller,
    begin again at epoch 0.
    """
    statements = [*moments]
    return any(m.set_back is None for m in statements) or fall_of_roles(statements) is not None


def fall_of_roles(moments: Iterable[Moment]) -> tuple[Moment, Moment] | None:
    """The first role in an older epoch than one before, or order or word of epoch 0, behind what tells of the newer."""
    newest: dict[tuple[str, str | None, bool], tuple[int, Moment]] = {}
    for key, epoch, moment in _roles(moments):
        before = newest.get(key)
        if before is not None and epoch < before[0]:
            return before[1], moment
        newest[key] = epoch, moment
    return None


def _roles(moments: Iterable[Moment]) -> Iterator[tuple[tuple[str, str | None, bool], int, Moment]]:
    """The epochs in which brokers took roles; of a controller's word and of orders whether they are of the first."""
    for m in moments:
        if m.epoch is None or m.doubtful:
            continue
        if m.kind in ROLE_KINDS:
            yield (m.clock, m.topic_id, True), m.epoch, m
        elif m.kind == "leadership" and m.time is not None and m.error in (None, 0):
            yield (m.clock, m.topic_id, False), min(m.epoch, 1), m


def reopenings(moments: Iterable[Moment], first: Mapping[int, RoleTaken]) -> dict[int, list[RoleTaken]]:
    """By epoch, where its leader opened it once more with a shorter log than at first: its disk lost the rest."""
    found: dict[int, list[RoleTaken]] = {}
    for moment in moments:
        if moment.kind != "leader-starts":
            continue
        opened = first.get(-1 if moment.epoch is None else moment.epoch)
        if opened is None or opened.clock != moment.clock or moment.offset is None or opened.offset is None:
            continue
        if moment.offset < opened.offset:
            found.setdefault(moment.epoch or 0, []).append(moment)
    return found
