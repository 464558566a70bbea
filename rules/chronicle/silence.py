"""Evidence that is missing, in one form and one wording: whose log of which kind and time, and what it may hold."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Log = Literal["roles", "isr", "server", "state-change", "requests", "requests in full", "server and requests", "disk"]
_CALLED: Final[dict[Log, str]] = {
    "roles": "state-change.log (Kafka 2.5 and older: server.log)",
    "isr": "server.log",
    "server": "server.log",
    "state-change": "state-change.log",
    "requests": "request log",
    "requests in full": "request log (level DEBUG)",
    "server and requests": "server.log and request log",
    "disk": "disk",
}


class Silence(Struct, frozen=True, kw_only=True):
    """A log that does not speak where it was asked."""

    broker: int | None
    """Null where nobody tells who it was."""
    log: Log
    window: str = ""
    """Which part of it, in words: up to its very end, of a time; none where the epoch below says all."""
    since_epoch: int | None = None
    """From which leader epoch on it is asked for; null where the window says all."""
    perhaps: str = ""
    """What it may hold, in words."""

    @property
    def words(self) -> str:
        """What is to be brought, for people."""
        who = "the leader" if self.broker is None else f"broker {self.broker}"
        since = "" if self.since_epoch is None else f" from epoch {self.since_epoch} on"
        whole = "whole " if self.window.startswith("whole") else ""
        rest = self.window.removeprefix("whole").strip()
        window = f"{'' if rest.startswith(',') else ' '}{rest}" if rest else ""
        return f"{who}'s {whole}{_CALLED[self.log]}{window}{since}{f': {self.perhaps}' if self.perhaps else ''}"


def roles_of(whose: str) -> str:
    """The logs of several brokers, named in words, that tell which roles they took: all of them are needed."""
    log, _, older = _CALLED["roles"].partition(" ")
    return f"{log} of {whose} {older}"


def would_tell(*silences: Silence | str) -> str:
    """What would decide a question that met these silences; a text names evidence that is of no one log."""
    return ", or ".join(each if isinstance(each, str) else each.words for each in silences)
