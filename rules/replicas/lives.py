"""Replicas of a topic that was deleted and created again, without an id in their directory, of an earlier life.

Before 2.8 no directory has an id, and those of ZooKeeper's clusters of 2.8 may lack it too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from rules.chronicle.chronicle import Chronicle
from rules.chronicle.extents import NOTHING_POSSIBLE, Possible
from rules.facts.stretch import HIGHEST_OFFSET
from rules.history.clocks import QUARTER_HOUR_MS
from rules.history.last_life import gave_up, of_the_last_life
from rules.history.moments import BEGUN_ANEW, Moment, held_up_to, log_end
from rules.history.statements import PartitionState, Requested
from rules.replicas.replica import Replica, same_topic
from rules.settings import START_INSTANT, Settings


def of_incarnation(moments: Sequence[Moment], replicas: Sequence[Replica], settings: Settings) -> list[Moment]:
    """Where a topic was created again, only what is told of the incarnation that most replicas hold.

    Many lines bear no topic id: they are of the one of which their clock tells by id then. Where no replica is at hand
    it is the one told last. An id that only some replica's directory knows makes no second life of the topic; nor does
    one that a tool printed, at a time that nobody knows.
    """
    held = [replica.topic_id for replica in replicas if replica.state == "current" and replica.topic_id is not None]
    newest = max(sorted(set(held)), key=held.count, default=None) or _told_last(moments)
    moments = [moment for moment in moments if moment.kind != "described" or moment.topic_id in (None, newest)]
    ids = {m.topic_id for m in moments if m.topic_id is not None and m.kind != "described"}
    if not ids:
        last = of_the_last_life(moments)
        ended = gave_up(moments) if len(last) < len(moments) else frozenset()
        before = begun_again(replicas, ended)
        zones = {clock: _zone(clock, settings) for clock in {m.clock for m in moments}} if before else {}
        since = max((_ended(r, moments, zones) or _first_record(r, replicas) for r in before), default=0)
        return [m for m in last if m.kind == "described" or m.time is None or m.time - zones.get(m.clock, 0) >= since]
    if newest is None or len({*held, *ids}) == 1 or ids == {newest}:
        return list(moments)
    return _told_of(moments, newest)


def _zone(clock: str, settings: Settings) -> int:
    """By how much a broker's log shows more than UTC, as its last start tells; 0 where none does: records bear UTC."""
    starts = (s for s in settings.statements if s.name == START_INSTANT and s.clock == clock and s.since is not None)
    shifts = [(s.since or 0) - int(s.value) for s in starts if s.value is not None and s.value.isdecimal()]
    return round(shifts[-1] / QUARTER_HOUR_MS) * QUARTER_HOUR_MS if shifts else 0


def _told_of(moments: Sequence[Moment], topic_id: str) -> list[Moment]:
    """What is told by that id, and without one on the same clock, from its first word of the id to one of another.

    A broker holds one partition of a name at a time. The folder of an earlier one may be loaded until it is deleted,
    and who has not heard of the new topic asks by the old id in vain.
    """
    apart = {moment.clock for moment in moments if moment.set_back is None}
    named = [m for m in moments if m.topic_id is not None and m.kind not in ("described", "log-loaded")]
    since: dict[str, int] = {}
    until: dict[str, int] = {}
    for moment in sorted((m for m in named if m.time is not None), key=lambda m: m.time or 0):
        if moment.topic_id == topic_id:
            since.setdefault(moment.clock, moment.time or 0)
        elif moment.clock in since and moment.error in (None, 0):
            until.setdefault(moment.clock, moment.time or 0)
    return [
        moment
        for moment in moments
        if moment.topic_id == topic_id
        or (moment.topic_id is None and moment.clock not in apart and _within(moment, since, until))
    ]


def _within(moment: Moment, since: Mapping[str, int], until: Mapping[str, int]) -> bool:
    """Whether all that a statement stands for was written in its clock's time; a request came in then too."""
    begun, ended = since.get(moment.clock), until.get(moment.clock)
    arrived = moment.arrived if isinstance(moment, Requested | PartitionState) else None
    came = moment.time if arrived is None else arrived
    if begun is None or came is None or moment.kind == "described":
        return False
    return came >= begun and (ended is None or (moment.last_time or moment.time or 0) < ended)


def _told_last(moments: Sequence[Moment]) -> str | None:
    last = max((m for m in moments if m.topic_id is not None), key=lambda m: m.time or 0, default=None)
    return None if last is None else last.topic_id


def _ended(before: Replica, moments: Sequence[Moment], zones: Mapping[str, int]) -> int:
    """When its broker told last that the log is to be deleted, in UTC; 0 where it told nothing of that."""
    gone = (m for m in moments if m.kind == "log-deleted" and m.broker == before.broker and m.time is not None)
    return max(((m.time or 0) - zones.get(m.clock, 0) for m in gone), default=0)


def _first_record(before: Replica, replicas: Sequence[Replica]) -> int:
    """When the oldest record was written that a log in use holds which begins again after a folder, by its UTC time."""
    again = [r.log.min_timestamp for r in replicas if r.state == "current" and _begins_again(before, r)]
    return min((time for time in again if time is not None), default=0)


