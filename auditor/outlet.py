"""Where a command's result goes: standard output, or a file that is never in the dump."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from auditor.config import AuditConfig, ConfigError
from auditor.dumps import Dump

TO_STDOUT = "-"


def require_writable(config: AuditConfig, dump: Dump) -> None:
    """Asked before the audit, so that a long run does not end in nothing."""
    if config.output == TO_STDOUT:
        return
    output = Path(config.output)
    if dump.holds(output):
        raise ConfigError(f"--output: {output} lies inside the dump, which is never written into")
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise ConfigError(f"--output: {output}: expected a file in a folder that exists")


def deliver(text: str, config: AuditConfig) -> None:
    """The text to where it was asked for; the verdict stands, whoever stops listening."""
    if config.output == TO_STDOUT:
        _print(text)
        return
    try:
        Path(config.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--output: cannot write {config.output}: {error.strerror}") from error


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
