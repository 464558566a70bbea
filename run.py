#!/usr/bin/env python3
"""Runs Tidemark from a bare checkout: `python3 run.py audit DUMP`, `python3 run.py test`.

Needs Python 3.11 or newer and nothing else. The first run makes `.venv` beside this file from requirements.lock, every
package checked against its hash; later runs only look at a stamp. This file must parse on older Pythons too, or they
could not be told what is wrong.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Iterator, NoReturn, Sequence

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = VENV / ".tidemark-stamp"
PACKAGES = ("parsers", "rules", "auditor", "spark_jobs")

OLDEST = (3, 11)
NEWEST = (3, 13)
"""The lock is known to install up to here; a newer Python is tried, with a warning."""

COULD_NOT_RUN = 2
REPORT_TAIL_LINES, SECONDS_OF_SILENCE = 25, 8

USAGE = """\
usage: python3 run.py COMMAND [ARGUMENT…]

  audit DUMP…     audit a dump: what happened on these disks; also postmortem, advise, timeline, find, salvage, show,
                  bundle, diff, quality, simulate, rules, explain, collect-script and doctor: see
                  `python3 run.py --help`
  test [ARG…]     run the tests, spread over the cores (-n 0: in one process); ARGs go to pytest
  lint            style, types and architecture
  check           lint, then test
  setup           only make the environment
  lock            remake requirements.lock from pyproject.toml, keeping pins that still fit (--upgrade renews them)
"""

HELP_LATER = """\
Each command tells its own options (`python3 run.py audit --help`) once `python3 run.py setup` has made the environment.
"""

LOCK_HEADER = """\
# Every package of the tool, its Java runtime (extra jvm) and its tests (extra dev): exact versions, with hashes.
# Remake after a change in pyproject.toml: python3 run.py lock      renew all versions: python3 run.py lock --upgrade
# Install by hand: python -m pip install --require-hashes --no-build-isolation -r requirements.lock
# (its pip and setuptools first: pyspark is published as source and is built with them).
"""


def main(arguments: Sequence[str]) -> int:
    """Make sure of the environment, then do what was asked in it."""
    if not arguments:
        sys.stderr.write(USAGE)
        return COULD_NOT_RUN
    require_python(arguments)
    if {"--help", "-h"}.intersection(arguments) and stamped() != fingerprint():
        print(f"{USAGE}\n{HELP_LATER}", end="")
        return 0
    ensure_environment()
    command, rest = arguments[0], list(arguments[1:])
    own = {"test": test, "lint": lint, "check": check, "setup": setup, "lock": lock}
    if command in own:
        return own[command](rest)
    return become([str(tool("tidemark")), *arguments])


def setup(_arguments: Sequence[str]) -> int:
    """Nothing more than the environment."""
    say(f"ready: {VENV}")
    return 0


def test(arguments: Sequence[str]) -> int:
    """The whole suite, spread over the cores; `-n 0` keeps it in one process."""
    os.chdir(ROOT)
    # Tests start hundreds of commands, and each would compile all modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return become([str(tool("python")), "-m", "pytest", *arguments])


def lint(_arguments: Sequence[str]) -> int:
    """Style, types and architecture; the first that fails ends it."""
    steps: tuple[list[str | Path], ...] = (
        [tool("ruff"), "check", "."],
        [tool("mypy"), *PACKAGES, "run.py"],
        [tool("python"), "-m", "pytest", "-q", "tests/test_architecture.py"],
    )
    return next((code for code in map(run, steps) if code), 0)


def check(arguments: Sequence[str]) -> int:
    """Everything that must hold before a change is handed on."""
    return lint(()) or test(arguments)


def lock(arguments: Sequence[str]) -> int:
    """Resolve for every supported Python and platform at once; the index's own hashes are taken over."""
    resolve: list[str | Path] = [
        tool("uv"), "pip", "compile", "--quiet", "--no-config", "--universal", "--python-version", "3.11",
        "--generate-hashes", "--extra", "jvm", "--extra", "dev", "--no-emit-index-url", "--no-emit-find-links",
        "--no-header", *arguments, "--output-file", LOCK.name, "pyproject.toml",
    ]  # fmt: skip
    code = run(resolve)
    if code == 0:
        pins = LOCK.read_text(encoding="utf-8")
        LOCK.write_text(LOCK_HEADER + pins.replace(LOCK_HEADER, ""), encoding="utf-8")
    return code


def require_python(arguments: Sequence[str]) -> None:
    """Go on with a fitting Python: this one, or another found on PATH."""
    version = sys.version_info[:2]
    if OLDEST <= version <= NEWEST:
        return
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        other = shutil.which(f"python3.{minor}")
        if other and answers([other, "-c", "import venv"]):
            become([other, str(ROOT / "run.py"), *arguments])
    spoken = ".".join(map(str, version))
    if version < OLDEST:
        stop(
            f"this is Python {spoken} ({sys.executable}) and no python3.11 or newer was found on PATH.",
            "Install Python 3.11 (python.org, pyenv, uv python install 3.11: none needs root) and run this with it.",
        )
    say(f"Python {spoken} is newer than any the lock was tried with; if the install fails, use Python 3.11 to 3.13")


def ensure_environment() -> None:
    """Make or mend `.venv`; a stamp written last tells a finished one from a half-made one."""
    wanted = fingerprint()
    if stamped() == wanted:
        return
    with only_one():
        if stamped() == wanted:
            return
        STAMP.unlink(missing_ok=True)
        if not environment_works():
            make_environment()
        install()
        STAMP.write_text(wanted, encoding="utf-8")
        say("ready")


