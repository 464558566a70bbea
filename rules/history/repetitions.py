"""Statements that say the same again: one with a count, told once of two files, counted where some are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Final, TypeGuard, cast

from msgspec.structs import replace

from rules.history.falling_times import LEAST_MS
from rules.history.rotated import log_of
from rules.history.statements import KINDS, Answered, Fetched, Moment, PartitionState, Produced

Repeatable = Fetched | PartitionState
Values = Callable[[Moment], tuple[object, ...]]


def _values(*names: str) -> Mapping[type, Values]:
    """What takes these values of a statement of each class, as far as it has them."""
    own = {each: [name for name in names if name in each.__struct_fields__] for each in KINDS.values()}
    return {each: cast("Values", attrgetter(*fields)) for each, fields in own.items()}


_ASKING: Final = _values("kind", "witness", "broker", "client_id", "session")
_REPEATED: Final = _values(
    "epoch", "offset", "high_watermark", "error", "answered_epoch", "answer_offset", "asked_epoch", "log_start_offset",
    "last_stable_offset", "leader", "isr", "topic_id", "records_size", "min_bytes", "doubtful",
)  # fmt: skip
_COPIED: Final = _values(
    "kind", "clock", "time", "broker", "leader", "epoch", "partition_epoch", "offset", "end_offset", "high_watermark",
    "log_start_offset", "answer_offset", "isr", "previous_isr", "topic_id", "client_id", "acks", "error",
    "asked_epoch", "answered_epoch", "last_stable_offset",
)  # fmt: skip


_ANSWERED_TO: Final = attrgetter("witness", "broker", "client_id", "acks")


def collapse(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Repetitions of one statement as one with a count; the fold that makes a fetch trace small.

    Fetches of one session repeat each other whoever else asks in between, so that a trace may be cut anywhere.
    """
    held: dict[tuple[object, ...], _Run | Moment] = {}
    for moment in moments:
        key = _ASKING[type(moment)](moment)
        run = held.get(key)
        if isinstance(run, _Run) and run.goes_on(moment):
            run.add(moment)
            continue
        if run is not None:
            yield run.as_one() if isinstance(run, _Run) else run
        held[key] = _Run(moment) if isinstance(moment, Fetched) or moment.kind == "leader-told" else moment
    yield from (run.as_one() if isinstance(run, _Run) else run for run in held.values())


class _Run:
    """A statement and those that repeat it: it is copied once, when all of them are known."""

    __slots__ = ("_count", "_first", "_last", "_left_out", "_waited")

    def __init__(self, first: Repeatable) -> None:
        self._first, self._last = first, first
        self._count, (self._left_out, self._waited) = first.count, _delays(first)

    def goes_on(self, moment: Moment) -> TypeGuard[Repeatable]:
        """Whether a statement of the same asker in the same log says the same, and nothing comes between the two."""
        if isinstance(self._last, Fetched) and self._last.left_out:
            return False
        until = self._last.time if self._last.last_time is None else self._last.last_time
        set_back = until is not None and moment.time is not None and until - moment.time > LEAST_MS
        if set_back or moment.set_back != self._first.set_back:
            return False
        first, values = self._first, _REPEATED[type(self._first)]
        return log_of(first.span.source) == log_of(moment.span.source) and values(first) == values(moment)

    def add(self, moment: Repeatable) -> None:
        """One more."""
        left_out, waited = _delays(moment)
        self._last = moment
        self._count += moment.count
        self._left_out += left_out
        self._waited &= waited

    def as_one(self) -> Moment:
        """All of them as one."""
        if self._last is self._first:
            return self._first
        last = last_of(self._last)
        if not isinstance(last, Fetched):
            return replace(self._first, count=self._count, last_time=last.time)
        return replace(
            self._first, count=self._count, last_time=last.time, last_taken_in=last.taken_in,
            last_answered=last.answered, waited=self._waited, left_out=self._left_out,
        )  # fmt: skip


def _delays(moment: Repeatable) -> tuple[int, bool]:
    return (moment.left_out, moment.waited) if isinstance(moment, Fetched) else (0, False)


def first_of(moment: Moment) -> Moment:
    """The first one of those that a statement stands for."""
    if isinstance(moment, Fetched):
        return replace(moment, count=1, last_time=None, last_taken_in=None, last_answered=None)
    return replace(moment, count=1, last_time=None)


def last_of(moment: Moment) -> Moment:
    """The last one of those that a statement stands for."""
    if moment.count == 1:
        return moment
    if not isinstance(moment, Fetched):
        return replace(moment, count=1, time=moment.last_time, last_time=None)
    return replace(
        moment, count=1, time=moment.last_time, arrived=None, taken_in=moment.last_taken_in,
        answered=moment.last_answered, last_time=None, last_taken_in=None, last_answered=None,
    )  # fmt: skip


def standing_for(moment: Moment) -> int:
    """How many statements it stands for, those that are left out behind it included."""
    return moment.count + (moment.left_out if isinstance(moment, Answered) else 0)


def times_told(answers: Iterable[Produced]) -> int:
    """How many answers stand behind some that are kept, in their order: at least, where others are left out.

    Those between two of one asker are like them; whatever follows the last one may not be.
    """
    held: dict[tuple[object, ...], Produced] = {}
    times = 0
    for answer in answers:
        key = _ANSWERED_TO(answer)
        before = held.get(key)
        times += answer.count + (0 if before is None else before.left_out)
        held[key] = answer
    return times


def begin_unseen(answers: Iterable[Produced], chosen: Iterable[Produced]) -> bool:
    """Whether answers that are left out may be of some chosen ones too, before the first of them of an asker."""
    own = {id(answer) for answer in chosen}
    held: dict[tuple[object, ...], Produced] = {}
    for answer in answers:
        key = _ANSWERED_TO(answer)
        before = held.get(key)
        if before is not None and before.left_out and id(answer) in own and id(before) not in own:
            return True
        held[key] = answer
    return False


def once(moments: Iterable[Moment]) -> list[Moment]:
    """The statements without those that a second file repeats: a copy of a log, or a console that shows it too."""
    first: dict[tuple[object, ...], str] = {}
    kept: list[Moment] = []
    for moment in moments:
        source, unplaced = moment.span.source, moment.time is None or moment.witness is None
        if unplaced or first.setdefault(_COPIED[type(moment)](moment), source) == source:
            kept.append(moment)
    return kept
