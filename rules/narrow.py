"""Rows to facts: folds over Arrow batches in physical order.

Law: `fold(a + b) == join(fold(a), fold(b))` (see `rules.join`) wherever a log is cut, so an engine may cut anywhere.
Dropped on the way: all of a batch that no rule asks for; lists of defects keep `KEEP` members and count the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import polars as pl
import pyarrow as pa

from parsers.provenance import Span
from parsers.tables import Refusal
from rules.facts import BucketDigest, ChecksumFault, EpochRun, LogFacts, OffsetStep, ProducerRun, UnreadBytes
from rules.join import KEEP

BUCKET_OFFSETS: Final = 8192
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_MIX: Final = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93, 0xA5CB9243F1CE4D27)


def fold(headers: pa.Table, sources: Sequence[str], refusals: Sequence[Refusal] = ()) -> LogFacts:
    """Facts of a stretch of log: its batch headers in physical order, each naming its source by the index `file`."""
    frame = _prepare(headers)
    if frame.is_empty():
        return _with_unread(LogFacts(), frame, sources, refusals)
    facts = replace(
        _totals(frame),
        epochs=_epoch_runs(frame, sources),
        digests=_digests(frame),
        producers=_producers(frame),
    )
    for add in (_with_steps, _with_checksum_faults, _with_header_faults):
        facts = add(facts, frame, sources)
    return _with_unread(facts, frame, sources, refusals)


def _prepare(headers: pa.Table) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(headers))
    return frame.with_columns(
        base=pl.coalesce("base_offset", "last_offset"),
        end=pl.col("last_offset") + 1,
        epoch=pl.coalesce("leader_epoch", pl.lit(-1)).cast(pl.Int64),
        flags=pl.coalesce("attributes", pl.lit(0)).cast(pl.Int64),
    )


def _totals(frame: pl.DataFrame) -> LogFacts:
    data, offsets = (pl.col("flags") & _CONTROL) == 0, pl.col("end") - pl.col("base")
    row = frame.select(
        batches=pl.len(),
        records=pl.col("record_count").sum(),
        bytes=pl.col("size").cast(pl.Int64).sum(),
        first_offset=pl.col("base_offset").first(),
        end_offset=pl.col("end").last(),
        min_timestamp=pl.col("max_timestamp").filter(pl.col("max_timestamp") >= 0).min(),
        max_timestamp=pl.col("max_timestamp").filter(pl.col("max_timestamp") >= 0).max(),
        magics=pl.col("magic").unique().sort().implode(),
        sparse_batches=(data & (pl.col("magic") == 2) & (pl.col("record_count") < offsets)).sum(),
        transactional_batches=((pl.col("flags") & _TRANSACTIONAL) != 0).sum(),
        control_batches=((pl.col("flags") & _CONTROL) != 0).sum(),
        unknown_bases=pl.col("base_offset").is_null().sum(),
    ).row(0, named=True)
    return LogFacts(**{**row, "magics": tuple(row["magics"])})


def _span(sources: Sequence[str], file: int, start: int, end: int) -> Span:
    return Span(source=sources[file], start=start, end=end)


def _epoch_runs(frame: pl.DataFrame, sources: Sequence[str]) -> tuple[EpochRun, ...]:
    runs = frame.group_by(pl.col("epoch").rle_id().alias("run"), maintain_order=True).agg(
        pl.col("epoch").first(),
        pl.col("base").first(),
        pl.col("end").last(),
        pl.len().alias("batches"),
        *(pl.col(name).first().alias(f"first_{name}") for name in ("file", "span_start", "span_end")),
        *(pl.col(name).last().alias(f"last_{name}") for name in ("file", "span_start", "span_end")),
    )
    return tuple(
        EpochRun(
            epoch=row["epoch"],
            start_offset=row["base"],
            end_offset=row["end"],
            batches=row["batches"],
            first=_span(sources, row["first_file"], row["first_span_start"], row["first_span_end"]),
            last=_span(sources, row["last_file"], row["last_span_start"], row["last_span_end"]),
        )
        for row in runs.iter_rows(named=True)
    )


def _with_steps(facts: LogFacts, frame: pl.DataFrame, sources: Sequence[str]) -> LogFacts:
    before = [pl.col(name).shift(1).alias(f"before_{name}") for name in ("file", "span_start", "span_end", "epoch")]
    pairs = frame.with_columns(pl.col("end").shift(1).alias("expected"), *before).filter(
        pl.col("base_offset").is_not_null() & (pl.col("base_offset") != pl.col("expected"))
    )
    gaps = pairs.filter(pl.col("base_offset") > pl.col("expected"))
    overlaps = pairs.filter(pl.col("base_offset") < pl.col("expected"))
    return replace(
        facts,
        gaps=tuple(_step(row, sources) for row in gaps.head(KEEP).iter_rows(named=True)),
        gap_count=gaps.height,
        gap_offsets=int((gaps["base_offset"] - gaps["expected"]).sum()),
        overlaps=tuple(_step(row, sources) for row in overlaps.head(KEEP).iter_rows(named=True)),
        overlap_count=overlaps.height,
    )


def _step(row: dict[str, int], sources: Sequence[str]) -> OffsetStep:
    return OffsetStep(
        expected=row["expected"],
        found=row["base_offset"],
        epoch_before=row["before_epoch"],
        epoch_after=row["epoch"],
        before=_span(sources, row["before_file"], row["before_span_start"], row["before_span_end"]),
        after=_span(sources, row["file"], row["span_start"], row["span_end"]),
    )


def _with_checksum_faults(facts: LogFacts, frame: pl.DataFrame, sources: Sequence[str]) -> LogFacts:
    faults = frame.filter(pl.col("crc_valid").eq(other=False))
    return replace(
        facts,
        checksums_verified=frame["crc_valid"].count(),
        checksum_faults=_batch_faults(faults, sources),
        checksum_fault_count=faults.height,
    )


def _with_header_faults(facts: LogFacts, frame: pl.DataFrame, sources: Sequence[str]) -> LogFacts:
    offsets = pl.col("end") - pl.col("base")
    faults = frame.filter(
        (pl.col("magic") == 2)
        & ((offsets < 1) | (pl.col("record_count") > offsets) | (pl.col("leader_epoch") < 0) | (pl.col("base") < 0))
    )
    return replace(facts, header_faults=_batch_faults(faults, sources), header_fault_count=faults.height)


def _batch_faults(faults: pl.DataFrame, sources: Sequence[str]) -> tuple[ChecksumFault, ...]:
    return tuple(
        ChecksumFault(
            base_offset=row["base"],
            end_offset=row["end"],
            leader_epoch=row["epoch"],
            span=_span(sources, row["file"], row["span_start"], row["span_end"]),
        )
        for row in faults.head(KEEP).iter_rows(named=True)
    )


def _digests(frame: pl.DataFrame) -> tuple[BucketDigest, ...]:
    parts = zip(("base", "end", "epoch", "size", "crc"), _MIX, strict=True)
    mixed = reduce(lambda seen, part: seen ^ part, (_word(name) * _u64(factor) for name, factor in parts))
    mixed = (mixed ^ (mixed // _u64(1 << 29))) * _u64(_MIX[1])
    sums = (
        frame.select(bucket=pl.col("base").floordiv(BUCKET_OFFSETS), mixed=mixed ^ (mixed // _u64(1 << 32)))
        .group_by("bucket")
        .agg(pl.len().alias("batches"), pl.col("mixed").sum().reinterpret(signed=True).alias("digest"))
        .sort("bucket")
    )
    return tuple(BucketDigest(**row) for row in sums.iter_rows(named=True))


def _word(name: str) -> pl.Expr:
    return pl.coalesce(name, pl.lit(-1)).cast(pl.Int64).reinterpret(signed=False)


def _u64(value: int) -> pl.Expr:
    return pl.lit(value, dtype=pl.UInt64)


def _producers(frame: pl.DataFrame) -> tuple[ProducerRun, ...]:
    """Markers carry a producer id and no sequence, so they do not take part."""
    of_producers = frame.filter((pl.col("producer_id") >= 0) & (pl.col("base_sequence") >= 0))
    if of_producers.is_empty():
        return ()
    delta = pl.col("end") - pl.col("base") - 1
    keys = ["producer_id", "producer_epoch"]
    last = (pl.col("base_sequence").cast(pl.Int64) + delta) % (1 << 31)
    rows = of_producers.with_columns(last_sequence=last).with_columns(
        due=((pl.col("last_sequence").shift(1) + 1) % (1 << 31)).over(keys)
    )
    runs = rows.group_by(keys, maintain_order=True).agg(
        pl.col("base_sequence").first().alias("first_sequence"),
        pl.col("last_sequence").last(),
        pl.col("base").first().alias("first_offset"),
        pl.col("end").last().alias("end_offset"),
        pl.len().alias("batches"),
        (pl.col("base_sequence") != pl.col("due")).sum().alias("breaks"),
    )
    return tuple(ProducerRun(**row) for row in runs.sort(keys).iter_rows(named=True))


def _with_unread(
    facts: LogFacts, frame: pl.DataFrame, sources: Sequence[str], refusals: Sequence[Refusal]
) -> LogFacts:
    ordered = sorted(refusals, key=lambda refusal: (sources.index(refusal.source), refusal.span_start))
    unread = tuple(_unread(refusal, frame, sources) for refusal in ordered[:KEEP])
    return replace(facts, unread=unread, unread_count=len(ordered))


def _unread(refusal: Refusal, frame: pl.DataFrame, sources: Sequence[str]) -> UnreadBytes:
    file = sources.index(refusal.source)
    before = frame.filter(
        (pl.col("file") < file) | ((pl.col("file") == file) & (pl.col("span_start") < refusal.span_start))
    )
    behind = frame.slice(before.height, 1)
    return UnreadBytes(
        kind=refusal.kind,
        expected_offset=before["end"][-1] if before.height else None,
        next_offset=behind["base"][0] if behind.height else None,
        found=f"expected {refusal.expected}, found {refusal.found}",
        span=Span(source=refusal.source, start=refusal.span_start, end=refusal.span_end),
    )
