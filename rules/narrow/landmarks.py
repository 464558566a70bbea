"""The statements of a busy request log that rules over time need, where one a request would be far too many.

A follower's fetches form runs in which nothing changes but how far it has got: its offset and the high watermark that
it is told only rise, request after request. Of a run are kept the first, the last two, and the last of every cell of a
grid of times. Whatever ends a run is remarkable: another session, epoch, error, divergence, log start or doubt; an
offset or a high watermark that falls; an offset regained that it had held before; a clock that goes back; a pause.

Between two statements kept, the ones left out lie between them in every value. So a follower stands, as the replay has
it, between its last statement and its next one; an interval can only widen. Cells are short enough for every limit of
time that the replay knows, however few they are.

Consumers and producers come in any number and interleave. Each one's runs keep their first and last; the grid is the
partition's, and of each of its cells are kept the extremes: how far was acknowledged, and from where after a loss.
"""

from __future__ import annotations

from typing import Final

import polars as pl

WHOLE: Final = 1 << 13
"""Stretches of no more statements than this are to be kept as they are."""
LONGEST_CELL_MS: Final = 10_000
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

MOST_CELLS: Final = 256
_LEAST: Final = 8
_ROWS: Final = 1 << 31
"""More than the rows of a stretch: a stream and a place make one number by which both are sorted."""
_CELLS: Final = 1 << 11
"""Cells of all streams together: each has at least some of them, and at most many."""

_PARTITION: Final = ("topic", "topic_id", "partition")
_ASKER: Final = (*_PARTITION, "replica")
_READER: Final = (*_PARTITION, "client_id", "session")
_WRITER: Final = (*_PARTITION, "acks", "client_id")
_STATE: Final = (
    "last_fetched_epoch", "current_leader_epoch", "error_code", "leader_log_start_offset", "diverging_epoch",
    "possibly_stale",
)  # fmt: skip
_OF_RUNS: Final = (
    "place", "stream", "cell", "time", "last_time", "times", "session", "fetch_offset", "high_watermark", *_STATE,
)  # fmt: skip

_TIME: Final = pl.col("time")
_OFFSET: Final = pl.col("fetch_offset")
_WATERMARK: Final = pl.col("high_watermark")
_UNTOLD: Final = (_WATERMARK < 0).alias("untold")


