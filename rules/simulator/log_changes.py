"""What appending to and cutting a replica's log does to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from rules.protocol.epochs import truncate_from_end, truncate_from_start
from rules.protocol.offsets import Offset
from rules.simulator.state import Batch, Broker, Log

LONGEST_LIST: Final = 4


def appended(broker: Broker, batches: Iterable[Batch]) -> Broker:
    """The broker with batches at the end of its log, their epochs noted as its version does."""
    log, epochs = broker.log, broker.epochs
    for batch in batches:
        if broker.generation.keeps_epochs:
            epochs = broker.generation.assign(epochs, batch.epoch, batch.base_offset)
        log = replace(log, batches=(*log.batches, batch), end_offset=batch.end_offset)
    return replace(broker, log=log, epochs=epochs)


def read(log: Log, fetch_offset: Offset, limit: int | None = None) -> tuple[Batch, ...]:
    """What a log holds from an offset on, in whole batches: the first one may begin below the offset."""
    found = tuple(batch for batch in log.batches if batch.end_offset > fetch_offset)
    return found if limit is None else found[:limit]


def cut(broker: Broker, offset: Offset) -> tuple[Broker, tuple[Batch, ...]]:
    """The broker after `truncateTo`, and the batches that went. Batches go whole, the log end becomes the offset."""
    end_offset = min(offset, broker.log.end_offset)
    kept = tuple(batch for batch in broker.log.batches if batch.end_offset <= end_offset)
    log = replace(
        broker.log,
        batches=kept,
        end_offset=end_offset,
        start_offset=min(broker.log.start_offset, end_offset),
        base_offset=min(broker.log.base_offset, end_offset),
    )
    after = replace(
        broker,
        log=log,
        epochs=truncate_from_end(broker.epochs, end_offset),
        high_watermark=broker.generation.after_truncation(broker.high_watermark, end_offset),
    )
    return after, broker.log.batches[len(kept) :]


def begun_anew(broker: Broker, offset: Offset) -> tuple[Broker, tuple[Batch, ...]]:
    """The broker after `truncateFullyAndStartAt`: nothing is left."""
    log = Log(base_offset=offset, start_offset=offset, end_offset=offset)
    return replace(broker, log=log, epochs=(), high_watermark=offset), broker.log.batches


def recovered(broker: Broker) -> Broker:
    """The log as a starting broker loads it: its end is that of the last batch, no epoch begins at or beyond it.

    It starts where the checkpoint says, or with its first segment; one that ends before its start begins anew there.
    """
    log = _found(broker.log)
    start_offset = max(log.base_offset, broker.start_checkpoint)
    if log.end_offset < start_offset:
        log = Log(base_offset=start_offset, end_offset=start_offset)
    epochs = truncate_from_start(truncate_from_end(broker.epochs, log.end_offset), start_offset)
    return replace(broker, log=replace(log, start_offset=start_offset), epochs=epochs)


def _found(log: Log) -> Log:
    """The log as it lies on disk: its end is that of the last batch."""
    return replace(log, end_offset=log.batches[-1].end_offset if log.batches else log.base_offset)


def without_pages(broker: Broker, offset: Offset) -> Broker:
    """A stopped broker whose disk lacks everything from an offset on; a batch that is not whole is gone."""
    kept = tuple(batch for batch in broker.log.batches if batch.end_offset <= offset)
    log = _found(replace(broker.log, batches=kept))
    return replace(broker, log=log, epochs=truncate_from_end(broker.epochs, log.end_offset))


def ranges(batches: Sequence[Batch]) -> str:
    """Batches in words: `m2@1` or `a@[11, 26)`."""
    return first_and_last([f"{b.name}@{b.base_offset}" if b.count == 1 else f"{b.name}@{span(b)}" for b in batches])


def first_and_last(words: Sequence[str]) -> str:
    """A list in words; of a long one its ends."""
    return f"{words[0]} to {words[-1]}" if len(words) > LONGEST_LIST else ", ".join(words)


def span(batch: Batch) -> str:
    """The offsets of a batch, its end exclusive."""
    return f"[{batch.base_offset}, {batch.end_offset})"


def visible_part(log: Log, high_watermark: Offset) -> tuple[Batch, ...]:
    """What of a log lies below a high watermark; a batch that it divides counts as far as it is below."""
    below = (batch for batch in log.batches if log.start_offset <= batch.base_offset < high_watermark)
    return tuple(
        batch if batch.end_offset <= high_watermark else replace(batch, count=high_watermark - batch.base_offset)
        for batch in below
    )
