"""Statements that say the same again: one with a count, told once of two files, counted where some are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Final

from rules.history import Moment


def collapse(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Repetitions of one statement as one with a count; the fold that makes a fetch trace small.

    Fetches of one session repeat each other whoever else asks in between, so that a trace may be cut anywhere.
    """
    held: dict[tuple[object, ...], Moment] = {}
    for moment in moments:
        key = _ASKING(moment)
        before = held.get(key)
        if moment.kind not in ("fetched", "consumed", "leader-told") or before is None or not _repeats(before, moment):
            if before is not None:
                yield before
            held[key] = moment
        else:
            count, last_time = before.count + moment.count, moment.last_time or moment.time
            left_out = before.left_out + moment.left_out
            held[key] = replace(before, count=count, last_time=last_time, left_out=left_out)
    yield from held.values()


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


_ASKING: Final = attrgetter("kind", "witness", "broker", "client_id", "session")
_REPEATED: Final = attrgetter(
    "epoch", "offset", "high_watermark", "error", "answered_epoch", "answer_offset", "asked_epoch", "log_start_offset",
    "last_stable_offset", "leader", "isr", "topic_id",
)  # fmt: skip


def _repeats(before: Moment, after: Moment) -> bool:
    return before.span.source == after.span.source and bool(_REPEATED(before) == _REPEATED(after))
