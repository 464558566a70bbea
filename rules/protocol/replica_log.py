"""One replica's log as the protocol sees it, and what cutting it does."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.protocol.epochs import EndOffsetRule, EpochChain, end_offset_for, epoch_at, truncate_from_end
from rules.protocol.offsets import Offset, OffsetRange

LOG_ORIGIN: Final = Offset(0)


class Lineage(Struct, frozen=True, kw_only=True):
    """Which epoch wrote which offset of a log, as far as its epoch cache tells."""

    epochs: EpochChain
    log_start_offset: Offset = LOG_ORIGIN
    log_end_offset: Offset


class ReplicaLog(Lineage, frozen=True, kw_only=True):
    """A replica at the moment when it follows, or leads, after an election."""

    high_watermark: Offset
    end_offset_rule: EndOffsetRule = end_offset_for
    """How this broker's version searches its own epoch cache."""
    batches: tuple[OffsetRange, ...] = ()
    """The batches around a possible cut, where they are known; elsewhere every offset is taken for a batch boundary."""


def truncate_to(replica: ReplicaLog, offset: Offset) -> ReplicaLog:
    """The replica after `truncateTo`. Its log end becomes the offset even inside a batch, though the batch goes whole.

    Epoch entries at or beyond the offset go too, also when no record does (since KAFKA-10706).
    """
    end_offset = min(offset, replica.log_end_offset)
    return replace(
        replica,
        epochs=truncate_from_end(replica.epochs, end_offset),
        log_start_offset=min(replica.log_start_offset, end_offset),
        log_end_offset=end_offset,
        high_watermark=min(replica.high_watermark, end_offset),
        batches=tuple(batch for batch in replica.batches if batch.end_offset <= end_offset),
    )


def truncate_fully(replica: ReplicaLog, offset: Offset) -> ReplicaLog:
    """The replica after `truncateFullyAndStartAt`: nothing is left, the log begins anew at the offset."""
    return replace(
        replica, epochs=(), log_start_offset=offset, log_end_offset=offset, high_watermark=offset, batches=()
    )


def batch_around(replica: ReplicaLog, offset: Offset) -> OffsetRange | None:
    """The known batch that an offset would cut in two."""
    return next((batch for batch in replica.batches if batch.start_offset < offset < batch.end_offset), None)


def divergence_point(left: Lineage, right: Lineage) -> Offset | None:
    """The first offset that both logs hold by different epochs; None while they agree up to the shorter one's end.

    Offsets below either side's first epoch entry are passed over: nothing is known of them.
    """
    start_offset = max(left.log_start_offset, right.log_start_offset)
    end_offset = min(left.log_end_offset, right.log_end_offset)
    starts = {entry.start_offset for entry in (*left.epochs, *right.epochs)}
    for offset in sorted({start_offset} | starts):
        if start_offset <= offset < end_offset:
            known = epoch_at(left.epochs, offset), epoch_at(right.epochs, offset)
            if None not in known and known[0] != known[1]:
                return offset
    return None
