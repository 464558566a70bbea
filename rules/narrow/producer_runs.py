"""What each producer wrote, from batch headers: the first and the last sequence, and where sequences do not meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import polars as pl

from rules.facts.producers import KEEP_STEPS, SEQUENCES
from rules.facts.producing import BatchTime, EpochFall, ProducerFence, ProducerRun, SequenceStep, StepFields
from rules.narrow.stretch_totals import APPEND_TIME, PLACE, span_of

_PRODUCER: Final = ("producer_id", "producer_epoch")
_OF_A_PRODUCER: Final = (
    *_PRODUCER, "first_sequence", "last_sequence", "first_offset", "end_offset", "batches", "breaks", "first_epoch",
    "last_epoch",
)  # fmt: skip
_SHOWN: Final = (*PLACE, "max_timestamp", "by_broker")
_BEFORE: Final = (*_SHOWN, "epoch", "end")
_BROKEN: Final = pl.col("base_sequence") != pl.col("due_sequence")
_Key: TypeAlias = tuple[int, int]


def producers_of(
    written: pl.DataFrame, sources: Sequence[str], *, one_epoch: bool
) -> tuple[tuple[ProducerRun, ...], tuple[ProducerFence, ...]]:
    """The runs and fences of a stretch's producers: its batches with sequences and its markers, in physical order."""
    last = (pl.col("base_sequence").cast(pl.Int64) + pl.col("end") - pl.col("base") - 1) % SEQUENCES
    by_broker = (pl.col("magic") > 0) & (pl.col("marker") | ((pl.col("flags") & APPEND_TIME) != 0))
    written = written.with_columns(last_sequence=last, by_broker=by_broker)
    fences = tuple(_fences(written, sources)) if written["marker"].any() else ()
    rows = written.filter(~pl.col("marker")) if fences else written
    rows = rows.with_columns(due_sequence=((pl.col("last_sequence").shift(1) + 1) % SEQUENCES).over(_PRODUCER))
    runs = rows.group_by(_PRODUCER, maintain_order=True).agg(
        pl.col("base_sequence").first().alias("first_sequence"),
        pl.col("last_sequence").last(),
        pl.col("base").first().alias("first_offset"),
        pl.col("end").last().alias("end_offset"),
        pl.len().alias("batches"),
        _BROKEN.sum().alias("breaks"),
        pl.col("epoch").first().alias("first_epoch"),
        pl.col("epoch").last().alias("last_epoch"),
        *(pl.col(name).first().alias(f"first_{name}") for name in _SHOWN),
        *(pl.col(name).last().alias(f"last_{name}") for name in _SHOWN),
    )
    broken = {} if runs["breaks"].sum() == 0 else _first_steps(rows, sources)
    crossing = {} if one_epoch or not broken else _crossing(rows, sources)
    named = [(_key(row), row) for row in sorted(runs.iter_rows(named=True), key=_key)]
    fallen = _falls(written, sources) if _may_fall([key for key, _ in named], fences) else {}
    return tuple(_run(row, sources, broken.get(k, ()), crossing.get(k), fallen.get(k)) for k, row in named), fences


def _may_fall(written: Sequence[_Key], fences: Sequence[ProducerFence]) -> bool:
    """Whether some producer has several epochs, those of its markers included."""
    lowest = dict(reversed(written))
    highest = ((each.producer_epoch, lowest.get(each.producer_id)) for each in fences)
    return len(lowest) < len(written) or any(own is not None and own < epoch for epoch, own in highest)


def _fences(written: pl.DataFrame, sources: Sequence[str]) -> Iterator[ProducerFence]:
    """Of each producer the last marker of the highest epoch."""
    top = pl.col("producer_epoch") == pl.col("producer_epoch").max().over("producer_id")
    last = written.filter("marker").filter(top).unique("producer_id", keep="last", maintain_order=True)
    for row in last.sort("producer_id").iter_rows(named=True):
        yield ProducerFence(
            producer_id=row["producer_id"],
            producer_epoch=row["producer_epoch"],
            end_offset=row["end"],
            last_epoch=row["epoch"],
            last=span_of(sources, row, ""),
            last_time=_time(row, ""),
        )


