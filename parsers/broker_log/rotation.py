"""Names of log files: which log a file belongs to, and where rotation put it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

LogName = Literal["server", "state-change", "controller", "broker"]

_NAME: Final = re.compile(
    r"(?P<name>server|state-change|controller|kafkaServer|kafka|broker)"
    r"(?P<before>[.\-_]\d[\d.\-_T]{0,30})?\.(?:log|out)(?P<after>[.\-_]\d[\d.\-_T]{0,30})?(?P<gz>\.gz)?"
)
_NAMES: Final[dict[str, LogName]] = {"server": "server", "state-change": "state-change", "controller": "controller"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFileName:
    """A log file as its name tells it."""

    log: LogName
    rotation: str
    """Rotation number or date as in the name; empty for the file being written."""
    compressed: bool

    @property
    def age(self) -> tuple[int, int, str]:
        """Sorts the files of one log oldest first: dates ascend, numbers descend, the file being written is last."""
        if not self.rotation:
            return (1, 0, "")
        if self.rotation.isdecimal() and len(self.rotation) < 5:
            return (0, -int(self.rotation), "")
        return (0, -(10**6), self.rotation)


def log_file_name(name: str) -> LogFileName | None:
    """The log that a file name belongs to (`server.log`, `server.log.1`, `state-change.log.2026-11-21-05.gz`, …), if any."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    rotation = (match["after"] or match["before"] or "").strip(".-_")
    return LogFileName(log=_NAMES.get(match["name"], "broker"), rotation=rotation, compressed=bool(match["gz"]))
