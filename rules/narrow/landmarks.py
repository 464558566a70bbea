"""The statements of a busy request log that rules over time need, where one a request would be far too many.

A follower's fetches form runs in which nothing changes but how far it has got: its offset and the high watermark that
it is told only rise, request after request. Of a run are kept the first, the last two, and the last of every cell of a
grid of times. Whatever ends a run is remarkable: another session, epoch, error, divergence, log start or doubt; an
offset or a high watermark that falls; a clock that goes back; a pause. Requests that say the same are kept together.

Between two statements kept, the ones left out lie between them in every value. So a follower stands, as the replay has
it, between its last statement and its next one; an interval can only widen. Cells are short enough for every limit of
time that the replay knows, however few they are.

Consumers and producers come in any number and interleave. Each one's runs keep their first and last; of each cell of
the partition are kept the extremes: how far was acknowledged, and from where after a loss.

What is kept of a statement hangs on its neighbours and on its cell alone, never on where a stretch begins. So stretches
are thinned each by itself, and once more together (`rejoined`): the same is kept wherever a log is cut.
"""

from __future__ import annotations

from typing import Final

import polars as pl

CELL_MS: Final = 5000
"""Statements with others left out between them are at most twice so far apart: less than a fetch may be in flight."""
PAUSE_MS: Final = 1000
"""A follower that is silent for longer than this, and than a cell, may have stopped: both ends are kept."""
NONE: Final = -(1 << 63)
"""Stands in every column for what is not told."""

TEXTS: Final = ("topic", "topic_id", "client_id")
"""Columns of texts, or of codes that stand for them."""
_NUMBERS: Final = (
    "replica", "session", "last_time", "fetch_offset", "last_fetched_epoch", "current_leader_epoch", "high_watermark",
    "leader_log_start_offset", "diverging_epoch", "possibly_stale",
)  # fmt: skip
_SHARED: Final = ("partition", "time", "times", "error_code")
FETCH_COLUMNS: Final = {**dict.fromkeys(TEXTS, pl.String), **dict.fromkeys((*_SHARED, *_NUMBERS), pl.Int64)}
PRODUCE_COLUMNS: Final = {
    **dict.fromkeys(TEXTS, pl.String), **dict.fromkeys((*_SHARED, "acks", "base_offset"), pl.Int64),
}  # fmt: skip

_ROWS: Final = 1 << 31
"""More than the rows of a stretch: a stream and a place make one number by which both are sorted."""

_PARTITION: Final = ("topic", "topic_id", "partition")
_ASKER: Final = (*_PARTITION, "replica")
_READER: Final = (*_PARTITION, "client_id", "session")
_WRITER: Final = (*_PARTITION, "acks", "client_id")
_STATE: Final = (
    "last_fetched_epoch", "current_leader_epoch", "error_code", "leader_log_start_offset", "diverging_epoch",
    "possibly_stale",
)  # fmt: skip
_TIME: Final = pl.col("time")
_OFFSET: Final = pl.col("fetch_offset")
_WATERMARK: Final = pl.col("high_watermark")
_UNTOLD: Final = (_WATERMARK < 0).alias("untold")


def landmarks(fetches: pl.DataFrame, produces: pl.DataFrame, width: int = CELL_MS) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Which rows of a stretch are kept: their `place`, and how many statements are `left_out` behind each.

    The columns are those of what a fetch and a produce tell, times in milliseconds, and NONE where nothing is told.
    """
    cell = (_TIME // width).alias("cell")
    known = pl.when(_WATERMARK < 0).then(NONE).otherwise(_WATERMARK).alias("high_watermark")
    rows = fetches.with_row_index("place").with_columns(cell, known)
    followers = _of_followers(rows.filter(pl.col("replica") >= 0), width)
    readers = _of_readers(rows.filter(pl.col("replica") < 0))
    writers = _of_writers(produces.with_row_index("place").with_columns(cell))
    return pl.concat([followers, readers]).sort("place"), writers


def _of_followers(rows: pl.DataFrame, width: int) -> pl.DataFrame:
    """Each follower's runs of fetches."""
    ended = pl.when(pl.col("last_time") == NONE).then(_TIME).otherwise(pl.col("last_time")).shift(1)
    pause = max(PAUSE_MS, width)
    ordered = _in_streams(rows, _ASKER).with_columns(
        _UNTOLD,
        falls=(_OFFSET.shift(1) > _OFFSET) | (_WATERMARK.shift(1) > _WATERMARK),
        waits=(_TIME - ended > pause) | (ended - PAUSE_MS > _TIME) | (_TIME == NONE),
    )
    begins = _changed("stream", "session", "untold", *_STATE) | pl.col("falls") | pl.col("waits")
    runs = ordered.with_columns(begins=begins.fill_null(value=True))
    alike = _numbered(runs, _changed("stream", "session", "fetch_offset", "high_watermark", *_STATE))
    firsts = _first_of_each(alike)
    ends = _last_before("begins", 1) | _last_before("begins", 2) | _last_of("cell")
    return _with_left_out(alike, firsts.select(kept=pl.col("begins") | ends)["kept"])


