"""Rows to facts: folds over Arrow batches in physical order.

Law: `fold(a + b) == join(fold(a), fold(b))` (see `rules.facts.join`) wherever a log is cut: engines may cut anywhere.
Dropped on the way: all of a batch that no rule asks for; lists of defects keep `KEEP` members and count the rest.

Most logs of a cluster are small and of everyday shape (one epoch, no defect): a query would cost more than their rows,
and is made only for what few logs show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from parsers.provenance import Span, row_span
from parsers.tables import Refusal
from rules.facts.join import KEEP, first_and_last, newest
from rules.facts.producing import (
    NO_TRANSACTIONS,
    BatchTime,
    Begun,
    BrokerTime,
    ProducerFence,
    ProducerRun,
    Transactions,
)
from rules.facts.stretch import ChecksumFault, EpochRun, LogFacts, OffsetStep, UnreadBytes
from rules.facts.transactions import transactions_of
from rules.narrow.producer_runs import producers_of
from rules.narrow.stretch_totals import APPEND_TIME, LAST, PLACE, Mask, Totals, span_of

_CONTROL: Final = 0x20
_FILE_BITS: Final = 40
"""Positions in a file are below this power of two, so that file and position make one ascending number."""
_MARKER: Final = (pl.col("flags") & _CONTROL) != 0


def fold(headers: pa.RecordBatch, sources: Sequence[str], refusals: Sequence[Refusal] = ()) -> LogFacts:
    """Facts of a stretch of log: its batch headers in physical order, each naming its source by the index `file`.

    `sources` names the stretch's files in physical order; refusals name theirs.
    """
    batches = _Frame(headers, sources)
    unread = _unread(batches.frame, sources, refusals) if refusals else ()
    if not headers.num_rows:
        return LogFacts(unread=unread, unread_count=len(refusals))
    totals = Totals(headers)
    one_epoch = bool((totals.epoch == totals.epoch[0]).all())
    clocks = _Clocks(totals, sources)
    epochs = (_whole(totals, sources),) if one_epoch else _epoch_runs(batches.frame, sources)
    producers, fences = batches.producers(totals.sequenced, totals.markers, one_epoch=one_epoch)
    return LogFacts(
        **totals.counts(),  # type: ignore[arg-type]
        magics=tuple(np.unique(totals.magic).tolist()),
        epochs=first_and_last(epochs),
        epoch_count=len(epochs),
        gaps=batches.steps(totals.gaps),
        overlaps=batches.steps(totals.overlaps),
        checksum_faults=batches.faults(totals.checksum_faults),
        header_faults=batches.faults(totals.header_faults),
        unread=unread,
        unread_count=len(refusals),
        digests=tuple(totals.digests()),
        producers=producers,
        fences=fences,
        transactions=batches.transactions(totals.transacted, clocks.begun),
        first_clock=clocks.at(0),
        last_clock=clocks.at(-1),
    )


class _Frame:
    """The headers as a frame, for what few logs show; lives only inside `fold`."""

    def __init__(self, headers: pa.RecordBatch, sources: Sequence[str]) -> None:
        self._headers, self._sources = headers, sources

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Made when somebody asks first."""
        return _prepare(self._headers)

    def steps(self, found: Mask) -> tuple[OffsetStep, ...]:
        """Batches that do not begin where they were due."""
        return _steps(self.frame, pl.Series(found), self._sources) if np.count_nonzero(found) else ()

    def faults(self, found: Mask) -> tuple[ChecksumFault, ...]:
        """Batches that are not what they should be."""
        return _batch_faults(self.frame.filter(pl.Series(found)), self._sources) if np.count_nonzero(found) else ()

    def producers(
        self, sequenced: Mask, markers: Mask, *, one_epoch: bool
    ) -> tuple[tuple[ProducerRun, ...], tuple[ProducerFence, ...]]:
        """What each producer wrote, and the markers behind which it may not write on."""
        found = sequenced | markers
        if not np.count_nonzero(found):
            return (), ()
        rows = self.frame.hstack([pl.Series("marker", markers)]).filter(pl.Series(found))
        return newest(*producers_of(rows, self._sources, one_epoch=one_epoch))

    def transactions(self, found: Mask, begun: Callable[[int], Begun]) -> Transactions:
        """What was written in transactions."""
        if not np.count_nonzero(found):
            return NO_TRANSACTIONS
        return transactions_of(self.frame.with_row_index("row").filter(pl.Series(found)), _MARKER, begun)


def _prepare(headers: pa.RecordBatch) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(headers)).with_columns(
        base=pl.coalesce("base_offset", "last_offset"),
        end=pl.min_horizontal("last_offset", LAST - 1) + 1,
        epoch=pl.col("leader_epoch").fill_null(-1).cast(pl.Int64),
        flags=pl.col("attributes").fill_null(0).cast(pl.Int64),
    ).with_columns(due=pl.col("end").shift(1))


