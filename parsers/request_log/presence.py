"""Whether a log that is named after no requests holds some: a broker may write all its logs to one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from parsers.request_log.layout import MARKER

_WINDOW: Final = 256 << 10
_WINDOWS: Final = 8


def holds_requests(path: Path) -> bool:
    """Whether one of the places in a file that are soon looked at holds a line of the request logger."""
    try:
        with path.open("rb") as file:
            room = max(file.seek(0, os.SEEK_END) - _WINDOW, 0)
            for place in sorted({window * room // (_WINDOWS - 1) for window in range(_WINDOWS)}):
                file.seek(place)
                if MARKER in file.read(_WINDOW):
                    return True
    except OSError:
        return False
    return False
