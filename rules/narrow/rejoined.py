"""What stretches of a busy request log keep, thinned once more together: the same as of the whole log at once.

A stretch keeps both ends of whatever it holds, since it knows nothing of the stretches beside it; here the neighbours
are known. What a stretch left out began no run, ended none and was no extreme. So of statements with others left out
between them the later one begins no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from rules.history.moments import Moment
from rules.history.statements import Answered, Fetched
from rules.narrow.landmarks import CELL_MS, NONE, PAUSE_MS

_STATE: Final = attrgetter("asked_epoch", "epoch", "error", "log_start_offset", "answered_epoch", "doubtful")
_SAID: Final = attrgetter("session", "offset", "high_watermark")

Extremes = Mapping[int, "Alike"]
"""By their identity what is lowest, furthest or last in a cell of its partition."""


def rejoined(moments: Sequence[Moment], busy: frozenset[int], width: int = CELL_MS) -> Sequence[Moment]:
    """Statements about one partition in the order of their files, with those of some brokers' request logs thinned."""
    streams: dict[tuple[object, ...], Stream] = {}
    own: set[int] = set()
    for place, moment in enumerate(moments):
        if isinstance(moment, Answered) and moment.witness in busy:
            own.add(place)
            asker = _stream_of(moment)
            if asker not in streams:
                streams[asker] = Stream(width)
            streams[asker].take(place, moment)
    if not own:
        return moments
    marks = _extremes(streams.values())
    kept = {place: out for stream in streams.values() for place, out in stream.kept(marks)}
    every = ((place, moment) for place, moment in enumerate(moments) if place in kept or place not in own)
    return [*_unsure_where_they_end([_leaving_out(moment, kept.get(place, 0)) for place, moment in every])]


def _stream_of(moment: Answered) -> tuple[object, ...]:
    session = moment.session if moment.kind == "consumed" else None
    return *_partition_of(moment), moment.broker, moment.client_id, session


def _partition_of(moment: Answered) -> tuple[object, ...]:
    return moment.kind, moment.clock, moment.topic_id, moment.acks if moment.kind == "produced" else None


def _leaving_out(moment: Moment, left_out: int) -> Moment:
    before = moment.left_out if isinstance(moment, Answered) else 0
    return moment if before == left_out else replace(moment, left_out=left_out)


class Alike:
    """Statements in a row that say the same; lives only while a log is thinned."""

    __slots__ = ("begins", "cell", "count", "first", "last", "places")

    def __init__(self, first: Answered, cell: int | None, *, begins: bool) -> None:
        self.first, self.last, self.cell, self.begins = first, first, cell, begins
        self.places: list[int] = []
        self.count = 0

    def add(self, place: int, moment: Answered) -> None:
        """One more."""
        self.places.append(place)
        self.last = moment
        self.count += moment.count

    @property
    def offset(self) -> int:
        """What it is an extreme by."""
        return NONE if self.first.offset is None else self.first.offset


