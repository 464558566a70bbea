"""The logs of a dump as they are where a broker's clock is set back amid them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

STAMP: Final = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]", re.MULTILINE)
SECONDS: Final = "%Y-%m-%d %H:%M:%S"


def set_back(dump: Path, broker: int, by: timedelta) -> None:
    """The later half of what a broker wrote bears earlier times, in every file of it."""
    logs = {path: path.read_text(encoding="utf-8") for path in (dump / f"broker-{broker}" / "logs").iterdir()}
    stamps = sorted(stamp for text in logs.values() for stamp in STAMP.findall(text))
    half = stamps[len(stamps) // 2]

    def earlier(stamp: re.Match[str]) -> str:
        if stamp.groups() < half:
            return stamp[0]
        return f"[{datetime.strptime(stamp[1], SECONDS) - by:{SECONDS}},{stamp[2]}]"  # noqa: DTZ007 - as logs have it

    for path, text in logs.items():
        path.write_text(STAMP.sub(earlier, text), encoding="utf-8")
