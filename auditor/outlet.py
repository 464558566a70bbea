"""Where a command's result goes: standard output, or a file that is never in the dump."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from auditor.config import AuditConfig, ConfigError
from auditor.config.settings import shortened
from auditor.dumps import DumpParts
from auditor.report.formats import FORMATS, PICTURE, keeps_promise
from auditor.streams import remark, require_stdout, say
from auditor.whole_files import whole_file
from parsers.files import found_at

TO_STDOUT: Final = "-"
TWO: Final = 2


def require_reports(config: AuditConfig) -> None:
    """For commands that tell a report, in as many formats as are asked for."""
    asked = [config.shown_format, *(name for name, _ in config.written_formats)]
    if PICTURE in asked:
        raise ConfigError(f"{config.named('format')}: {PICTURE} draws one partition: ask tidemark timeline for it")
    strange = next((name for name in asked if name not in FORMATS), None)
    if strange is not None:
        raise ConfigError(f"{config.named('format')}: expected {one_of(FORMATS)}, found {shortened(strange)}")


def require_one_of(config: AuditConfig, formats: Sequence[str]) -> None:
    """For commands that tell one thing, in one of a few formats."""
    name = config.named("format")
    if config.written_formats:
        raise ConfigError(f"{name}: this command writes one result: give the format alone, and --output FILE")
    if config.shown_format not in formats:
        raise ConfigError(f"{name}: expected {one_of(formats)}, found {shortened(config.shown_format)}")


def one_of(words: Collection[str]) -> str:
    """Words to choose from."""
    return f"one of {', '.join(words)}" if len(words) > TWO else " or ".join(words)


def require_writable(config: AuditConfig, dump: DumpParts) -> None:
    """Asked before the audit, so that a long run does not end in nothing."""
    if config.output == TO_STDOUT:
        require_stdout()
    else:
        _require_file(Path(config.output), config.shown_format, config.named("output"), config, dump)
    for written_format, file in config.written_formats:
        _require_file(Path(file), written_format, config.named("format"), config, dump)
    files = [os.path.realpath(file) for _, file in config.written_formats]
    files += [] if config.output == TO_STDOUT else [os.path.realpath(config.output)]
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise ConfigError(f"{config.named('format')}: {twice} would take two formats")


def _require_file(output: Path, written_format: str, name: str, config: AuditConfig, dump: DumpParts) -> None:
    if dump.holds(output):
        raise ConfigError(f"{name}: {output} lies inside the dump, which is never written into: give a place outside")
    require_place(output, name)
    if not keeps_promise(output.suffix.lower(), written_format):
        raise ConfigError(
            f"{name}: {output} would hold the format {written_format}, which its name does not promise: "
            f"give another --format, or another name"
        )
    if found_at(output) == "a regular file" and not config.force:
        raise ConfigError(f"{name}: {output} is there already: give another name, or --force to replace it")


def require_place(output: Path, name: str) -> None:
    """A file can be written there."""
    found, around = found_at(output), output.absolute().parent
    if found == "a folder" or found_at(around) != "a folder":
        instead = f"{output} is a folder" if found == "a folder" else f"there is no folder {around}"
        raise ConfigError(f"{name}: {output}: expected a file in a folder that exists; {instead}")
    if not found.startswith("a") and found != "nothing":
        raise ConfigError(f"{name}: {output}: {found}")
    if found in ("nothing", "a regular file") and not os.access(Path(os.path.realpath(output)).parent, os.W_OK):
        raise ConfigError(f"{name}: {output}: nothing can be written in its folder")


def deliver(text: str, config: AuditConfig) -> None:
    """The text to where it was asked for."""
    if config.output == TO_STDOUT:
        say(text)
    else:
        deliver_to(text, config.output, config.named("output"), config)
        if not config.quiet:
            remark(f"The result is in {config.output}.")


def terminal_width(config: AuditConfig) -> int | None:
    """The columns of the terminal on which the result is read; None where a file or a pipe takes it."""
    if config.output != TO_STDOUT or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def deliver_to(text: str, file: str, name: str, config: AuditConfig) -> None:
    """The text to a file, whole or not at all; `name` is how whoever asked for it said so."""
    output = Path(file)
    try:
        if found_at(output) in ("nothing", "a regular file"):
            # Through a link to where it leads; a dump's file of the same bytes keeps its own name and content.
            with whole_file(Path(os.path.realpath(output)), replace=config.force) as written:
                written.write(text)
        else:
            with output.open("w", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{name}: {output} has come to be while the audit ran; it is left as it is") from error
    except OSError as error:
        raise ConfigError(f"{name}: cannot write {output}: {error.strerror}") from error
