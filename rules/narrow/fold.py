"""Rows to facts: folds over Arrow batches in physical order.

Law: `fold(a + b) == join(fold(a), fold(b))` (see `rules.facts.join`) wherever a log is cut: engines may cut anywhere.
Dropped on the way: all of a batch that no rule asks for; lists of defects keep `KEEP` members and count the rest.

A log of everyday shape (one epoch, one bucket of offsets, no defect) is folded in one query: most logs of a cluster
are small, and a query costs more than their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

import polars as pl
import pyarrow as pa

from parsers.provenance import Span
from parsers.tables import Refusal
from rules.facts.join import KEEP, first_and_last, newest
from rules.facts.stretch import (
    BUCKET_OFFSETS,
    NO_TRANSACTIONS,
    BucketDigest,
    ChecksumFault,
    EpochRun,
    LogFacts,
    OffsetStep,
    ProducerRun,
    SequenceStep,
    UnreadBytes,
)
from rules.facts.transactions import transactions_of

_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_MAGIC_2: Final = 2
_SEQUENCES: Final = 1 << 31
_LAST: Final = (1 << 63) - 1
_MOST_RECORDS: Final = (1 << 31) // 7
"""What a batch of the largest size could hold: a record takes seven bytes at least."""
_FILE_BITS: Final = 40
"""Positions in a file are below this power of two, so that file and position make one ascending number."""
_MIX: Final = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93, 0xA5CB9243F1CE4D27)
_PRODUCER: Final = ("producer_id", "producer_epoch")
_OF_A_PRODUCER: Final = (
    *_PRODUCER, "first_sequence", "last_sequence", "first_offset", "end_offset", "batches", "breaks", "first_epoch",
    "last_epoch",
)  # fmt: skip
_PLACE: Final = ("file", "span_start", "span_end")


def fold(headers: pa.Table, sources: Sequence[str], refusals: Sequence[Refusal] = ()) -> LogFacts:
    """Facts of a stretch of log: its batch headers in physical order, each naming its source by the index `file`.

    `sources` names the stretch's files in physical order; refusals name theirs.
    """
    frame = _prepare(headers)
    row = frame.select(**_TOTALS, **_SHAPE).row(0, named=True) if frame.height else {}
    unread = _unread(frame, sources, refusals)
    if not row:
        return LogFacts(unread=unread, unread_count=len(refusals))
    epochs = (_run(row, sources),) if row["epoch"] == row["highest_epoch"] else _epoch_runs(frame, sources)
    return LogFacts(
        **{name: row[name] for name in _TOTALS},
        magics=tuple(row["magics"]),
        epochs=first_and_last(epochs),
        epoch_count=len(epochs),
        gaps=_steps(frame, _GAP, row["gap_count"], sources),
        overlaps=_steps(frame, _OVERLAP, row["overlap_count"], sources),
        checksum_faults=_batch_faults(frame, _CHECKSUM_FAULT, row["checksum_fault_count"], sources),
        header_faults=_batch_faults(frame, _HEADER_FAULT, row["header_fault_count"], sources),
        unread=unread,
        unread_count=len(refusals),
        digests=_digests(frame, row),
        producers=_producers(frame, sources, one_epoch=len(epochs) == 1) if row["sequenced"] else (),
        transactions=transactions_of(frame.filter(_TRANSACTED), _MARKER) if row["transacted"] else NO_TRANSACTIONS,
    )


def _u64(value: int) -> pl.Expr:
    return pl.lit(value, dtype=pl.UInt64)


def _word(name: str) -> pl.Expr:
    return pl.col(name).fill_null(-1).cast(pl.Int64).reinterpret(signed=False)


def _mixed() -> pl.Expr:
    """One number a batch, which the fields that tell batches apart all change."""
    parts = zip(("base", "end", "epoch", "size", "crc"), _MIX, strict=True)
    mixed = reduce(lambda seen, part: seen ^ part, (_word(name) * _u64(factor) for name, factor in parts))
    mixed = (mixed ^ (mixed // _u64(1 << 29))) * _u64(_MIX[1])
    return mixed ^ (mixed // _u64(1 << 32))


_OFFSETS: Final = pl.col("end") - pl.col("base")
_GAP: Final = pl.col("base_offset") > pl.col("due")
_OVERLAP: Final = pl.col("base_offset") < pl.col("due")
_CHECKSUM_FAULT: Final = pl.col("crc_valid").not_()
_HEADER_FAULT: Final = (pl.col("magic") == _MAGIC_2) & pl.any_horizontal(
    (_OFFSETS < 1) | (_OFFSETS > _MOST_RECORDS),
    ((pl.col("record_count") > _OFFSETS) | (pl.col("record_count") < 0)).fill_null(value=False),
    pl.col("leader_epoch") < 0,
    pl.col("base") < 0,
)
_SEQUENCED: Final = (pl.col("producer_id") >= 0) & (pl.col("base_sequence") >= 0)
"""Markers carry a producer id and no sequence."""
_TRANSACTED: Final = (pl.col("producer_id") >= 0) & ((pl.col("flags") & _TRANSACTIONAL) != 0)
_MARKER: Final = (pl.col("flags") & _CONTROL) != 0
_TIMES: Final = pl.col("max_timestamp").filter(pl.col("max_timestamp") >= 0)
_BUCKET: Final = pl.col("base").floordiv(BUCKET_OFFSETS)
_DIGEST: Final = _mixed().sum().reinterpret(signed=True)

_TOTALS: Final = {
    "batches": pl.len(),
    "records": pl.col("record_count").cast(pl.Int64).clip(0).sum(),
    "bytes": pl.col("size").cast(pl.Int64).sum(),
    "first_offset": pl.col("base_offset").first(),
    "end_offset": pl.col("end").last(),
    "last_base": pl.col("base_offset").last(),
    "last_records": pl.col("record_count").last(),
    "min_timestamp": _TIMES.min(),
    "max_timestamp": _TIMES.max(),
    "gap_count": _GAP.sum(),
    # Two offsets of which one is damaged can lie farther apart than 64 bits tell.
    "gap_offsets": (pl.col("base_offset").filter(_GAP).cast(pl.Int128) - pl.col("due").filter(_GAP))
    .sum()
    .clip(0, _LAST),
    "overlap_count": _OVERLAP.sum(),
    "checksums_verified": pl.col("crc_valid").count(),
    "checksum_fault_count": _CHECKSUM_FAULT.sum(),
    "header_fault_count": _HEADER_FAULT.sum(),
    "sparse_batches": (
        ((pl.col("flags") & _CONTROL) == 0)
        & (pl.col("magic") == _MAGIC_2)
        & (pl.col("record_count") < _OFFSETS)
        & (_OFFSETS <= _MOST_RECORDS)
    ).sum(),
    "transactional_batches": ((pl.col("flags") & _TRANSACTIONAL) != 0).sum(),
    "control_batches": ((pl.col("flags") & _CONTROL) != 0).sum(),
    "unknown_bases": pl.col("base_offset").is_null().sum(),
}
_SHAPE: Final = {
    "magics": pl.col("magic").unique().sort().implode(),
    "sequenced": _SEQUENCED.any(),
    "transacted": _TRANSACTED.any(),
    "epoch": pl.col("epoch").min(),
    "highest_epoch": pl.col("epoch").max(),
    "bucket": _BUCKET.min(),
    "highest_bucket": _BUCKET.max(),
    "digest": _DIGEST,
    "start_offset": pl.col("base").first(),
    **{f"first_{name}": pl.col(name).first() for name in _PLACE},
    **{f"last_{name}": pl.col(name).last() for name in _PLACE},
}
"""What tells whether the log is of everyday shape, and what that shape then says."""


def _prepare(headers: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(headers)).with_columns(
        base=pl.coalesce("base_offset", "last_offset"),
        end=pl.min_horizontal("last_offset", _LAST - 1) + 1,
        epoch=pl.col("leader_epoch").fill_null(-1).cast(pl.Int64),
        flags=pl.col("attributes").fill_null(0).cast(pl.Int64),
    ).with_columns(due=pl.col("end").shift(1))


def _span(sources: Sequence[str], row: Mapping[str, int], prefix: str = "") -> Span:
    return Span(source=sources[row[f"{prefix}file"]], start=row[f"{prefix}span_start"], end=row[f"{prefix}span_end"])


def _epoch_runs(frame: pl.DataFrame, sources: Sequence[str]) -> tuple[EpochRun, ...]:
    runs = frame.group_by(pl.col("epoch").rle_id().alias("run"), maintain_order=True).agg(
        pl.col("epoch").first(),
        pl.col("base").first().alias("start_offset"),
        pl.col("end").last().alias("end_offset"),
        pl.len().alias("batches"),
        *(pl.col(name).first().alias(f"first_{name}") for name in _PLACE),
        *(pl.col(name).last().alias(f"last_{name}") for name in _PLACE),
    )
    return tuple(_run(row, sources) for row in runs.iter_rows(named=True))


def _run(row: Mapping[str, int], sources: Sequence[str]) -> EpochRun:
    return EpochRun(
        epoch=row["epoch"],
        start_offset=row["start_offset"],
        end_offset=row["end_offset"],
        batches=row["batches"],
        first=_span(sources, row, "first_"),
        last=_span(sources, row, "last_"),
    )


def _steps(frame: pl.DataFrame, kind: pl.Expr, count: int, sources: Sequence[str]) -> tuple[OffsetStep, ...]:
    if count == 0:
        return ()
    before = {f"before_{name}": pl.col(name).shift(1) for name in (*_PLACE, "epoch", "base_offset", "record_count")}
    rows = frame.with_columns(**before).filter(kind).head(KEEP)
    return tuple(
        OffsetStep(
            expected=row["due"],
            found=row["base_offset"],
            epoch_before=row["before_epoch"],
            epoch_after=row["epoch"],
            before=_span(sources, row, "before_"),
            after=_span(sources, row),
            base_before=row["before_base_offset"],
            records_before=row["before_record_count"],
        )
        for row in rows.iter_rows(named=True)
    )


def _batch_faults(frame: pl.DataFrame, kind: pl.Expr, count: int, sources: Sequence[str]) -> tuple[ChecksumFault, ...]:
    if count == 0:
        return ()
    return tuple(
        ChecksumFault(
            base_offset=row["base"],
            end_offset=row["end"],
            leader_epoch=row["epoch"],
            span=_span(sources, row),
        )
        for row in frame.filter(kind).head(KEEP).iter_rows(named=True)
    )


def _digests(frame: pl.DataFrame, row: Mapping[str, int]) -> tuple[BucketDigest, ...]:
    if row["bucket"] == row["highest_bucket"]:
        return (BucketDigest(bucket=row["bucket"], batches=row["batches"], digest=row["digest"]),)
    sums = frame.group_by(_BUCKET.alias("bucket")).agg(pl.len().alias("batches"), _DIGEST.alias("digest"))
    return tuple(BucketDigest(**bucket) for bucket in sums.sort("bucket").iter_rows(named=True))


def _producers(frame: pl.DataFrame, sources: Sequence[str], *, one_epoch: bool) -> tuple[ProducerRun, ...]:
    last = (pl.col("base_sequence").cast(pl.Int64) + _OFFSETS - 1) % _SEQUENCES
    rows = frame.filter(_SEQUENCED).with_columns(last_sequence=last)
    rows = rows.with_columns(next_sequence=((pl.col("last_sequence").shift(1) + 1) % _SEQUENCES).over(_PRODUCER))
    runs = rows.group_by(_PRODUCER, maintain_order=True).agg(
        pl.col("base_sequence").first().alias("first_sequence"),
        pl.col("last_sequence").last(),
        pl.col("base").first().alias("first_offset"),
        pl.col("end").last().alias("end_offset"),
        pl.len().alias("batches"),
        (pl.col("base_sequence") != pl.col("next_sequence")).sum().alias("breaks"),
        pl.col("epoch").first().alias("first_epoch"),
        pl.col("epoch").last().alias("last_epoch"),
        *(pl.col(name).first().alias(f"first_{name}") for name in _PLACE),
    )
    steps = {} if one_epoch or runs["breaks"].sum() == 0 else _sequence_steps(rows, sources)
    named = runs.sort(_PRODUCER).iter_rows(named=True)
    return newest(tuple(_producer(row, steps.get(tuple(row[name] for name in _PRODUCER)), sources) for row in named))


def _producer(row: Mapping[str, int], step: SequenceStep | None, sources: Sequence[str]) -> ProducerRun:
    return ProducerRun(**{name: row[name] for name in _OF_A_PRODUCER}, first=_span(sources, row, "first_"), step=step)


def _sequence_steps(rows: pl.DataFrame, sources: Sequence[str]) -> dict[tuple[int, int], SequenceStep]:
    """Of each producer the first break at which the leader epoch changed too."""
    rows = rows.with_columns(before=pl.col("epoch").shift(1).over(_PRODUCER))
    apart = (pl.col("base_sequence") != pl.col("next_sequence")) & (pl.col("epoch") != pl.col("before"))
    first = rows.filter(apart).unique(_PRODUCER, keep="first", maintain_order=True)
    return {
        (row["producer_id"], row["producer_epoch"]): SequenceStep(
            expected=row["next_sequence"],
            found=row["base_sequence"],
            offset=row["base"],
            epoch_before=row["before"],
            epoch_after=row["epoch"],
            span=_span(sources, row),
        )
        for row in first.iter_rows(named=True)
    }


def _unread(frame: pl.DataFrame, sources: Sequence[str], refusals: Sequence[Refusal]) -> tuple[UnreadBytes, ...]:
    """Refusals in physical order, each with the offsets of the batches around it."""
    if not refusals:
        return ()
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
            span=Span(source=refusal.source, start=refusal.span_start, end=refusal.span_end),
        )
        for refusal, place in zip(ordered, behind, strict=True)
    )
