"""Small files that people name: settings, scripts, reports. Read whole, with a limit, and never waited for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from auditor.config.error import ConfigError
from parsers.files import FileFault, found_at, read_small

SETTINGS_LIMIT: Final = 1 << 20


def text_of(path: Path, what: str, limit: int = SETTINGS_LIMIT) -> str:
    """The text of a file that the user named; a FIFO or a device is refused, for it may never end."""
    found = found_at(path)
    if found != "a regular file":
        said = f"expected a regular file, found {found}" if found.startswith("a") else found
        said = "there is no such file" if found == "nothing" else said
        raise ConfigError(f"{path}: cannot read {what}: {said}")
    # A link to the file is the user's own.
    content = read_small(Path(os.path.realpath(path)), limit)
    if isinstance(content, FileFault):
        if content.kind == "too_large":
            raise ConfigError(f"{path}: expected {what} of at most {limit} bytes")
        raise ConfigError(f"{path}: cannot read {what}: {content.found}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: cannot read {what}: {error}") from error


def yaml_of(path: Path, what: str) -> object:
    """What stands in a YAML file that the user named."""
    import yaml

    text = text_of(path, what)
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}: cannot read {what}: no YAML{place}: {error.problem or error.context}") from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot read {what}: {error}") from error