def _epoch_runs(frame: pl.DataFrame, sources: Sequence[str]) -> tuple[EpochRun, ...]:
    runs = frame.group_by(pl.col("epoch").rle_id().alias("run"), maintain_order=True).agg(
        pl.col("epoch").first(),
        pl.col("base").first().alias("start_offset"),
        pl.col("end").last().alias("end_offset"),
        pl.len().alias("batches"),
        *(pl.col(name).first().alias(f"first_{name}") for name in PLACE),
        *(pl.col(name).last().alias(f"last_{name}") for name in PLACE),
    )
    return tuple(_run(row, sources) for row in runs.iter_rows(named=True))


class _Clocks:
    """The times that brokers wrote, and what they say of a batch; lives only inside `fold`."""

    def __init__(self, totals: Totals, sources: Sequence[str]) -> None:
        self._totals, self._sources = totals, sources

    def at(self, place: int) -> BrokerTime | None:
        """The dated batch of this place among them: 0 for the first one, -1 for the last."""
        dated = self._totals.dated
        return self._broker_time(int(dated[place])) if -len(dated) <= place < len(dated) else None

    def _broker_time(self, row: int) -> BrokerTime:
        time = self._totals.time_of(row) or 0
        return BrokerTime(offset=int(self._totals.base[row]), time=time, span=self._span(row))

    def _span(self, row: int) -> Span:
        return span_of(self._sources, self._totals.place_of(row))

    def begun(self, row: int) -> Begun:
        """The batch of a row, with which a transaction begins."""
        totals = self._totals
        by_broker = bool((totals.flags[row] & APPEND_TIME) and totals.magic[row] > 0)
        return Begun(
            offset=int(totals.base[row]),
            producer_epoch=totals.producer_epoch(row),
            time=BatchTime(time=totals.time_of(row), by_broker=by_broker),
            clock=self.at(int(np.searchsorted(totals.dated, row))),
            span=self._span(row),
        )


def _whole(totals: Totals, sources: Sequence[str]) -> EpochRun:
    """A log of one epoch."""
    run = {"epoch": int(totals.epoch[0]), "start_offset": int(totals.base[0]), "end_offset": int(totals.end[-1])}
    return _run({**run, "batches": len(totals.base), **totals.ends()}, sources)


def _run(row: Mapping[str, int], sources: Sequence[str]) -> EpochRun:
    return EpochRun(
        epoch=row["epoch"],
        start_offset=row["start_offset"],
        end_offset=row["end_offset"],
        batches=row["batches"],
        first=span_of(sources, row, "first_"),
        last=span_of(sources, row, "last_"),
    )


def _steps(frame: pl.DataFrame, found: pl.Series, sources: Sequence[str]) -> tuple[OffsetStep, ...]:
    before = {f"before_{name}": pl.col(name).shift(1) for name in (*PLACE, "epoch", "base_offset", "record_count")}
    rows = frame.with_columns(**before).filter(found).head(KEEP)
    return tuple(
        OffsetStep(
            expected=row["due"],
            found=row["base_offset"],
            epoch_before=row["before_epoch"],
            epoch_after=row["epoch"],
            before=span_of(sources, row, "before_"),
            after=span_of(sources, row),
            base_before=row["before_base_offset"],
            records_before=row["before_record_count"],
        )
        for row in rows.iter_rows(named=True)
    )


def _batch_faults(faulty: pl.DataFrame, sources: Sequence[str]) -> tuple[ChecksumFault, ...]:
    return tuple(
        ChecksumFault(
            base_offset=row["base"],
            end_offset=row["end"],
            leader_epoch=row["epoch"],
            span=span_of(sources, row),
        )
        for row in faulty.head(KEEP).iter_rows(named=True)
    )


def _unread(frame: pl.DataFrame, sources: Sequence[str], refusals: Sequence[Refusal]) -> tuple[UnreadBytes, ...]:
    """Refusals in physical order, each with the offsets of the batches around it."""
    files = {source: index for index, source in enumerate(sources)}
    ordered = sorted(refusals, key=lambda refusal: (files[refusal.source], refusal.span_start))[:KEEP]
    places = frame.select(pl.col("file").cast(pl.Int64) * (1 << _FILE_BITS) + pl.col("span_start")).to_series()
    starts = pl.Series([(files[refusal.source] << _FILE_BITS) + refusal.span_start for refusal in ordered])
    behind = places.search_sorted(starts).to_list()
    ends, bases = frame["end"], frame["base"]
    return tuple(
        UnreadBytes(
            kind=refusal.kind,
            expected_offset=ends[place - 1] if place else None,
            next_offset=bases[place] if place < frame.height else None,
            expected=refusal.expected,
            found=refusal.found,
            span=row_span(refusal),
        )
        for refusal, place in zip(ordered, behind, strict=True)
    )
