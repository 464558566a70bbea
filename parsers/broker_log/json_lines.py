"""Lines of JSON: as docker's json-file keeps a text, or as a layout of log4j writes each event's fields by themselves.

Of fields that stand apart the line is made that Kafka's own layout would have written, so that one reader reads both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

TEXTS: Final = ("log", "message", "msg", "short_message")
TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "instant")
LEVELS: Final = ("level", "log.level", "severity", "levelname")
LOGGERS: Final = ("logger", "loggerName", "logger_name", "log.logger", "_logger", "class")
TRACES: Final = (
    "stack_trace", "error.stack_trace", "exception.stacktrace", "thrown.extendedStackTrace", "thrown.message",
)  # fmt: skip
_NAMED: Final = re.compile(r"TRACE|DEBUG|INFO|WARN|ERROR|FATAL")
_WHEN: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_LAID_OUT: Final = re.compile(r"\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
"""So begins a text that bears its own time."""
_MILLISECONDS: Final = 100_000_000_000
"""No time in seconds is as large, and no time in milliseconds since 1973 as small."""
_FAR: Final = 1 << 53
"""Beyond every time, also in milliseconds; no number of JSON is read more exactly."""
_NANOSECONDS: Final = 1_000_000_000


def text_of(line: bytes) -> bytes | None:
    """The text that a line of JSON holds; None where it is none, or holds none."""
    if not line.startswith(b"{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    text = next((entry[name] for name in TEXTS if isinstance(entry.get(name), str)), None)
    if text is None:
        return None
    laid_out = text if _LAID_OUT.match(text) else _laid_out(entry, text)
    return laid_out.encode(errors="replace")


def _laid_out(entry: Mapping[str, Any], text: str) -> str:
    """The text behind the event's time and level, before its logger; as it is where those are not told."""
    inner = {key: value.items() for key, value in entry.items() if isinstance(value, dict)}
    fields = {**{f"{key}.{own}": value for key, items in inner.items() for own, value in items}, **entry}
    level, logger, trace = (_first(fields, names) for names in (LEVELS, LOGGERS, TRACES))
    time = next((known for key in TIMES if (known := _time(fields.get(key))) is not None), None)
    if time is None or not isinstance(level, str) or not _NAMED.fullmatch(level):
        return text
    head, _, rest = text.partition("\n")
    by = f" ({logger})" if isinstance(logger, str) else ""
    behind = [part for part in (rest, trace) if isinstance(part, str) and part]
    return "\n".join([f"[{time}] {level} {head}{by}", *behind]) + "\n"


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> object:
    """The first field of several names that is no group of fields."""
    return next((fields[name] for name in names if name in fields and not isinstance(fields[name], dict)), None)


def _time(value: object) -> str | None:
    """A time as Kafka's layout writes it, in the zone that it is told in; since 1970 it is told in UTC."""
    if isinstance(value, str):
        found = _WHEN.match(value)
        return None if found is None else f"{found[1]} {found[2]},{(found[3] or '0')[:3]:0<3}"
    if isinstance(value, dict):
        seconds, rest = value.get("epochSecond"), value.get("nanoOfSecond", 0)
        if not isinstance(seconds, int) or not isinstance(rest, int):
            return None
        return _since_1970(seconds * _NANOSECONDS + rest)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _FAR:
        return None
    unit = 1_000_000 if value > _MILLISECONDS else _NANOSECONDS
    return _since_1970(round(value * unit))


def _since_1970(nanoseconds: int) -> str | None:
    seconds, rest = divmod(nanoseconds, _NANOSECONDS)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S},{rest // 1_000_000:03}"
    except (OverflowError, OSError, ValueError):
        return None
