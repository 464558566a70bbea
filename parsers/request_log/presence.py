"""What a look at a log shows: whether it holds requests, how its lines are laid out, and when it begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from parsers.request_log.layout import MARKER, Layout, layout_among, layout_of
from parsers.request_log.lines_of_range import beginning

_WINDOW: Final = 256 << 10
_WINDOWS: Final = 8
_BEGINNING: Final = 1 << 16


def holds_requests(path: Path) -> bool:
    """Whether one of the places in a file that are soon looked at holds a line of the request logger.

    A broker may write all its logs to one place, which is named after no requests.
    """
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


def layout_in(path: Path, patterns: Sequence[str]) -> Layout:
    """Of some layouts and Kafka's own, the one in which a log is written, as its beginning shows."""
    return layout_among(patterns, _first_lines(path)) if patterns else layout_of()


def first_time(path: Path, patterns: Sequence[str] = ()) -> str | None:
    """The time text of the first line near a log's beginning that has one."""
    lines = _first_lines(path)
    layout = layout_among(patterns, lines) if patterns else layout_of()
    return next((time for line in lines if (time := layout.time_at_start(line)) is not None), None)


def _first_lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            return beginning(file, _BEGINNING).split(b"\n")
    except OSError:
        return []
