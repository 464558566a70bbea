"""Where a command's result goes: standard output, or a file that is never in the dump."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from auditor.config import AuditConfig, ConfigError
from auditor.dumps import Dump
from auditor.streams import require_stdout, say
from auditor.whole_files import whole_file
from parsers.files import found_at

TO_STDOUT: Final = "-"
WRITTEN_BY: Final = {".json": "json", ".html": "html", ".htm": "html"}
"""What the end of a file's name promises to those who open it."""


def require_writable(config: AuditConfig, dump: Dump) -> None:
    """Asked before the audit, so that a long run does not end in nothing."""
    if config.output == TO_STDOUT:
        require_stdout()
        return
    name, output = config.named("output"), Path(config.output)
    if dump.holds(output):
        raise ConfigError(f"{name}: {output} lies inside the dump, which is never written into")
    require_place(output, name)
    promised = WRITTEN_BY.get(output.suffix.lower(), config.format)
    if promised != config.format:
        raise ConfigError(
            f"{name}: {output} would hold the format {config.format}, which its name does not promise: "
            f"give --format or another name"
        )
    if found_at(output) == "a regular file" and not config.force:
        raise ConfigError(f"{name}: {output} is there already: give another name, or --force to replace it")


def require_place(output: Path, name: str) -> None:
    """A file can be written there."""
    found, around = found_at(output), output.absolute().parent
    if found == "a folder" or found_at(around) != "a folder":
        raise ConfigError(f"{name}: {output}: expected a file in a folder that exists")
    if not found.startswith("a") and found != "nothing":
        raise ConfigError(f"{name}: {output}: {found}")
    if found in ("nothing", "a regular file") and not os.access(Path(os.path.realpath(output)).parent, os.W_OK):
        raise ConfigError(f"{name}: {output}: nothing can be written in its folder")


def deliver(text: str, config: AuditConfig) -> None:
    """The text to where it was asked for."""
    if config.output == TO_STDOUT:
        say(text)
        return
    name, output = config.named("output"), Path(config.output)
    try:
        if found_at(output) in ("nothing", "a regular file"):
            # Through a link to where it leads; a dump's file of the same bytes keeps its own name and content.
            with whole_file(Path(os.path.realpath(output)), replace=config.force) as file:
                file.write(text)
        else:
            with output.open("w", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{name}: {output} has come to be while the audit ran; it is left as it is") from error
    except OSError as error:
        raise ConfigError(f"{name}: cannot write {output}: {error.strerror}") from error
