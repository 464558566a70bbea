"""Evidence that is missing, in one form and one wording: whose log of which kind and time, and what it may hold."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Log = Literal["roles", "isr", "server", "state-change", "requests", "server and requests", "disk"]
_CALLED: Final[dict[Log, str]] = {
    "roles": "state-change.log (up to 2.5 server.log)",
    "isr": "server.log",
    "server": "server.log",
    "state-change": "state-change.log",
    "requests": "request log",
    "server and requests": "server.log and request log",
    "disk": "disk",
}
Window = Literal["", "whole", "whole to its last line", "of the time between these answers"]


class Silence(Struct, frozen=True, kw_only=True):
    """A log that does not speak where it was asked."""

    broker: int | None
    """Null where nobody tells who it was."""
    log: Log
    window: Window = ""
    since_epoch: int | None = None
    """From which leader epoch on it is asked for; null where the window says all."""
    perhaps: str = ""
    """What it may hold, in words."""

    @property
    def words(self) -> str:
        """What is to be brought, for people."""
        who = "its leader" if self.broker is None else f"broker {self.broker}"
        since = "" if self.since_epoch is None else f" from epoch {self.since_epoch} on"
        whole = "whole " if self.window.startswith("whole") else ""
        window = f" {rest}" if (rest := self.window.removeprefix("whole").strip()) else ""
        return f"{who}'s {whole}{_CALLED[self.log]}{window}{since}{f': {self.perhaps}' if self.perhaps else ''}"


def would_tell(*silences: Silence | str) -> str:
    """What would decide a question that met these silences; a text names evidence that is of no one log."""
    return " or ".join(each if isinstance(each, str) else each.words for each in silences)
