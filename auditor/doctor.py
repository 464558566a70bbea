"""What this machine has for an audit, and what to do about what it lacks; starts no JVM but to ask its version."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from auditor.floors import OLDEST_PYTHON, OLDEST_SPARK, dotted, major_minor
from auditor.java import JavaSearch, cache_dir, java_advice, search_java

Condition = Literal["good", "weak", "missing"]

LITTLE_MEMORY: Final = 4 << 30
PACKAGES: Final = ("polars", "pyarrow", "numpy", "pandas", "cramjam", "great-expectations", "typer", "rich", "pyyaml")
REINSTALL: Final = "pip install --force-reinstall"

_MARKS: Final[dict[Condition, str]] = {"good": "ok", "weak": "weak", "missing": "MISSING"}
_CGROUP_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class Check(Struct, frozen=True, kw_only=True):
    """One thing an audit needs: what was found of it, and what to do if that is not enough."""

    name: str
    found: str
    condition: Condition = "good"
    advice: str = ""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All checks, in the order they are printed."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[Check, ...]:
        """The checks that call for something to be done."""
        return tuple(check for check in self.checks if check.condition != "good")

    @property
    def ready(self) -> bool:
        """Whether every engine can run here; a weakness slows a run or narrows it, but does not stop it."""
        return all(check.condition != "missing" for check in self.checks)


def diagnose() -> Diagnosis:
    """Look at this machine and this environment."""
    return Diagnosis(
        checks=(
            check_python(sys.version_info[:2]),
            check_java(search_java()),
            check_spark(installed("pyspark")),
            check_memory(available_memory()),
            check_cores(available_cores()),
            check_cache(cache_dir()),
            check_kernels(installed("numba")),
            check_crc32c(),
            *(check_package(name, installed(name)) for name in PACKAGES),
        )
    )


def render(diagnosis: Diagnosis) -> str:
    """One line a check, its advice below it, and a last line that says where one stands."""
    width = max(len(check.name) for check in diagnosis.checks)
    lines = []
    for check in diagnosis.checks:
        lines.append(f"{_MARKS[check.condition]:<7}  {check.name:<{width}}  {check.found}")
        if check.advice:
            lines.append(f"{'':<{width + 11}}→ {check.advice}")
    lines.append(_closing_line(diagnosis))
    return "\n".join(lines) + "\n"


def _closing_line(diagnosis: Diagnosis) -> str:
    if not diagnosis.problems:
        return "Everything an audit needs is here."
    names = ", ".join(check.name for check in diagnosis.problems)
    state = "Audits will run" if diagnosis.ready else "Not every audit can run here"
    return f"{state}; look at: {names}."


def installed(package: str) -> str | None:
    """The version of a package, read from its metadata without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_python(spoken: tuple[int, int]) -> Check:
    """Python itself, and which one: a worker must run the same."""
    found = f"{platform.python_version()} at {sys.executable}"
    if spoken >= OLDEST_PYTHON:
        return Check(name="Python", found=found)
    advice = f"Install Python {dotted(OLDEST_PYTHON)} or newer."
    return Check(name="Python", found=found, condition="missing", advice=advice)


def check_java(search: JavaSearch) -> Check:
    """The Java that Spark will run on, and where it came from."""
    if search.runtime is None:
        return Check(name="Java", found="none that Spark can run on", condition="missing", advice=java_advice(search))
    runtime = search.runtime
    passed_over = [f"{place.origin}: {place.reason}" for place in search.refused if place.reason not in _EXPECTED]
    return Check(
        name="Java",
        found=f"{runtime.version} from {runtime.origin} at {runtime.home}",
        condition="weak" if passed_over else "good",
        advice=f"Passed over {'; '.join(passed_over)}." if passed_over else "",
    )


_EXPECTED: Final = frozenset({"not set", "no java there"})
"""Reasons to look further that need no one's attention."""


def check_spark(spoken: str | None) -> Check:
    """Spark, as the Python package brings it."""
    floor = dotted(OLDEST_SPARK)
    if spoken is None:
        return Check(name="Spark", found="pyspark is not installed", condition="missing", advice=_install("pyspark"))
    if major_minor(spoken) < OLDEST_SPARK:
        advice = f"Spark {floor} is the floor: pip install 'pyspark>={floor}', or audit with --engine local."
        return Check(name="Spark", found=f"pyspark {spoken}", condition="missing", advice=advice)
    return Check(name="Spark", found=f"pyspark {spoken} (a cluster must run {floor} or newer)")


def check_memory(size: int | None) -> Check:
    """Memory that this process may use."""
    if size is None:
        return Check(name="Memory", found="unknown", condition="weak", advice="This system does not tell.")
    found = f"{size / (1 << 30):.1f} GiB"
    if size >= LITTLE_MEMORY:
        return Check(name="Memory", found=found)
    return Check(name="Memory", found=found, condition="weak", advice="Spark is tight below 4 GiB: use --engine local.")


def check_cores(count: int) -> Check:
    """Cores that this process may use."""
    return Check(name="Cores", found=str(count))


def check_cache(folder: Path) -> Check:
    """Where compiled kernels, the Java wrapper and archives for executors are kept between runs."""
    if is_writable(folder):
        given = os.environ.get("XDG_CACHE_HOME", "")
        ignored = f" (XDG_CACHE_HOME is ignored, for {given} is a relative path)"
        return Check(name="Cache", found=f"{folder}{ignored * bool(given and not Path(given).is_absolute())}")
    advice = f"Kept in {tempfile.gettempdir()} for one run alone: slower. Set XDG_CACHE_HOME to a writable folder."
    return Check(name="Cache", found=f"{folder} cannot be written", condition="weak", advice=advice)


def check_kernels(numba: str | None) -> Check:
    """What walks segment headers: compiled kernels, or plain Python."""
    if numba is not None:
        return Check(name="Kernels", found=f"compiled (numba {numba})")
    return Check(name="Kernels", found="plain Python, much slower", condition="weak", advice=_install("numba"))


def check_crc32c() -> Check:
    """Whether checksums are computed by the processor or in Python."""
    try:
        from google_crc32c import implementation
    except ImportError:
        return Check(name="CRC-32C", found="not installed", condition="missing", advice=_install("google-crc32c"))
    found = f"google-crc32c {installed('google-crc32c')} ({implementation})"
    if implementation == "c":
        return Check(name="CRC-32C", found=found)
    advice = f"Its compiled part did not load: {REINSTALL} google-crc32c, or audit with --level quick."
    return Check(name="CRC-32C", found=found, condition="weak", advice=advice)


def check_package(name: str, spoken: str | None) -> Check:
    """A package the tool is built on."""
    if spoken is not None:
        return Check(name=name, found=spoken)
    return Check(name=name, found="not installed", condition="missing", advice=_install(name))


def _install(package: str) -> str:
    return f"pip install {package}, or let `python3 run.py setup` make the whole environment."


def available_cores() -> int:
    """The cores this process is allowed to run on, which in a container are fewer than the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory(limits: tuple[Path, ...] = _CGROUP_LIMITS) -> int | None:
    """The machine's memory, or the container's share of it where that is less."""
    sizes = [size for size in (machine_memory(), *map(_container_limit, limits)) if size is not None]
    return min(sizes, default=None)


def machine_memory() -> int | None:
    """Physical memory, where the system tells it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_limit(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def is_writable(folder: Path) -> bool:
    """Whether a file can be made there, tried by making one; the folder itself may not exist yet."""
    standing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=standing):
            return True
    except OSError:
        return False
