"""Completion for a shell that is named, as in `tidemark --show-completion fish`; unnamed it is the one that asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from auditor.streams import say

SHOW: Final = "--show-completion"
ASKS: Final = (SHOW, "--install-completion")
SHELLS: Final = ("bash", "zsh", "fish")


def answered(words: Sequence[str]) -> bool:
    """Whether a command line asked for the completion of a named shell, and now has it."""
    asked, joined, shell = " ".join(words).replace("=", " ", 1).partition(" ")
    if asked not in ASKS or not joined:
        return False
    if shell not in SHELLS:
        from auditor.config import ConfigError

        raise ConfigError(f"{asked}: expected one of {', '.join(SHELLS)}, found {shell[:80]!r}")
    from typer._completion_shared import get_completion_script, install

    if asked == SHOW:
        script = get_completion_script(prog_name="tidemark", complete_var="_TIDEMARK_COMPLETE", shell=shell)
        say(f"{script}\n")
    else:
        _, place = install(shell=shell, prog_name="tidemark", complete_var="_TIDEMARK_COMPLETE")
        say(f"Completion for {shell} is installed in {place}. It begins with the next {shell}.\n")
    return True
