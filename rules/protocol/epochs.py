"""The leader epoch cache: which epoch began at which offset, and where an epoch ends.

A chain is a tuple of `EpochStart`, strictly rising in epoch and in offset. Two generations differ and stand side by
side: before KAFKA-7415 (up to 2.0.0), and since (2.0.1, 2.1.0 and later).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import takewhile

from msgspec import Struct

from rules.protocol.offsets import UNDEFINED_EPOCH, Epoch, Offset


class EpochStart(Struct, frozen=True, kw_only=True):
    """One line of leader-epoch-checkpoint: the first offset that a leader of this epoch could write."""

    epoch: Epoch
    start_offset: Offset


class EpochEnd(Struct, frozen=True, kw_only=True):
    """The answer to "where does this epoch end": the largest epoch known at or below it, and its exclusive end."""

    epoch: Epoch
    end_offset: Offset


EpochChain = tuple[EpochStart, ...]
EndOffsetRule = Callable[[EpochChain, Epoch, Offset], EpochEnd | None]


def end_offset_for(entries: EpochChain, requested: Epoch, log_end_offset: Offset) -> EpochEnd | None:
    """`LeaderEpochFileCache.endOffsetFor` since 2.0.1 and 2.1.0; None is Kafka's undefined answer (-1, -1)."""
    if requested == UNDEFINED_EPOCH or not entries or requested > entries[-1].epoch:
        return None
    if requested == entries[-1].epoch:
        return EpochEnd(epoch=requested, end_offset=log_end_offset)
    higher = bisect_right(entries, requested, key=lambda entry: entry.epoch)
    floor = entries[higher - 1].epoch if higher else requested
    return EpochEnd(epoch=floor, end_offset=entries[higher].start_offset)


def end_offset_for_before_kafka_7415(entries: EpochChain, requested: Epoch, log_end_offset: Offset) -> EpochEnd | None:
    """The same up to 2.0.0: an epoch below the first entry is undefined; the asker takes its high watermark."""
    if not entries or requested < entries[0].epoch:
        return None
    return end_offset_for(entries, requested, log_end_offset)


def offset_only(answer: EpochEnd | None) -> EpochEnd | None:
    """What of an answer travels in OffsetsForLeaderEpoch v0: the offset, not the epoch that it belongs to."""
    return None if answer is None else EpochEnd(epoch=UNDEFINED_EPOCH, end_offset=answer.end_offset)


def assign(entries: EpochChain, epoch: Epoch, start_offset: Offset) -> EpochChain:
    """`assign` since 2.0.1 and 2.1.0: the new entry wins, trailing entries that contradict it are removed.

    An entry of the latest epoch is taken only when it begins earlier than the one held. A negative epoch or offset,
    which Kafka answers with an exception, changes nothing.
    """
    return assign_all(entries, (EpochStart(epoch=epoch, start_offset=start_offset),))


def assign_all(entries: EpochChain, later: Iterable[EpochStart]) -> EpochChain:
    """The same for several, one after the other: a file may hold a great many."""
    held = [*entries]
    for new in later:
        if new.epoch < 0 or new.start_offset < 0:
            continue
        if held and held[-1].epoch == new.epoch and new.start_offset >= held[-1].start_offset:
            continue
        contradicted = (old.epoch >= new.epoch or old.start_offset >= new.start_offset for old in reversed(held))
        held[len(held) - sum(takewhile(bool, contradicted)) :] = [new]
    return tuple(held)


def assign_before_kafka_7415(entries: EpochChain, epoch: Epoch, start_offset: Offset) -> EpochChain:
    """`assign` up to 2.0.0: what was there first wins, a contradicting new entry is ignored.

    An equal offset was no contradiction, so an epoch that led without writing can leave two entries at one offset.
    """
    latest_epoch = entries[-1].epoch if entries else UNDEFINED_EPOCH
    latest_offset = entries[-1].start_offset if entries else -1
    if epoch < 0 or epoch <= latest_epoch or start_offset < latest_offset:
        return entries
    return (*entries, EpochStart(epoch=epoch, start_offset=start_offset))


def truncate_from_end(entries: EpochChain, end_offset: Offset) -> EpochChain:
    """The chain of a log cut to `end_offset`: an epoch that began there or later is forgotten."""
    if end_offset < 0:
        return entries
    return entries[: bisect_left(entries, end_offset, key=_start_offset)]


def truncate_from_start(entries: EpochChain, log_start_offset: Offset) -> EpochChain:
    """The chain of a log whose head was deleted: the epoch that spans the new log start now begins there."""
    covered = bisect_right(entries, log_start_offset, key=_start_offset)
    if covered == 0:
        return entries
    clipped = EpochStart(epoch=entries[covered - 1].epoch, start_offset=log_start_offset)
    return (clipped, *entries[covered:])


def rebuild(batches: Iterable[tuple[Epoch, Offset]]) -> EpochChain:
    """The chain that log recovery derives from (epoch, base offset) of the batches in physical order.

    Recovery takes an epoch only when it exceeds the latest, so a regressed epoch leaves no entry. Batches without an
    epoch (-1, magic below 2) are passed over.
    """
    entries: list[EpochStart] = []
    for epoch, base_offset in batches:
        if epoch > (entries[-1].epoch if entries else UNDEFINED_EPOCH):
            del entries[bisect_left(entries, base_offset, key=_start_offset) :]
            entries.append(EpochStart(epoch=epoch, start_offset=base_offset))
    return tuple(entries)


def latest_epoch(entries: EpochChain) -> Epoch | None:
    """The epoch a follower asks for first; None for a cache without entries."""
    return entries[-1].epoch if entries else None


def epoch_at(entries: EpochChain, offset: Offset) -> Epoch | None:
    """The epoch that owns an offset by this chain; None below its first entry."""
    covered = bisect_right(entries, offset, key=_start_offset)
    return entries[covered - 1].epoch if covered else None


def _start_offset(entry: EpochStart) -> Offset:
    return entry.start_offset