def _run(
    row: Mapping[str, int],
    sources: Sequence[str],
    steps: tuple[SequenceStep, ...],
    crossing: SequenceStep | None,
    fall: EpochFall | None,
) -> ProducerRun:
    return ProducerRun(
        **{name: row[name] for name in _OF_A_PRODUCER},
        first=span_of(sources, row, "first_"),
        last=span_of(sources, row, "last_"),
        first_time=_time(row, "first_"),
        last_time=_time(row, "last_"),
        step=crossing,
        steps=steps,
        fall=fall,
    )


def _with_the_batch_before(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(**{f"before_{name}": pl.col(name).shift(1).over(_PRODUCER) for name in _BEFORE})


def _first_steps(rows: pl.DataFrame, sources: Sequence[str]) -> dict[_Key, tuple[SequenceStep, ...]]:
    """The first breaks of each producer."""
    found = _with_the_batch_before(rows).filter(_BROKEN).group_by(_PRODUCER, maintain_order=True).head(KEEP_STEPS)
    steps: dict[_Key, tuple[SequenceStep, ...]] = {}
    for row in found.iter_rows(named=True):
        steps[_key(row)] = (*steps.get(_key(row), ()), _step(row, sources))
    return steps


def _crossing(rows: pl.DataFrame, sources: Sequence[str]) -> dict[_Key, SequenceStep]:
    """Of each producer the first break at which the leader epoch changed too."""
    apart = _with_the_batch_before(rows).filter(_BROKEN & (pl.col("epoch") != pl.col("before_epoch")))
    first = apart.unique(_PRODUCER, keep="first", maintain_order=True)
    return {_key(row): _step(row, sources) for row in first.iter_rows(named=True)}


def _falls(written: pl.DataFrame, sources: Sequence[str]) -> dict[_Key, EpochFall]:
    """Of each producer and epoch the first batch behind one of a higher epoch, or behind a marker where none is."""
    own, marker = pl.col("producer_epoch"), pl.col("marker")
    numbered = written.with_row_index("row").with_columns(top=own.cum_max().over("producer_id"))
    of_top = pl.when(own == pl.col("top")).then("row")
    last = {
        "records": pl.when(~marker).then(of_top).forward_fill().over("producer_id", "top"),
        "markers": pl.when(marker).then(of_top).forward_fill().over("producer_id", "top"),
    }
    numbered = numbered.with_columns(**last).with_columns(last_of_top=pl.coalesce("records", "markers"))
    passed = {"higher": pl.col("top").shift(1), "behind": pl.col("last_of_top").shift(1)}
    below = numbered.with_columns(**{name: each.over("producer_id") for name, each in passed.items()})
    below = below.filter(~marker & (own < pl.col("higher"))).unique(_PRODUCER, keep="first", maintain_order=True)
    before = numbered.select(
        pl.col("row").alias("behind"), *(pl.col(name).alias(f"before_{name}") for name in (*_BEFORE, "marker"))
    )
    found = below.join(before, on="behind", how="left").iter_rows(named=True)
    return {
        _key(row): EpochFall(higher=row["higher"], fenced=row["before_marker"], **_between(row, sources))
        for row in found
    }


def _step(row: Mapping[str, int], sources: Sequence[str]) -> SequenceStep:
    return SequenceStep(expected=row["due_sequence"], found=row["base_sequence"], **_between(row, sources))


def _between(row: Mapping[str, int], sources: Sequence[str]) -> StepFields:
    """What a step tells of its two batches."""
    before, after = _time(row, "before_"), _time(row, "")
    return {
        "offset": row["base"],
        "epoch_before": row["before_epoch"],
        "epoch_after": row["epoch"],
        "span": span_of(sources, row, ""),
        "end_before": row["before_end"],
        "before": span_of(sources, row, "before_"),
        "time_before": before.time,
        "time_after": after.time,
        "broker_times": before.by_broker and after.by_broker,
    }


def _key(row: Mapping[str, int]) -> _Key:
    return row["producer_id"], row["producer_epoch"]


def _time(row: Mapping[str, int], prefix: str) -> BatchTime:
    return BatchTime(time=row[f"{prefix}max_timestamp"], by_broker=bool(row[f"{prefix}by_broker"]))
