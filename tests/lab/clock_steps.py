"""The logs of a dump as they are where clocks step amid them: of one file, of all of a broker, or of every node."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

STAMP: Final = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]", re.MULTILINE)


def milliseconds(stamp: re.Match[str]) -> int:
    return int(datetime.fromisoformat(f"{stamp[1]}+00:00").timestamp()) * 1000 + int(stamp[2])


def times_in(logs: Iterable[Path]) -> list[int]:
    return sorted(milliseconds(stamp) for log in logs for stamp in STAMP.finditer(log.read_text(encoding="utf-8")))


def step(log: Path, at: int, by: int) -> None:
    """Every line from the first one on that is later than a time bears a time so many milliseconds later."""
    since = False

    def stepped(stamp: re.Match[str]) -> str:
        nonlocal since
        time = milliseconds(stamp)
        since = since or time > at
        now = time + by if since else time
        return f"[{datetime.fromtimestamp(now // 1000, UTC):%Y-%m-%d %H:%M:%S},{now % 1000:03}]"

    log.write_text(STAMP.sub(stepped, log.read_text(encoding="utf-8")), encoding="utf-8")


def set_back(dump: Path, broker: int, by: timedelta) -> None:
    """The later half of what a broker wrote bears earlier times, in every file of it."""
    logs = [*(dump / f"broker-{broker}" / "logs").iterdir()]
    times = times_in(logs)
    for log in logs:
        step(log, times[len(times) // 2] - 1, -(by // timedelta(milliseconds=1)))