def fingerprint() -> str:
    """What the environment depends on: the pins, the project's metadata, the Python and the place."""
    digest = hashlib.sha256()
    for part in (LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), sys.version.encode(), str(ROOT).encode()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def stamped() -> str | None:
    """The fingerprint the environment was finished with, if its interpreter is still there."""
    try:
        return STAMP.read_text(encoding="utf-8") if tool("python").exists() else None
    except OSError:
        return None


def environment_works() -> bool:
    """Whether what is there can be completed: an interpreter of this version and place, with pip."""
    told = f"import sys, pip; sys.exit(sys.version_info[:2] != {sys.version_info[:2]} or sys.prefix != {str(VENV)!r})"
    return tool("python").exists() and answers([tool("python"), "-I", "-c", told])


def make_environment() -> None:
    """An empty `.venv`, pip in it, by whatever this Python was given to make one."""
    say(f"making {VENV} with Python {sys.version.split()[0]}")
    python = sys.executable
    if find_spec("venv") and find_spec("ensurepip"):
        attempt([python, "-m", "venv", "--clear", VENV], "making the environment")
    elif find_spec("virtualenv"):
        attempt([python, "-m", "virtualenv", "--quiet", "--clear", VENV], "making the environment")
    elif find_spec("venv") and find_spec("pip"):
        attempt([python, "-m", "venv", "--clear", "--without-pip", VENV], "making the environment")
        with pins_of(["pip"]) as pins:
            pip: list[str | Path] = [python, "-m", "pip", "--python", tool("python"), "install", "--quiet"]
            attempt([*pip, "--require-hashes", "-r", pins], "installing pip")
    else:
        stop(
            f"{python} cannot make virtual environments: it came without venv or ensurepip.",
            "Debian and Ubuntu: apt install python3-venv. Without root: python3 -m pip install --user virtualenv,",
            "or a Python of your own (pyenv, uv python install 3.11, python.org); then run this command again.",
        )


def install() -> None:
    """The installers, then what the lock names, then this checkout; pip skips what a broken-off run had finished."""
    pip: list[str | Path] = [tool("python"), "-Im", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    with pins_of(("pip", "setuptools")) as pins:
        attempt([*pip, "--quiet", "--require-hashes", "-r", pins], "installing pip and setuptools")
    say("installing the packages of requirements.lock, each checked by its hash: once, minutes, 2 GB on disk")
    attempt([*pip, "--require-hashes", "--no-build-isolation", "-r", LOCK], "installing requirements.lock")
    attempt([*pip, "--quiet", "--no-deps", "--no-build-isolation", "--editable", ROOT], "installing this checkout")
    # On all cores, as pip does not; where Python is told to keep no bytecode, every command would compile all again.
    answers([tool("python"), "-Im", "compileall", "-qj0", *map(ROOT.joinpath, PACKAGES), VENV / "lib"])


@contextmanager
def pins_of(names: Sequence[str]) -> Iterator[Path]:
    """A requirements file with the lock's entries of these packages alone."""
    text = LOCK.read_text(encoding="utf-8")
    entries = re.findall(r"^\S+==[^\n]*(?:\n[ \t]+[^\n]*)*", text, flags=re.MULTILINE)
    chosen = [entry for entry in entries if entry.split("==")[0] in names]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pins.txt"
        path.write_text("\n".join(chosen) + "\n", encoding="utf-8")
        yield path


@contextmanager
def only_one() -> Iterator[None]:
    """Two first runs at once must not install over each other; the second waits and then finds the work done."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with Path(__file__).open(encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def tool(name: str) -> Path:
    """A program of the environment."""
    return VENV / "Scripts" / f"{name}.exe" if os.name == "nt" else VENV / "bin" / name


def clean_environment() -> dict[str, str]:
    """The environment of this process without what would send pip or Python elsewhere."""
    misleading = {"PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"}
    return {name: value for name, value in os.environ.items() if name not in misleading}


def answers(command: Sequence[str | Path]) -> bool:
    """Whether a command succeeds, quietly."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def attempt(command: Sequence[str | Path], purpose: str) -> None:
    """Run a step of the set-up, silent unless it fails or names one package after another for long."""
    tail, collected, said = deque([""], REPORT_TAIL_LINES), 0, time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment(), cwd=ROOT
    ) as running:
        for line in running.stdout or ():
            tail.append(line.decode(errors="replace").rstrip())
            collected += line.startswith(b"Collecting ")
            unpacking = line.startswith(b"Installing ")
            if unpacking or (line.startswith(b"Collecting ") and time.monotonic() - said >= SECONDS_OF_SILENCE):
                said = time.monotonic()
                say(f"packages collected: {collected}" + ", unpacking them for a minute or two" * unpacking)
    if running.returncode:
        stop(f"{purpose} failed ({running.returncode}):", "\n".join(tail), "Run this again: done steps are kept.")


def run(command: Sequence[str | Path]) -> int:
    """Run a tool of the environment from the top of the checkout; its exit code."""
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def become(command: Sequence[str]) -> NoReturn:
    """Turn into another program: its exit code, its streams and its signals are then its own."""
    if os.name == "nt":
        sys.exit(subprocess.run(command, check=False).returncode)
    if sys.stdout is not None:  # it may never have been open
        sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], list(command))


def say(message: str) -> None:
    """A line of progress; never on stdout, which belongs to results."""
    print(f"tidemark: {message}", file=sys.stderr, flush=True)


def stop(*lines: str) -> NoReturn:
    """End with the exit code for `could not run`."""
    say("\n".join(lines))
    sys.exit(COULD_NOT_RUN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
