"""What flags, variables and the file say together."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from auditor.exit_codes import ExitCode
from auditor.streams import remark, say

if TYPE_CHECKING:
    from auditor.config import AuditConfig

NO_SETTINGS: Final = ("config", "show_settings", "dry_run")
"""Parameters of a command that say nothing of how an audit is made or told."""


def settings_of(
    given: Mapping[str, object],
    decided: Mapping[str, object] | None = None,
    heeded: Collection[str] | None = None,
) -> AuditConfig:
    """The settings of a run: a flag outranks the variable, the variable the file; some the command itself decides.

    `heeded` are those that the command goes by, where that is not all of them.
    """
    from auditor.config import environment, merge, newer_than_known, settings_text
    from auditor.config.sources import as_variable

    settings = merge(_of_file(given.get("config")), environment(os.environ), as_variable)
    flags = {name: value for name, value in given.items() if name not in NO_SETTINGS and value not in (None, [], ())}
    settings = merge(merge(settings, flags), decided or {}, lambda _: "this command")
    if given.get("show_settings"):
        say(settings_text(settings, heeded))
        raise SystemExit(ExitCode.CLEAN)
    if not settings.quiet:
        for newer in newer_than_known(settings):
            remark(newer)
    return settings


def _of_file(config: object) -> AuditConfig:
    """The settings of the file that a flag names, or the variable."""
    from auditor.config import AuditConfig, ConfigError, merge, read_config
    from auditor.config.sources import CONFIG_VARIABLE

    named = os.environ.get(CONFIG_VARIABLE)
    file = config if isinstance(config, Path) else Path(named) if named else None
    if file is None:
        return AuditConfig()
    try:
        return merge(AuditConfig(), read_config(file), lambda name: f"{file}: {name.replace('_', '-')}")
    except ConfigError as error:
        raise error if config else ConfigError(f"{CONFIG_VARIABLE}: {error}") from error
