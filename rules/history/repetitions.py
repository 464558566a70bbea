"""Statements that say the same again: one with a count, told once of two files, counted where some are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final

from rules.history.drafts import altered
from rules.history.moments import Moment
from rules.history.rotated import log_of


def collapse(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Repetitions of one statement as one with a count; the fold that makes a fetch trace small.

    Fetches of one session repeat each other whoever else asks in between, so that a trace may be cut anywhere.
    """
    held: dict[tuple[object, ...], _Run] = {}
    for moment in moments:
        key = _ASKING(moment)
        run = held.get(key)
        if run is not None and moment.kind in _REPEATABLE and run.adjoins and _repeats(run.first, moment):
            run.add(moment)
            continue
        if run is not None:
            yield run.told()
        held[key] = _Run(moment)
    yield from (run.told() for run in held.values())


class _Run:
    """A statement and those that repeat it: it is copied once, when all of them are known."""

    __slots__ = ("_count", "_last", "_left_out", "_waited", "first")

    def __init__(self, first: Moment) -> None:
        self.first, self._last = first, first
        self._count, self._left_out, self._waited = first.count, first.left_out, first.waited

    @property
    def adjoins(self) -> bool:
        """Whether nothing is left out behind it."""
        return not self._last.left_out

    def add(self, moment: Moment) -> None:
        """One more."""
        self._last = moment
        self._count += moment.count
        self._left_out += moment.left_out
        self._waited &= moment.waited

    def told(self) -> Moment:
        """All of them as one."""
        if self._last is self.first:
            return self.first
        last = last_of(self._last)
        return altered(
            self.first, count=self._count, last_time=last.time, last_taken_in=last.taken_in,
            last_answered=last.answered, waited=self._waited, left_out=self._left_out,
        )  # fmt: skip


def first_of(moment: Moment) -> Moment:
    """The first one of those that a statement stands for."""
    return altered(moment, count=1, last_time=None, last_taken_in=None, last_answered=None)


def last_of(moment: Moment) -> Moment:
    """The last one of those that a statement stands for."""
    if moment.count == 1:
        return moment
    return altered(
        moment, count=1, time=moment.last_time, arrived=None, taken_in=moment.last_taken_in,
        answered=moment.last_answered, last_time=None, last_taken_in=None, last_answered=None,
    )  # fmt: skip


def times_told(moments: Iterable[Moment]) -> int:
    """How many statements stand behind some that are kept, in their order: at least, where others are left out.

    Those between two of one asker are like them; whatever follows the last one may not be.
    """
    held: dict[tuple[object, ...], Moment] = {}
    told = 0
    for moment in moments:
        key = (*_ASKING(moment), moment.acks)
        before = held.get(key)
        told += moment.count + (0 if before is None else before.left_out)
        held[key] = moment
    return told


def begin_unseen(told: Iterable[Moment], chosen: Iterable[Moment]) -> bool:
    """Whether statements that are left out may be of some chosen ones too, before the first of them of an asker."""
    own = {id(moment) for moment in chosen}
    held: dict[tuple[object, ...], Moment] = {}
    for moment in told:
        key = (*_ASKING(moment), moment.acks)
        before = held.get(key)
        if before is not None and before.left_out and id(moment) in own and id(before) not in own:
            return True
        held[key] = moment
    return False


_COPIED: Final = (
    "kind", "clock", "time", "broker", "leader", "epoch", "partition_epoch", "offset", "end_offset", "high_watermark",
    "log_start_offset", "answer_offset", "isr", "previous_isr", "topic_id", "client_id", "acks", "error",
    "asked_epoch", "answered_epoch", "last_stable_offset",
)  # fmt: skip
_values_of: Final = attrgetter(*_COPIED)


def once(moments: Iterable[Moment]) -> list[Moment]:
    """The statements without those that a second file repeats: a copy of a log, or a console that shows it too."""
    first: dict[tuple[object, ...], str] = {}
    kept: list[Moment] = []
    for moment in moments:
        unplaced = moment.time is None or moment.witness is None
        if unplaced or first.setdefault(_values_of(moment), moment.span.source) == moment.span.source:
            kept.append(moment)
    return kept


_REPEATABLE: Final = ("fetched", "consumed", "leader-told")
_ASKING: Final = attrgetter("kind", "witness", "broker", "client_id", "session")
_REPEATED: Final = attrgetter(
    "epoch", "offset", "high_watermark", "error", "answered_epoch", "answer_offset", "asked_epoch", "log_start_offset",
    "last_stable_offset", "leader", "isr", "topic_id", "records_size", "min_bytes", "doubtful",
)  # fmt: skip


def _repeats(before: Moment, after: Moment) -> bool:
    one_log = log_of(before.span.source) == log_of(after.span.source)
    return one_log and bool(_REPEATED(before) == _REPEATED(after))
