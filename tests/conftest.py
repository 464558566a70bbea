"""What every test may ask for: recorded incidents by name, one Spark session for the run, laws with a printed seed."""

from __future__ import annotations

import gc
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings

from tests.lab.effort import WHOLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer

    from tests.lab.workers import WholeFiles

SAMPLE_LOGS: Final = Path(__file__).resolve().parents[1] / "sample_logs"
SAMPLE_NAMES: Final = sorted(path.parent.name for path in SAMPLE_LOGS.glob("*/dump"))

# A law may be slow on a busy machine and still hold. In CI the same cases every time, so that more of them would show
# what the last run showed; elsewhere new ones.
settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True, max_examples=WHOLE // 2)
LAWS_HERE: Final = "ci" if os.environ.get("CI") else "here"
settings.load_profile(LAWS_HERE)
settings.register_profile("fast", settings.get_profile(LAWS_HERE), max_examples=WHOLE // 10)

SLOWNESS: Final = ("spark", "kafka")
MOST_WORKERS: Final = 4
"""At most so many processes unless -n asks for more: each takes memory, and one has Spark beside it."""
ONE_PROCESS: Final = ("keyword", "usepdb", "trace", "collectonly", "lf", "failedfirst", "stepwise", "setupshow")
"""Options of whoever looks at few tests or into one: workers would take longer to begin, or show nothing of it."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Spread the suite over all cores where it is asked for as a whole; where -n is given it holds."""
    if hasattr(config, "workerinput") or not config.pluginmanager.hasplugin("xdist"):
        return
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    watched = config.option.capture == "no" or any(config.getoption(name, None) for name in ONE_PROCESS)
    if whole and not watched and config.option.numprocesses is None:
        cores: int = config.hook.pytest_xdist_auto_num_workers(config=config)
        config.option.numprocesses = min(cores, MOST_WORKERS) if cores > 1 else 0


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of the laws ourselves, so that it can be printed before anything fails, and their effort."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("fast")
    if config.getoption("hypothesis_seed", None) is None and not settings().derandomize:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))
    if hasattr(config, "workerinput"):
        # pyspark takes a process whose main module is no file for a run of its own doctests, and ends it.
        sys.modules["__main__"].__file__ = pytest.__file__
    if config.getoption("numprocesses", None):
        config.option.dist, config.option.loadscopereorder, config.option.maxworkerrestart = "loadgroup", False, "0"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> WholeFiles:
    """However many workers there are (`-n`): one Spark session, one build of Kafka's code, each file in one piece."""
    from tests.lab.workers import WholeFiles

    return WholeFiles(config, log)


_TRIED: Final = {1: "all their cases", 2: "half of their cases", 10: "a tenth of their cases"}
"""How the header names the share of cases that a profile tries."""


def pytest_report_header(config: pytest.Config) -> str:
    """How to meet the same generated cases again."""
    seed = config.getoption("hypothesis_seed", None)
    tried = _TRIED[WHOLE // settings().max_examples]
    return f"laws on {tried}: " + (f"--hypothesis-seed={seed}" if seed else "the same in every run")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `sample_name` runs once for every recorded incident."""
    if "sample_name" in metafunc.fixturenames:
        metafunc.parametrize("sample_name", SAMPLE_NAMES)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses the session, skip what this machine cannot run, and put fast tests first."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    _skip(items, "spark", _missing_for_spark)
    _skip(items, "kafka", _missing_for_kafka)
    items.sort(key=_slowness)
    if hasattr(config, "workerinput"):
        from tests.lab.workers import one_begins_with

        one_begins_with(items, _slowness)


def pytest_collection_finish() -> None:
    """What is loaded by now stays for the whole run: the collector need not walk all of it again and again.

    Tests make many values and few cycles, so it need not come as often as in a program of unknown memory either.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _slowness(item: pytest.Item) -> int:
    return max((place for place, name in enumerate(SLOWNESS, start=1) if item.get_closest_marker(name)), default=0)


def _skip(items: list[pytest.Item], marker: str, missing: Callable[[], str | None]) -> None:
    marked = [item for item in items if item.get_closest_marker(marker)]
    reason = missing() if marked else None
    for item in marked if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason or ""))


def _missing_for_spark() -> str | None:
    from auditor.java import java_advice, search_java

    search = search_java()
    return None if search.runtime else java_advice(search)


def _missing_for_kafka() -> str | None:
    absent = [program for program in ("javac", "mvn") if shutil.which(program) is None]
    return f"Kafka's own code is the referee here and this machine lacks {' and '.join(absent)}" if absent else None


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands remember their last report beside the tests of this process, and never in a person's own cache."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def sample() -> Callable[[str], Path]:
    """The dump of a recorded incident, by its name."""

    def dump(name: str) -> Path:
        path = SAMPLE_LOGS / name / "dump"
        assert path.is_dir(), f"no sample {name}; there are {', '.join(SAMPLE_NAMES)}"
        return path

    return dump


@pytest.fixture
def sample_dump(sample_name: str, sample: Callable[[str], Path]) -> Path:
    """The dump of each recorded incident in turn."""
    return sample(sample_name)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of the run, built as the tool builds it."""
    from spark_jobs.session import build_session

    session = build_session("tidemark-tests", "local[2]")
    yield session
    session.stop()