class Stream:
    """What one asker was answered, in order; lives only while a log is thinned."""

    __slots__ = ("alike", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self.alike: list[Alike] = []

    def take(self, place: int, moment: Answered) -> None:
        """The next statement."""
        before = self.alike[-1] if self.alike else None
        adjoins = before is not None and not before.last.left_out
        if before is None or not (adjoins and _says_the_same(before.last, moment)):
            begins = before is None or (adjoins and self._begins(before.last, moment))
            cell = None if moment.time is None else moment.time // self.width
            before = Alike(moment, cell, begins=begins)
            self.alike.append(before)
        before.add(place, moment)

    def _begins(self, before: Answered, moment: Answered) -> bool:
        """Whether a run ends between two that adjoin."""
        if moment.time is None or before.error != moment.error:
            return True
        if not isinstance(before, Fetched) or not isinstance(moment, Fetched):
            return False
        untold = (before.high_watermark is None) != (moment.high_watermark is None)
        if untold or _STATE(before) != _STATE(moment):
            return True
        if moment.kind == "consumed":
            return _is_beyond(before) != _is_beyond(moment)
        return before.session != moment.session or _falls(before, moment) or self._waits(before, moment.time)

    def _waits(self, before: Fetched, time: int) -> bool:
        ended = before.time if before.last_time is None else before.last_time
        return ended is None or time - ended > max(PAUSE_MS, self.width) or ended - PAUSE_MS > time

    def kept(self, marks: Extremes) -> Iterator[tuple[int, int]]:
        """The places of what is kept, each with how much is left out between it and the next of the stream."""
        last, left_out = -1, 0
        for number, alike in enumerate(self.alike):
            if alike.begins or id(alike) in marks or self._ends(number):
                if last >= 0:
                    yield last, left_out
                yield from ((place, 0) for place in alike.places[:-1])
                last, left_out = alike.places[-1], alike.last.left_out
            else:
                left_out += alike.count + alike.last.left_out
        yield last, left_out

    def _ends(self, number: int) -> bool:
        """Whether it is the last of a run or of the stream, or of a follower the last but one or the last of a cell."""
        if number + 1 == len(self.alike):
            return True
        alike, following = self.alike[number], self.alike[number + 1]
        follows = alike.first.kind == "fetched"
        if alike.last.left_out:
            return follows and alike.cell != following.cell
        if following.begins or not follows or alike.cell != following.cell:
            return following.begins or follows
        if following.last.left_out:
            return False
        return number + 2 == len(self.alike) or self.alike[number + 2].begins


def _says_the_same(before: Answered, moment: Answered) -> bool:
    if not isinstance(before, Fetched) or not isinstance(moment, Fetched):
        return False
    return bool(_SAID(before) == _SAID(moment) and _STATE(before) == _STATE(moment))


def _is_beyond(moment: Fetched) -> bool:
    return moment.high_watermark is not None and moment.high_watermark < (moment.offset or 0)


def _falls(before: Fetched, moment: Fetched) -> bool:
    falls = (NONE if moment.offset is None else moment.offset) < (NONE if before.offset is None else before.offset)
    return falls or (moment.high_watermark or 0) < (before.high_watermark or 0)


def _extremes(streams: Iterable[Stream]) -> Extremes:
    """Of consumers and producers the lowest, the furthest and the last of every cell, beside what begins a stream."""
    lowest: dict[tuple[object, ...], Alike] = {}
    furthest: dict[tuple[object, ...], Alike] = {}
    last: dict[tuple[object, ...], Alike] = {}
    for alike in sorted((a for stream in streams for a in stream.alike[1:]), key=lambda alike: alike.places[0]):
        if alike.first.kind == "fetched" or (alike.first.kind == "produced" and alike.first.error != 0):
            continue
        key = (*_partition_of(alike.first), alike.cell)
        last[key] = alike
        if alike.offset < lowest.setdefault(key, alike).offset:
            lowest[key] = alike
        if alike.offset > furthest.setdefault(key, alike).offset:
            furthest[key] = alike
    return {id(alike): alike for found in (lowest, furthest, last) for alike in found.values()}


def _unsure_where_they_end(kept: Sequence[Moment]) -> Iterator[Moment]:
    """The statements; of a produced batch it is open whether it ends at the next offset that is told.

    What is left out may tell its end: no more than the next that its follower asked for, or than what was produced.
    """
    furthest: dict[str, int] = {}
    before: dict[tuple[object, ...], Answered] = {}
    sent = frozenset(moment.clock for moment in kept if moment.kind == "produced" and moment.left_out)
    for moment in kept:
        if moment.kind not in ("fetched", "produced") or moment.offset is None:
            continue
        asker = _stream_of(moment)
        former = before.get(asker)
        if moment.clock in sent if moment.kind == "produced" else former is not None and former.left_out:
            furthest[moment.clock] = max(moment.offset, furthest.get(moment.clock, NONE))
        before[asker] = moment
    for moment in kept:
        unsure = moment.kind == "produced" and (moment.offset or 0) < furthest.get(moment.clock, NONE)
        yield replace(moment, end_offset=(moment.offset or 0) + 1) if unsure and moment.offset is not None else moment
