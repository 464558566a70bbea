"""The process of a command: its streams, its signals, and the one sentence and code that it ends with."""

from __future__ import annotations

import os
import re
import sys
import traceback
from pathlib import Path
from typing import Final, NoReturn

from auditor.exit_codes import ExitCode
from auditor.floors import require_address_space
from auditor.start_up import own_process
from auditor.stopping import end_at_once_with, is_telling, listen, was_stopped
from auditor.streams import Undelivered, own_streams, remark

NO_VALUE: Final = re.compile(r"(?:--[a-z-]+=)?")
"""An argument that says nothing, or an option whose value does."""

ASKS_NOTHING: Final = frozenset({"-h", "--help", "--version"})
MORE_MEMORY: Final = "raise its limit (ulimit -v, the container, spark.executor.pyspark.memory) or audit fewer topics"


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence on stderr and a code of the table."""
    # A stop may come while the commands are being loaded.
    listen()
    own_streams()
    own_process()
    code = _ended_with()
    end_at_once_with(code)
    raise SystemExit(code)


def _ended_with() -> int:
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _say_stopped()
    except MemoryError as error:
        code = _end(f"out of memory: {str(error) or 'none was left'}; {MORE_MEMORY}", ExitCode.OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 - the last resort of the process
        # While a class is being made, Python 3.11 hides a stop behind an error of its own.
        code = _say_stopped() if isinstance(error.__cause__, KeyboardInterrupt) else _fail(error)
    return int(ExitCode.INTERRUPTED if was_stopped() else code)


def _run() -> int:
    empty = next((word for word in sys.argv[1:] if NO_VALUE.fullmatch(word)), None)
    if empty is not None:
        named = f"{empty} has no value" if empty else "an argument is empty"
        remark(f"{named}: is a variable of the command unset?")
        return int(ExitCode.COULD_NOT_RUN)
    if not ASKS_NOTHING.intersection(sys.argv):
        require_address_space()
    from auditor.cli.completion import answered

    if answered(sys.argv[1:]):
        return int(ExitCode.CLEAN)
    from auditor.cli.commands import app

    try:
        app(prog_name="tidemark")
    except SystemExit as end:
        # Typer ends a command that was stopped without a word.
        spoken = end.code != ExitCode.INTERRUPTED or is_telling()
        return int(end.code or 0) if spoken else _say_stopped()
    return int(ExitCode.CLEAN)


def _say_stopped() -> int:
    done = "while the result was being told" if is_telling() else "before anything was known"
    remark(f"stopped from outside {done}")
    return int(ExitCode.INTERRUPTED)


def _fail(error: Exception) -> int:
    from auditor.config import ConfigError

    if isinstance(error, ConfigError | Undelivered):
        return _end(str(error), ExitCode.COULD_NOT_RUN)
    if isinstance(error, FileNotFoundError) and not _stands_somewhere():
        return _end("the current folder is gone: change to one that exists", ExitCode.COULD_NOT_RUN)
    if os.environ.get("TIDEMARK_DEBUG"):
        traceback.print_exception(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    words = f"{type(error).__name__}: {error} ({place})"
    return _end(f"internal error: {words}; set TIDEMARK_DEBUG=1 for the trace", ExitCode.INTERNAL_ERROR)


def _stands_somewhere() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _end(message: str, code: ExitCode) -> int:
    remark(message)
    return int(code)
