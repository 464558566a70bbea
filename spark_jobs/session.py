"""The only builder of a Spark session: on this machine, on a cluster, or inside what spark-submit has started."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from auditor.floors import OLDEST_SPARK, dotted, major_minor
from auditor.java import cache_dir, use_java

PACKAGES: Final = ("auditor", "parsers", "rules", "spark_jobs")
ARROW_BATCH_ROWS: Final = 65_536
LOOPBACK: Final = "127.0.0.1"
WORDS_OF_JVM: Final = 4096
"""Of what a JVM says that does not start, so many bytes are told."""

LONGEST_FOLDER_OF_SOCKETS: Final = 60
"""A socket's path has 104 bytes at most; Spark names it by 42."""

_LOG_SETTINGS: Final = Path(__file__).resolve().with_name("log4j2.properties")

_ZIP_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip can hold: a fixed one, so that equal code gives an equal archive."""


class UnsupportedSparkError(RuntimeError):
    """The installed pyspark is below the floor; the message says what to do."""


def build_session(app_name: str, master: str | None = None) -> SparkSession:
    """A session with our code at hand on every executor.

    Under spark-submit, or beside a session that is already running, master and settings are taken as they are.
    """
    require_supported_spark(pyspark.__version__)
    running = SparkSession.getActiveSession()
    if running is None:
        running = _start_session(app_name, master)
    # Workers of a local master under spark-submit look in their own environment only, which may lack our code.
    if _launched_by_submit() or not _is_local(running.sparkContext.master or ""):
        running.sparkContext.addPyFile(str(packages_archive()))
    return running


def stop_session() -> None:
    """End the application in order, so that the cluster counts it as finished and not as lost."""
    running = SparkSession.getActiveSession()
    if running is not None:
        running.stop()


def require_supported_spark(version: str) -> None:
    """Refuse a pyspark that lacks Python Data Sources and applyInArrow."""
    if major_minor(version) < OLDEST_SPARK:
        floor = dotted(OLDEST_SPARK)
        raise UnsupportedSparkError(
            f"Spark {floor} or newer is needed and pyspark {version} is installed: "
            f"run pip install 'pyspark>={floor}', or audit with --engine local."
        )


def _start_session(app_name: str, master: str | None) -> SparkSession:
    conf = SparkConf().setAppName(app_name)
    if _launched_by_submit():
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings = _SHARED_SETTINGS
    else:
        use_java()
        chosen = master or "local[*]"
        conf.setMaster(chosen)
        settings = _SHARED_SETTINGS | _own_settings(chosen)
    for key, value in settings.items():
        conf.set(key, value)
    if not _launched_by_submit() and SparkContext._gateway is None:  # noqa: SLF001 - whether a JVM runs already
        _start_apart(conf)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _start_apart(conf: SparkConf) -> None:
    """Start the JVM with its warnings kept from whoever reads ours; where it does not start, they are told."""
    with tempfile.TemporaryFile() as said:
        try:
            gateway = launch_gateway(conf, popen_kwargs={"stderr": said})  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            said.seek(0)
            words = said.read(WORDS_OF_JVM).decode("utf-8", "replace").split()
            raise RuntimeError(" ".join([str(error), *words])) from error
        SparkContext(conf=conf, gateway=gateway)


def _launched_by_submit() -> bool:
    # spark-submit has the JVM up before Python starts, and tells it by this variable.
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


_SHARED_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_BATCH_ROWS),
}


_QUICK_START: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The work is done in Python and Arrow: compiling the JVM's own code to the last takes one machine longer than it."""


def _own_settings(master: str) -> dict[str, str]:
    """Settings of a session that we start ourselves; a cluster's own choices are left to it."""
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": (Path(tempfile.gettempdir()) / "tidemark-warehouse").as_uri(),
    }
    if not _is_local(master):
        python = os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return settings | {"spark.pyspark.python": python}
    # Without this a worker takes the first Python on PATH, which lacks our packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    settings["spark.driver.extraJavaOptions"] += f" {_QUICK_START}"
    return settings | _quick_workers() | {
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": str(_source_root()),
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(max(4, os.cpu_count() or 1)),
    }


def _quick_workers() -> dict[str, str]:
    """Settings with which a task of no size takes a third of the time: many small files are such tasks."""
    settings = {"spark.python.daemon.module": "spark_jobs.python_daemon"}
    if os.name != "posix":
        return settings
    folder = tempfile.mkdtemp(prefix="tidemark-")  # for this user alone
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if len(folder) > LONGEST_FOLDER_OF_SOCKETS:
        return settings
    # Spark 4.1 and newer; over loopback a worker's answer takes twice as long.
    return settings | {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": folder,
    }


def _source_root() -> Path:
    return Path(__file__).resolve().parents[1]


def packages_archive(folder: Path | None = None) -> Path:
    """The four packages as one zip for executors; the same code always gives the same bytes and the same name."""
    sources = [(path.relative_to(_source_root()).as_posix(), path.read_bytes()) for path in _package_files()]
    digest = hashlib.sha256()
    for name, content in sources:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    target = (folder or _archive_dir()) / f"tidemark-{digest.hexdigest()[:16]}.zip"
    if not target.is_file():
        handle, draft = tempfile.mkstemp(dir=target.parent, suffix=".zip")
        with os.fdopen(handle, "wb") as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sources:
                archive.writestr(zipfile.ZipInfo(name, _ZIP_EPOCH), content, zipfile.ZIP_DEFLATED)
        # Whole or not at all: another driver may be shipping the same archive.
        Path(draft).replace(target)
    return target


def _package_files() -> list[Path]:
    found = (path for package in PACKAGES for path in (_source_root() / package).rglob("*"))
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def _archive_dir() -> Path:
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tidemark-"))
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="tidemark-"))