def _of_readers(rows: pl.DataFrame) -> pl.DataFrame:
    """Consumers: the runs of each session, and the extremes of a partition in every cell."""
    beyond = ((_WATERMARK >= 0) & (_WATERMARK < _OFFSET)).alias("beyond")
    ordered = _in_streams(rows, _READER).with_columns(_UNTOLD, beyond)
    begins = _changed("stream", "untold", "beyond", *_STATE) | (_TIME == NONE)
    runs = ordered.with_columns(begins=begins.fill_null(value=True))
    alike = _numbered(runs, _changed("stream", "fetch_offset", "high_watermark", *_STATE))
    firsts = _first_of_each(alike)
    marks = _extremes(firsts, _PARTITION, _OFFSET)
    kept = pl.col("begins") | _last_before("begins", 1) | pl.col("place").is_in(marks.implode())
    return _with_left_out(alike, firsts.select(kept=kept)["kept"])


def _of_writers(rows: pl.DataFrame) -> pl.DataFrame:
    """Producers: the runs of each one's answers, and the extremes of a partition in every cell."""
    ordered = _in_streams(rows, _WRITER)
    runs = ordered.with_columns(begins=(_changed("stream", "error_code") | (_TIME == NONE)).fill_null(value=True))
    marks = _extremes(runs.filter(pl.col("error_code") == 0), (*_PARTITION, "acks"), pl.col("base_offset"))
    kept = pl.col("begins") | _last_before("begins", 1) | pl.col("place").is_in(marks.implode())
    return _with_left_out(runs.with_row_index("statement"), runs.select(kept=kept)["kept"]).sort("place")


def _in_streams(rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The rows of each stream together, in the order of the file; a stream is numbered by its first row."""
    place = pl.col("place").cast(pl.Int64)
    return rows.with_columns(stream=place.first().over(keys)).sort(pl.col("stream") * _ROWS + place)


def _numbered(rows: pl.DataFrame, changed: pl.Expr) -> pl.DataFrame:
    """Rows with the number `statement` of what each says, together with those before it that say the same."""
    return rows.with_columns(statement=changed.fill_null(value=True).cum_sum() - 1)


def _first_of_each(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter((pl.col("statement") != pl.col("statement").shift(1)).fill_null(value=True))


def _changed(*columns: str) -> pl.Expr:
    """Whether any of some columns differs from the row before; null in the first row."""
    return pl.any_horizontal(pl.col(column) != pl.col(column).shift(1) for column in columns)


def _last_before(column: str, distance: int) -> pl.Expr:
    """Whether the row so many places on has it, or there is none."""
    return pl.col(column).shift(-distance, fill_value=True)


def _last_of(column: str) -> pl.Expr:
    return (pl.col(column) != pl.col(column).shift(-1)).fill_null(value=True)


def _extremes(rows: pl.DataFrame, keys: tuple[str, ...], offset: pl.Expr) -> pl.Series:
    """Places of the lowest, the furthest and the last row of every cell, beside those that begin a stream.

    Those are kept anyway, and may go on with what another stretch began in another cell.
    """
    place = pl.col("place")
    marks = (
        rows.filter(place.cast(pl.Int64) != pl.col("stream")).sort("place").group_by(*keys, "cell", maintain_order=True)
    ).agg(lowest=place.get(offset.arg_min()), furthest=place.get(offset.arg_max()), last=place.last())
    return pl.concat([marks["lowest"], marks["furthest"], marks["last"]])


def _with_left_out(rows: pl.DataFrame, kept: pl.Series) -> pl.DataFrame:
    """The rows of what is kept, each with how many statements are left out between it and the next of its stream."""
    runs = rows.with_columns(kept=kept.gather(rows["statement"]))
    out = pl.when("kept").then(0).otherwise(pl.col("times")).cum_sum().alias("out")
    total = pl.lit(int(runs.select(out).tail(1)["out"].sum()))
    left = runs.with_columns(out).filter("kept")
    left_out = pl.col("out").shift(-1).fill_null(total) - pl.col("out")
    return left.with_columns(left_out=left_out.cast(pl.Int64)).select("place", "left_out")
