"""Plain fetch traces, as CSV or JSON lines: from packet captures, other brokers' logs or a person's own tools.

One line a partition and fetch. Columns, by name and in any order; others are passed over:

    time                            time text, kept as it stands
    broker                          serving broker; where missing, the broker the file belongs to
    replica                         asking replica, -1 for a consumer
    topic, partition                whose log; `topicId` may stand beside or instead of the topic
    fetchOffset                     offset asked for: the follower's log end offset
    leaderEpoch                     leader epoch in which the fetcher believes
    highWatermark, logStartOffset   of the leader, as answered
    error                           Kafka error code of the answer

Also read where present: lastFetchedEpoch, divergingEpoch, divergingEndOffset, lastStableOffset, clientId. An empty
field or a null is unknown. A CSV file begins with the names, divided by commas, semicolons or tabs; a field with the
divider inside stands in double quotes, and no field holds a line feed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Fetch, Refusal

COLUMNS: Final = (
    "time", "broker", "replica", "topic", "partition", "fetchOffset", "leaderEpoch", "highWatermark", "logStartOffset",
    "error",
)  # fmt: skip
REQUIRED: Final = ("replica", "partition", "fetchOffset")
LINE_LIMIT: Final = 1 << 20

_NARROW: Final = ("broker", "replica", "partition", "leaderEpoch", "lastFetchedEpoch", "divergingEpoch")
_WIDTHS: Final[Mapping[str, int]] = {**dict.fromkeys(_NARROW, 32), "error": 16}
_UNTOLD: Final = dict.fromkeys(Fetch.__struct_fields__)


class _Unfit(ValueError):
    """A line that is no row of a trace table."""


def trace_rows(path: Path, origin: Origin, start: int = 0, end: int | None = None) -> Iterator[Fetch | Refusal]:
    """The fetches of a trace table, or those whose lines begin in bytes `[start, end)` of it, line by line."""
    try:
        with path.open("rb") as file:
            yield from _rows(file, origin, start, end)
    except OSError as error:
        found = error.strerror or "an error"
        yield refuse(origin, "unreadable", 0, 0, expected="a readable trace table", found=found)


def _rows(file: BinaryIO, origin: Origin, start: int, end: int | None) -> Iterator[Fetch | Refusal]:
    first = file.readline(LINE_LIMIT).removeprefix(b"\xef\xbb\xbf")
    dialect = None if first.lstrip().startswith(b"{") else max(",;\t", key=first.decode("latin-1").count)
    names = _names(first, dialect) if dialect else []
    missing = [name for name in REQUIRED if names is None or name not in names] if dialect else []
    if names is None or missing:
        if start == 0:
            yield refuse(origin, "malformed", 0, len(first), expected=f"columns {', '.join(missing)}", found=first)
        return
    body = file.tell() if dialect else 0
    for place, line, whole in _lines(file, start, end):
        if place < body or not line.strip():
            continue
        yield _row_or_refusal(line, whole, names, dialect, origin, place)


def _row_or_refusal(
    line: bytes, whole: bool, names: list[str], dialect: str | None, origin: Origin, place: int
) -> Fetch | Refusal:
    end = place + len(line.rstrip(b"\r\n"))
    if not whole:
        return refuse(origin, "too_large", place, end, expected=f"a line below {LINE_LIMIT} bytes", found=line)
    try:
        return _fetch(_fields(line, names, dialect), origin, place, end)
    except _Unfit as error:
        return refuse(origin, "malformed", place, end, expected=str(error), found=line)


def _lines(file: BinaryIO, start: int, end: int | None) -> Iterator[tuple[int, bytes, bool]]:
    """Lines whose first byte lies in the range; of an overlong one the head, marked as not whole."""
    file.seek(max(start - 1, 0))
    if start > 0:
        _skip_line(file)
    place = file.tell()
    while (end is None or place < end) and (line := file.readline(LINE_LIMIT)):
        whole = line.endswith(b"\n") or len(line) < LINE_LIMIT
        if not whole:
            _skip_line(file)
        yield place, line, whole
        place = file.tell()


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
        pass


def _names(header: bytes, delimiter: str) -> list[str] | None:
    """The columns that a header names; None where it is no line of CSV."""
    try:
        cells = next(csv.reader([header.decode("utf-8", "replace").rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return None
    return [cell.strip() for cell in cells]


def _fields(line: bytes, names: list[str], delimiter: str | None) -> Mapping[str, object]:
    text = line.decode("utf-8", "backslashreplace").strip("\r\n\ufeff")
    try:
        if delimiter is None:
            parsed = json.loads(text)
        else:
            (cells,) = csv.reader([text], delimiter=delimiter, strict=True)
            parsed = {name: cell.strip() or None for name, cell in zip(names, cells, strict=True)}
    except (ValueError, RecursionError, csv.Error) as error:
        raise _Unfit("a JSON object" if delimiter is None else f"{len(names)} fields") from error
    if not isinstance(parsed, dict):
        raise _Unfit("a JSON object")
    return parsed


def _number(fields: Mapping[str, object], name: str) -> int | None:
    value = fields.get(name)
    if isinstance(value, str) and len(value) <= 20 and value.removeprefix("-").isdecimal() and value.isascii():
        value = int(value)
    bound = 1 << (_WIDTHS.get(name, 64) - 1)
    if value is None or (type(value) is int and -bound <= value < bound):
        return value
    raise _Unfit(f"a number for {name}")


def _word(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    raise _Unfit(f"a text for {name}")


def _fetch(fields: Mapping[str, object], origin: Origin, start: int, end: int) -> Fetch:
    numbers = {name: _number(fields, name) for name in REQUIRED}
    unknown = [name for name, value in numbers.items() if value is None]
    topic, topic_id, partition = _word(fields, "topic"), _word(fields, "topicId"), numbers["partition"]
    if unknown or partition is None or partition < 0 or (topic is None and topic_id is None):
        raise _Unfit("a topic, a partition, a replica and a fetchOffset")
    broker = _number(fields, "broker")
    if broker is not None and broker < 0:
        raise _Unfit("a broker id")
    values: dict[str, object] = {
        "cluster_id": origin.cluster_id,
        "broker": origin.broker if broker is None else broker,
        "time_text": _word(fields, "time") or "",
        "client_id": _word(fields, "clientId"),
        "replica": numbers["replica"],
        "topic": topic,
        "topic_id": topic_id,
        "partition": partition,
        "fetch_offset": numbers["fetchOffset"],
        "last_fetched_epoch": _number(fields, "lastFetchedEpoch"),
        "current_leader_epoch": _number(fields, "leaderEpoch"),
        "error_code": _number(fields, "error"),
        "high_watermark": _number(fields, "highWatermark"),
        "last_stable_offset": _number(fields, "lastStableOffset"),
        "leader_log_start_offset": _number(fields, "logStartOffset"),
        "diverging_epoch": _number(fields, "divergingEpoch"),
        "diverging_end_offset": _number(fields, "divergingEndOffset"),
        "implied": False,
        "answer_implied": False,
        "possibly_stale": False,
        "session_start_missing": False,
        "source": origin.source,
        "span_start": start,
        "span_end": end,
    }
    return Fetch(**{**_UNTOLD, **values})  # type: ignore[arg-type]
