"""What ZooKeeper's shell printed of znodes: their paths, their contents and, where asked for, their Stat.

The shell itself prints no path unless it is typed into: a content counts only where the line that names its znode, a
prompt or a word of whoever ran the shell, stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.metadata_log.znodes import SIZE_LIMIT, Znode, setting_place, znode_place
from parsers.provenance import Origin
from parsers.refusal import Parsed, refuse
from parsers.tables import Refusal

_PATH: Final = re.compile(rb"(?:^|[\s'\"])(/[^\s'\"]{1,600})['\"]?:?\s*$")
_ABSENT: Final = re.compile(rb"NoNode|does not exist|NoAuth|Insufficient permission")
_STAT: Final = re.compile(rb"(mtime|dataVersion) = (.{1,40}?)\s*$")
_TIME: Final = re.compile(rb"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d\d) (\d\d):(\d\d):(\d\d) (?:UTC|GMT) (\d{4})")
_MONTHS: Final = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")
_OURS: Final = (b'"leader_epoch"', b'"partitions"', b'"config"')


def parse_znode_text(data: bytes, origin: Origin) -> Parsed[Znode]:
    """The znodes in a transcript of the shell, and the contents that nobody can tell the znode of."""
    znodes: list[Znode] = []
    refusals: list[Refusal] = []
    state = _NamedPath()
    for start, end in _lines(data):
        line = data[start:end]
        if line.startswith(b"{"):
            if state.path is None:
                refusals.extend(_nameless(origin, line, start, end))
            elif _is_ours(state.path):
                znodes.append(Znode(origin=origin, path=state.path, content=line.rstrip(), start=start))
            state = _NamedPath(holding=state.path is not None and _is_ours(state.path))
        elif (stat := _STAT.match(line)) and state.holding:
            znodes[-1] = _with_stat(znodes[-1], stat[1], stat[2])
        elif (named := _PATH.search(line[:1024])) and not _ABSENT.search(line[:1024]):
            state = _NamedPath(path=named[1].decode("utf-8", "replace"))
    return Parsed(rows=tuple(znodes), refusals=tuple(refusals))


class _NamedPath(Struct, frozen=True, kw_only=True):
    """The path that was named last, and whether a Stat would be of the znode before it."""

    path: str | None = None
    holding: bool = False


def _is_ours(path: str) -> bool:
    return znode_place(path) is not None or setting_place(path) is not None


def _lines(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, min(end, start + SIZE_LIMIT + 1)
        start = end + 1


def _nameless(origin: Origin, line: bytes, start: int, end: int) -> Iterator[Refusal]:
    """Only what Kafka's partitions and settings are made of is missed."""
    if any(word in line for word in _OURS):
        expected = "the znode's path on a line before its content"
        yield refuse(origin, "ambiguous", start, end, expected=expected, found=line)


def _with_stat(znode: Znode, name: bytes, value: bytes) -> Znode:
    if name == b"mtime":
        return replace(znode, time=_milliseconds(value))
    return replace(znode, version=int(value)) if value.isdigit() and len(value) < 10 else znode


def _milliseconds(text: bytes) -> int | None:
    """A Stat's time; only Greenwich's is taken, since the letters of other zones name several."""
    match = _TIME.fullmatch(text)
    if match is None or match[1] not in _MONTHS:
        return None
    day, hour, minute, second, year = (int(match[index]) for index in (2, 3, 4, 5, 6))
    try:
        instant = datetime(year, _MONTHS.index(match[1]) + 1, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return int(instant.timestamp()) * 1000
