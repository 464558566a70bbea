"""Where settings come from: a YAML file, the environment; and all of them as a table that says so."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from auditor.config.error import ConfigError
from auditor.config.policy_file import SECTIONS, read_policy
from auditor.config.settings import SETTINGS, AuditConfig, as_flag
from auditor.config.small_files import yaml_of

PREFIX: Final = "TIDEMARK_"
CONFIG_VARIABLE: Final = f"{PREFIX}CONFIG"
NO_SETTINGS: Final = ("config", "debug")
"""Variables with our prefix that are no settings of an audit."""


def as_variable(name: str) -> str:
    """How a setting is spelled in the environment."""
    return PREFIX + name.upper()


def read_config(path: Path) -> dict[str, object]:
    """The settings of a YAML file; keys are the flags' names, with - or _."""
    content = yaml_of(path, "the configuration")
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected settings as 'name: value' lines, found {type(content).__name__}")
    by_name = {str(name): value for name, value in content.items()}
    sections: dict[str, object] = {name: by_name.pop(name) for name in SECTIONS if name in by_name}
    settings = {_known(name, str(path)): value for name, value in by_name.items()}
    return {**settings, "policy": read_policy(sections, str(path))} if sections else settings


def environment(variables: Mapping[str, str]) -> dict[str, object]:
    """Settings from TIDEMARK_LEVEL, TIDEMARK_TOPIC and the like; commas part the items of a list."""
    found: dict[str, object] = {}
    for variable, text in sorted(variables.items()):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and text and name not in NO_SETTINGS:
            default = getattr(AuditConfig(), name) if name in SETTINGS else None
            if default is not None:
                # Layouts are full of commas.
                parts = text.split("\n" if name == "log_pattern" else ",")
                found[name] = tuple(part.strip() for part in parts) if isinstance(default, tuple) else text
            elif difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.75):
                _known(name, variable)
    return found


def _known(name: str, where: str) -> str:
    plain = name.replace("-", "_")
    if plain in SETTINGS:
        return plain
    close = difflib.get_close_matches(plain, (*SETTINGS, *SECTIONS), n=1)
    known = ", ".join((*(setting.replace("_", "-") for setting in SETTINGS), *SECTIONS))
    hint = f"did you mean {close[0].replace('_', '-')!r}?" if close else f"known: {known}"
    raise ConfigError(f"{where}: unknown setting {name!r}; {hint}")


def settings_text(config: AuditConfig, heeded: Collection[str] | None = None) -> str:
    """Every setting that a command goes by, all unless told, with its value and with who gave it, one a line."""
    names = [name for name in SETTINGS if heeded is None or name in heeded]
    said = ((name, getattr(config, name), config.given_by.get(name, "default")) for name in names)
    rows = [("setting", "value", "from"), *((as_flag(name)[2:], _shown(value), giver) for name, value, giver in said)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "".join(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}\n" for row in rows)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
