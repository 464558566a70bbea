"""The command line run in this process, with its streams and its exit code caught."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from unittest import mock

from typer import main as typer_main

from auditor.cli import main
from auditor.stopping import STOPS

_built_once = cache(typer_main.get_command)
"""Making the commands takes longer than most of them; a process makes them once, and this is one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    """A stream in memory that may claim to be a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        content = self.buffer
        assert isinstance(content, io.BytesIO)
        return content.getvalue().decode("utf-8")


@contextmanager
def _as_before() -> Iterator[None]:
    """The process goes on: what a command does with its signals is undone."""
    handlers = {number: signal.getsignal(number) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def run(*words: str, terminal: bool = False, **variables: str) -> Ended:
    """`tidemark WORDS`; only stdout may be a terminal here."""
    out, err = _Stream(terminal=terminal), _Stream(terminal=False)
    environment = {"TERM": "xterm", "NO_COLOR": "", **variables}
    with (
        mock.patch.object(sys, "argv", ["tidemark", *words]),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.dict(os.environ, environment),
        mock.patch.object(typer_main, "get_command", _built_once),
        _as_before(),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return Ended(code=int(code or 0), out=out.text(), err=err.text())
