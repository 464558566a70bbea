"""When brokers took roles, by each file of theirs that shows it: where two files disagree, they are of two clocks.

The files of all partitions are held beside each other. What is told of one partition may be too little to show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.history.falling_times import LEAST_MS
from rules.history.moments import Moment, accepted, falls, gives_role, ordered
from rules.history.rotated import log_of
from rules.history.sources_disagree import newly_taken, order_times, taken_again
from rules.history.statements import Fetched

_MOST: Final = 1 << 12
"""Roles of one file that are told, the first by their names: where fewer are told, less is seen to disagree."""
Place = tuple[str, int]
"""A topic, by its id where that is told, and a partition."""


class RoleTime(Struct, frozen=True, kw_only=True):
    """That a broker took its role in an epoch no sooner and no later than some times."""

    clock: str
    source: str
    topic: str
    """Its id where that is told."""
    partition: int
    epoch: int | None
    """Null where the log was deleted, or epochs fall: those of that partition may stand for others."""
    least: int | None = None
    most: int | None = None
    served: bool = False
    """Whether it served somebody in that role by then: each answer shows that, and the first one most."""

    @property
    def place(self) -> Place:
        """The partition."""
        return self.topic, self.partition


def role_times_in(lines: Mapping[Place, Sequence[Moment]]) -> tuple[RoleTime, ...]:
    """What each file shows of roles, by what it tells of each partition."""
    files: dict[tuple[str, str], list[RoleTime]] = {}
    for (topic, partition), moments in lines.items():
        by_file: dict[tuple[str, str, Place], list[Moment]] = {}
        for moment in moments:
            place = topic if moment.topic_id is None else moment.topic_id, partition
            by_file.setdefault((moment.clock, moment.span.source, place), []).append(moment)
        for (clock, source, place), own in by_file.items():
            found = files.setdefault((clock, source), [])
            of = RoleTime(clock=clock, source=source, topic=place[0], partition=place[1], epoch=None)
            found.extend(replace(of, epoch=epoch, least=least, most=most) for epoch, least, most in _of(own))
            found.extend(replace(of, epoch=epoch, most=time, served=True) for epoch, time in _answered(own).items())
    return tuple(each for own in files.values() for each in sorted(own, key=_by_name)[:_MOST])


def clocks_apart(times: Iterable[RoleTime]) -> frozenset[str]:
    """Clocks by which one role was taken at times that cannot both be true."""
    windows: dict[tuple[str, Place, int | None], tuple[list[int], list[int]]] = {}
    deleted: set[tuple[str, Place]] = set()
    for each in _of_whole_logs(times):
        if each.epoch is None:
            deleted.add((each.clock, each.place))
        least, most = windows.setdefault((each.clock, each.place, each.epoch), ([], []))
        least.extend(() if each.least is None else (each.least,))
        most.extend(() if each.most is None else (each.most,))
    return frozenset(
        clock
        for (clock, place, _), (least, most) in windows.items()
        if least and most and max(least) - min(most) > LEAST_MS and (clock, place) not in deleted
    )


def _of_whole_logs(times: Iterable[RoleTime]) -> Iterable[RoleTime]:
    """The same of each log as a whole: it may be rotated, or read in stretches, and orders come again."""
    logs: dict[tuple[str, str, Place, int | None, bool], RoleTime] = {}
    for each in times:
        of = each.clock, log_of(each.source), each.place, each.epoch, each.served
        held = logs.get(of, each)
        least = min((time for time in (held.least, each.least) if time is not None), default=None)
        ends = [time for time in (held.most, each.most) if time is not None]
        most = (min if each.served else max)(ends, default=None)
        logs[of] = replace(held, least=least, most=most)
    return logs.values()


def _of(own: Sequence[Moment]) -> Iterator[tuple[int | None, int | None, int | None]]:
    """The epochs of one file's roles, of orders and of answers, each with its bounds."""
    roles = ((m.clock, m.epoch) for m in ordered(own) if gives_role(m) and m.epoch is not None)
    if any(m.kind == "log-deleted" for m in own) or falls(roles):
        yield None, None, None
    again = taken_again(own)
    yield from ((role.epoch, role.time, _last(role.time, again.get(role.epoch))) for role in newly_taken(own))
    yield from ((epoch, came, answered) for epoch, (came, answered) in order_times(own).items())


def _last(taken: int | None, again: int | None) -> int | None:
    return taken if taken is None or again is None else max(taken, again)


def _answered(own: Iterable[Moment]) -> dict[int, int]:
    """By epoch when a fetch that names it was answered first: its leader led by then."""
    found: dict[int, int] = {}
    for m in own:
        # A partition that a session leaves out is served whatever its epoch (KAFKA-9338).
        sure = isinstance(m, Fetched) and accepted(m) and not (m.implied or m.doubtful or m.error is None)
        if sure and m.epoch is not None and m.epoch >= 0 and m.time is not None:
            found[m.epoch] = min(m.time, found.get(m.epoch, m.time))
    return found


def _by_name(each: RoleTime) -> tuple[Place, int]:
    return each.place, -1 if each.epoch is None else each.epoch