def landmarks(
    fetches: pl.DataFrame, produces: pl.DataFrame, cells: int = MOST_CELLS
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Which rows are kept: their `place`, and how many statements are `left_out` behind each.

    Of produces also whether the `end_left_out` of the batch may be told by a statement that is left out.

    The columns are those of what a fetch and a produce tell, times in milliseconds, and NONE where nothing is told.
    """
    place = pl.col("place").cast(pl.Int64)
    fetches = fetches.with_row_index("place").with_columns(stream=place.first().over(_ASKER))
    produces = produces.with_row_index("place")
    first, width = _grid(fetches, produces, cells)
    cell = ((_TIME - first) // width).alias("cell")
    highest = _WATERMARK.cum_max().over(_PARTITION).alias("highest")
    rows = fetches.with_columns(cell, highest)
    followers = _of_followers(rows.filter(pl.col("replica") >= 0), width)
    readers = _of_readers(rows.filter(pl.col("replica") < 0))
    kept = pl.concat([followers, readers]).sort("place")
    out = fetches.filter(~pl.col("place").is_in(kept["place"].implode())).select(*_PARTITION, offset="fetch_offset")
    return kept, _of_writers(produces.with_columns(cell), out)


def _grid(fetches: pl.DataFrame, produces: pl.DataFrame, most: int) -> tuple[int, int]:
    """Where the first cell begins, and how long each is: as many as the streams of the stretch may have."""
    streams = fetches["stream"].n_unique() + produces.select(*_PARTITION, "acks").n_unique()
    cells = max(_LEAST, min(most, _CELLS // max(1, streams)))
    times = pl.concat([fetches["time"], produces["time"]])
    bounds = times.filter(times != NONE).to_frame().select(first=_TIME.min(), last=_TIME.max()).row(0)
    first, last = bounds if bounds[0] is not None else (0, 0)
    return first, min(LONGEST_CELL_MS, max(1, (last - first) // cells))


def _of_followers(rows: pl.DataFrame, width: int) -> pl.DataFrame:
    """Each follower's runs of fetches, on a grid of its own."""
    ended = pl.when(pl.col("last_time") == NONE).then(_TIME).otherwise(pl.col("last_time"))
    pause = max(PAUSE_MS, width)
    ordered = _by_stream(rows.select(_OF_RUNS)).with_columns(
        _UNTOLD,
        regaining=_OFFSET.cum_max().over("stream") > _OFFSET,
        falls=(_OFFSET.shift(1) > _OFFSET) | (_WATERMARK.shift(1) > _WATERMARK),
        waits=(_TIME - ended.shift(1) > pause) | (ended.shift(1) - PAUSE_MS > _TIME) | (_TIME == NONE),
    )
    begins = _changed("stream", "session", "regaining", "untold", *_STATE) | pl.col("falls") | pl.col("waits")
    runs = ordered.with_columns(begins=begins.fill_null(value=True))
    ends = _last_before("begins", 1) | _last_before("begins", 2) | _last_of("cell")
    return _told(runs.with_columns(kept=pl.col("begins") | ends))


def _of_readers(rows: pl.DataFrame) -> pl.DataFrame:
    """Consumers: the runs of each session, and the furthest and the last of a partition in every cell."""
    beyond = (pl.col("highest") < _OFFSET).alias("beyond")
    ordered = _in_streams(rows, _READER).with_columns(_UNTOLD, beyond)
    begins = _changed("stream", "untold", "beyond", *_STATE) | (_TIME == NONE)
    runs = ordered.with_columns(begins=begins.fill_null(value=True))
    marks = _extremes(rows, _PARTITION, _OFFSET)
    kept = pl.col("begins") | _last_before("begins", 1) | pl.col("place").is_in(marks.implode())
    return _told(runs.with_columns(kept=kept))


def _of_writers(rows: pl.DataFrame, fetches: pl.DataFrame) -> pl.DataFrame:
    """Producers: the runs of each one's answers, and the lowest and the furthest of a partition in every cell.

    `fetches` are the positions that are left out: batches end there, and where the answers that are left out begin.
    """
    ordered = _in_streams(rows, _WRITER)
    runs = ordered.with_columns(begins=(_changed("stream", "error_code") | (_TIME == NONE)).fill_null(value=True))
    marks = _extremes(rows.filter(pl.col("error_code") == 0), (*_PARTITION, "acks"), pl.col("base_offset"))
    kept = pl.col("begins") | _last_before("begins", 1) | pl.col("place").is_in(marks.implode())
    marked = runs.with_columns(kept=kept)
    told = _told(marked, *_PARTITION, "base_offset")
    out = pl.concat([fetches, marked.filter(~pl.col("kept")).select(*_PARTITION, offset="base_offset")])
    furthest = out.group_by(_PARTITION).agg(furthest=pl.col("offset").max())
    beyond = pl.col("furthest").fill_null(NONE) > pl.col("base_offset")
    joined = told.join(furthest, on=_PARTITION, how="left")
    return joined.select("place", "left_out", end_left_out=beyond).sort("place")


def _in_streams(rows: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The rows of each stream together, in the order of the file; a stream is numbered by its first row."""
    return _by_stream(rows.with_columns(stream=pl.col("place").cast(pl.Int64).first().over(keys)))


def _by_stream(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort(pl.col("stream") * _ROWS + pl.col("place").cast(pl.Int64))


def _changed(*columns: str) -> pl.Expr:
    """Whether any of some columns differs from the row before; null in the first row."""
    return pl.any_horizontal(pl.col(column) != pl.col(column).shift(1) for column in columns)


def _last_before(column: str, distance: int) -> pl.Expr:
    """Whether the row so many places on has it, or there is none."""
    return pl.col(column).shift(-distance, fill_value=True)


def _last_of(column: str) -> pl.Expr:
    return (pl.col(column) != pl.col(column).shift(-1)).fill_null(value=True)


def _extremes(rows: pl.DataFrame, keys: tuple[str, ...], offset: pl.Expr) -> pl.Series:
    """Places of the lowest, the furthest and the last row of every cell."""
    place = pl.col("place")
    marks = rows.group_by(*keys, "cell").agg(
        lowest=place.get(offset.arg_min()), furthest=place.get(offset.arg_max()), last=place.last()
    )
    return pl.concat([marks["lowest"], marks["furthest"], marks["last"]])


def _told(runs: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The rows kept, each with how many statements are left out between it and the next one of its stream."""
    out = pl.when("kept").then(0).otherwise(pl.col("times")).cum_sum().alias("out")
    total = pl.lit(int(runs.select(out).tail(1)["out"].sum()))
    kept = runs.with_columns(out).filter("kept")
    left_out = pl.col("out").shift(-1).fill_null(total) - pl.col("out")
    return kept.with_columns(left_out=left_out.cast(pl.Int64)).select("place", "left_out", *columns)
