"""Pages whose commands are run: every `console` block holds commands and what they print, word for word.

In a block, a line `$ COMMAND` is a command, and the lines up to the next one are its output. A line `…` stands for any
lines, and a line that ends in `…` for any line that begins so. `$ echo $?` prints the exit code of the command before
it. A block with a name, as in ```` ```yaml policy.yaml ````, is a file that the reader writes first.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from command import run
from dumps_at_hand import ROOT, SAMPLES

DOCS = ROOT / "docs"
LEFT_OUT = "…"
EXIT_CODE = "echo $?"
FENCE = re.compile(r"^```(?P<language>\w*)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
OF_A_SHELL = re.compile(r"[|><;&$*`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command, and what the page says that it prints."""

    command: str
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file that the page has its reader write."""

    name: str
    text: str


def steps(page: str) -> Iterator[Step | Written]:
    """What the reader of a page does, in order."""
    for block in FENCE.finditer(page):
        if block["name"]:
            yield Written(name=block["name"], text=block["body"])
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                command, *told = re.sub(r" \\\n\s*", " ", part).splitlines()
                yield Step(command=command, told=tuple(told))


def follow(page: str, place: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Do what a page says in the current folder, which is `place`; where it prints something else, the difference."""
    (place / "sample_logs").symlink_to(SAMPLES)
    (place / "spark_jobs").symlink_to(ROOT / "spark_jobs")
    code = 0
    for step in steps(page):
        if isinstance(step, Written):
            (place / step.name).write_text(step.text, encoding="utf-8")
            continue
        if step.command == EXIT_CODE:
            printed = str(code)
        else:
            code, printed = done(step.command, place, environment)
        yield from difference(step, printed)


def done(command: str, place: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit code and the output of a command; what needs no shell runs in this process."""
    if command.startswith("tidemark ") and OF_A_SHELL.search(command) is None:
        ended = run(*shlex.split(command)[1:], **environment)
        return ended.code, ended.out + ended.err
    told = {**os.environ, **environment, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    shell = subprocess.run(
        ["/bin/bash", "-c", command], cwd=place, env=told, capture_output=True, text=True, check=False, timeout=900
    )
    return shell.returncode, shell.stdout + shell.stderr


def difference(step: Step, printed: str) -> Iterator[str]:
    """Where a command printed something else than its page says."""
    lines = [line.rstrip() for line in printed.rstrip("\n").split("\n")] if printed.strip() else []
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else _line(line) + "\n" for line in step.told)
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is None:
        compared = difflib.unified_diff(step.told, lines, "the page", "the command", lineterm="", n=1)
        yield "\n".join((f"$ {step.command}", *compared))


def _line(told: str) -> str:
    return re.escape(told.removesuffix(LEFT_OUT)) + (".*" if told.endswith(LEFT_OUT) else "")
