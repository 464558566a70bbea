"""A replica's log with the epochs that its records were written in, and the caches that brokers would have kept of it.

Everything here mirrors what brokers do to a log whose format carries epochs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rules.protocol.epochs import EpochChain, EpochStart, truncate_from_end, truncate_from_start
from rules.protocol.keeping import WAYS, Keeping
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica_log import ReplicaLog

FAR: Final = 1 << 62
"""Beyond every offset."""

Caches = tuple[EpochChain, ...]
"""One for each of `WAYS`."""
NO_CACHES: Final[Caches] = tuple(() for _ in WAYS)


class PossibleLog(Struct, frozen=True, kw_only=True):
    """One way in which a log can have been written."""

    runs: tuple[EpochStart, ...] = ()
    """The epochs of the records in the order of their offsets; of a log with zombies' records they may fall."""
    log_start_offset: int = 0
    log_end_offset: int = 0
    caches: Caches = NO_CACHES

    @property
    def stretches(self) -> Iterator[tuple[int, int, int]]:
        """Its records by epoch: the epoch, their first offset, and the offset behind their last."""
        ends = (*(run.start_offset for run in self.runs[1:]), self.log_end_offset)
        return ((run.epoch, run.start_offset, end) for run, end in zip(self.runs, ends, strict=False))

    def opened(self, epoch: int) -> PossibleLog:
        """After its broker began to lead an epoch."""
        start = Offset(self.log_end_offset)
        entered = (
            way.assign(cache, Epoch(epoch), start) if way.enters_at_election else cache
            for way, cache in zip(WAYS, self.caches, strict=True)
        )
        return replace(self, caches=tuple(entered))

    def wrote(self, epoch: int, end_offset: int) -> PossibleLog:
        """With records of one epoch appended, up to an offset."""
        if end_offset <= self.log_end_offset:
            return self
        first = EpochStart(epoch=Epoch(epoch), start_offset=Offset(self.log_end_offset))
        caches = zip(WAYS, self.caches, strict=True)
        goes_on = bool(self.runs) and self.runs[-1].epoch == epoch
        return replace(
            self,
            runs=self.runs if goes_on else (*self.runs, first),
            log_end_offset=end_offset,
            caches=tuple(way.assign(cache, first.epoch, first.start_offset) for way, cache in caches),
        )

    def copied(self, source: PossibleLog, end_offset: int) -> PossibleLog:
        """With what another log holds from its own end on, up to an offset."""
        grown = self
        for epoch, _, end in source.stretches:
            grown = grown.wrote(epoch, min(end, end_offset))
        return grown

    def cut(self, end_offset: int) -> PossibleLog:
        """After it was cut there. Entries that begin there or later go, even where no record does."""
        end = min(end_offset, self.log_end_offset)
        return replace(
            self,
            runs=truncated(self.runs, end),
            log_start_offset=min(self.log_start_offset, end),
            log_end_offset=end,
            caches=tuple(truncate_from_end(cache, Offset(end)) for cache in self.caches),
        )

    def started_at(self, log_start_offset: int) -> PossibleLog:
        """After what lies below an offset was deleted."""
        start = Offset(log_start_offset)
        return replace(
            self,
            log_start_offset=log_start_offset,
            caches=tuple(truncate_from_start(cache, start) for cache in self.caches),
        )

    def asking(self, way: Keeping, high_watermark: int) -> ReplicaLog:
        """The replica as the protocol sees it, with the cache that some releases keep."""
        return ReplicaLog(
            epochs=self.caches[WAYS.index(way)],
            log_start_offset=Offset(self.log_start_offset),
            log_end_offset=Offset(self.log_end_offset),
            high_watermark=Offset(min(high_watermark, self.log_end_offset)),
            end_offset_rule=way.end_offset_rule,
        )

    def epoch_at(self, offset: int) -> int | None:
        """The epoch of the record there."""
        below = [run for run in self.runs if run.start_offset <= offset]
        return below[-1].epoch if below and offset < self.log_end_offset else None


def truncated(runs: tuple[EpochStart, ...], end_offset: int) -> tuple[EpochStart, ...]:
    """The runs of a log that is cut there."""
    return tuple(run for run in runs if run.start_offset < end_offset)