def begun_again(replicas: Sequence[Replica], ended: Collection[int]) -> tuple[Replica, ...]:
    """Folders that wait for their deletion where a log in use begins at their first offset with newer records.

    That is an earlier life of the topic, of which nobody told that it ended, as brokers tell by a deletion. A
    broker that was away then may have its old log in use again. But in an epoch above all of the folder's it may be
    the same life, unless all logs begin so: whoever lost its disk was elected, and wrote from there on.
    """
    current = [replica for replica in replicas if replica.state == "current" and replica.log.batches]
    deleted = (r for r in replicas if r.state == "deleted" and r.topic_id is None and r.broker not in ended)
    return tuple(r for r in deleted if _shows_a_life(r, current))


def _shows_a_life(before: Replica, current: Sequence[Replica]) -> bool:
    again = [other for other in current if _begins_again(before, other)]
    falls = any(other.log.epochs[0].epoch <= before.log.epochs[-1].epoch for other in again)
    return bool(again) and (falls or len(again) == len(current))


def _begins_again(before: Replica, since: Replica) -> bool:
    """Whether a log begins at the same offset with newer records."""
    first, second = before.log.epochs, since.log.epochs
    if not first or not second or first[0].start_offset != second[0].start_offset:
        return False
    return older(before, [since])


def with_lives(replicas: Sequence[Replica], chronicle: Chronicle) -> tuple[Replica, ...]:
    """The replicas, with what of them is of an earlier life.

    All of a log is where its records are older than those of the last life, and that one left the broker behind, or the
    broker gave up its log to be deleted before it alone. A log that was not made in the last life may itself begin with
    older records.
    """
    earlier = chronicle.earlier
    current = [replica for replica in replicas if replica.state == "current"]
    others = [replica for replica in current if replica.broker not in earlier.left_behind]
    behind = (r for r in current if r.topic_id is None and r.broker in earlier.left_behind and older(r, others))
    gone = [r for r in replicas if r.state == "deleted" and r.topic_id is None]
    deleted = (r for r in gone if r.broker in earlier.deleted_before)
    begun = any(replica.log.batches for replica in current)
    made = [replica for replica in current if replica.broker not in earlier.not_made]
    brought = {r.path: _brought(r.broker, chronicle) for r in current if r.topic_id is None and r not in made}
    whole = Possible.known((0, HIGHEST_OFFSET))
    brought |= {r.path: whole for r in (*behind, *(r for r in deleted if older(r, made) or not begun))}
    return tuple(replace(r, earlier=brought[r.path]) if r.path in brought else r for r in replicas)


def _brought(broker: int, chronicle: Chronicle) -> Possible:
    """What a broker's log has still of what it was loaded with, where it was not made in the last life."""
    cut = next((cut for cut in reversed(chronicle.cuts) if cut.broker == broker), None)
    own = [m for m in chronicle.told_by(broker) if held_up_to(m) is not None and m.kind != "log-deleted"]
    if any(m.kind in BEGUN_ANEW for m in own):
        return NOTHING_POSSIBLE
    first = log_end(own[0]) if own else None
    end = first if cut is None else min(cut.earlier_end, cut.offset)
    held = Possible.known((0, HIGHEST_OFFSET if end is None else end))
    return held if broker in chronicle.earlier.put_back and end is not None else held.in_doubt


def incarnations(current: Sequence[Replica]) -> tuple[tuple[Replica, ...], ...]:
    """Replicas by life and topic id; where only one id is known, those without an id are taken for its."""
    now, before = (tuple(r for r in current if r.earlier_life is past) for past in (False, True))
    ids = sorted({replica.topic_id for replica in now if replica.topic_id is not None})
    by_id = (tuple(r for r in now if r.topic_id == topic_id) for topic_id in [*ids, None])
    groups = (now,) if len(ids) <= 1 else tuple(by_id)
    return tuple(group for group in (*groups, before) if group)


def comparable_pairs(current: Sequence[Replica]) -> tuple[tuple[Replica, Replica], ...]:
    """Every two replicas of one life and topic id, so that their contents may be compared.

    One without an id is taken for the only one that is known; where others bear several it may be of either.
    """
    apart = len({replica.topic_id for replica in current} - {None}) > 1
    able = [replica for replica in current if not (apart and replica.topic_id is None)]
    return tuple((a, b) for at, a in enumerate(able, 1) for b in able[at:] if same_topic(a, b))


def older(replica: Replica, others: Sequence[Replica]) -> bool:
    """Whether every record of a replica is older than any record of the others, by the times that they bear."""
    newest = replica.log.max_timestamp
    oldest = [other.log.min_timestamp for other in others if other.log.batches]
    return newest is not None and bool(oldest) and all(time is not None and newest < time for time in oldest)


def may_be_two_lives(left: Replica, right: Replica) -> bool:
    """Whether two logs may be of two lives of their topic: no ids tell, and all records of one are older.

    Both begin at the same offset and in the same epoch, as every topic does: logs that only part later are one topic's.
    """
    if (left.topic_id is not None and right.topic_id is not None) or not (left.log.epochs and right.log.epochs):
        return False
    first, second = left.log.epochs[0], right.log.epochs[0]
    same_start = (first.start_offset, first.epoch) == (second.start_offset, second.epoch)
    return same_start and (older(left, [right]) or older(right, [left]))
