"""The one builder of sessions: what it refuses, what it sets, what it ships."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from spark_jobs.session import (
    PACKAGES,
    UnsupportedSparkError,
    build_session,
    packages_archive,
    require_supported_spark,
)


@pytest.mark.parametrize("version", ["3.5.8", "2.4.0", "not a version"])
def test_spark_below_the_floor_is_refused_with_what_to_do(version: str) -> None:
    with pytest.raises(UnsupportedSparkError, match=r"4\.0 or newer .* --engine local"):
        require_supported_spark(version)


@pytest.mark.parametrize("version", ["4.0.0", "4.3.0", "4.1.0.dev1"])
def test_spark_from_the_floor_on_is_taken(version: str) -> None:
    require_supported_spark(version)


def test_the_archive_for_executors_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    archives = packages_archive(first), packages_archive(second)
    assert archives[0].name == archives[1].name
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_the_archive_holds_the_four_packages_and_no_compiled_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(packages_archive(tmp_path)) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == set(PACKAGES)
    assert {f"{package}/__init__.py" for package in PACKAGES} <= set(names)
    assert not [name for name in names if "__pycache__" in name]


def test_a_session_speaks_utc_runs_on_loopback_and_leaves_no_litter(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"
    assert spark.sparkContext.uiWebUrl is None
    assert not (Path.cwd() / "spark-warehouse").exists()


def test_a_running_session_is_taken_as_it_is(spark: SparkSession) -> None:
    assert build_session("another", "local[1]") is spark


def test_workers_run_this_interpreter_and_find_our_packages(spark: SparkSession) -> None:
    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from parsers.refusal import shorten

        list(batches)
        yield pa.RecordBatch.from_pydict({"python": [shorten(sys.executable)]})

    told = spark.range(1).repartition(1).mapInArrow(ask, "python string").collect()
    assert {row.python for row in told} == {sys.executable}


def test_what_a_worker_has_loaded_is_no_garbage_of_later_tasks(spark: SparkSession) -> None:
    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc

        list(batches)
        yield pa.RecordBatch.from_pydict({"aside": [gc.get_freeze_count()], "left": [len(gc.get_objects())]})

    tasks = spark.range(0, 8, 1, 8).mapInArrow(ask, "aside long, left long").collect()
    assert any(task.aside > task.left for task in tasks)


def test_nobody_else_may_speak_to_a_worker(spark: SparkSession) -> None:
    told = spark.sparkContext.getConf()
    assert told.get("spark.python.unix.domain.socket.enabled") == "true"
    folder = Path(told.get("spark.python.unix.domain.socket.dir", ""))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert spark.range(4).repartition(2).rdd.map(str).count() == 4
    assert [found for found in folder.iterdir() if found.is_socket()] != []
