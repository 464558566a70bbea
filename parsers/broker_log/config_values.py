"""Settings as a broker prints them when it starts: the `KafkaConfig values:` block.

A start prints hundreds of lines, most of them as the start before did: every different line is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.broker_log.catalogue import head_pattern
from parsers.broker_log.layout import Layout
from parsers.provenance import Origin
from parsers.tables import BrokerSetting, arrow_schema, no_rows

Integers = npt.NDArray[np.int64]
_SETTING: Final = re.compile(rb"[\t ]++([\w.\-]{1,256}+) = ?([^\n]*+)")
_LAST_BLANK: Final = re.compile(rb"\n(?![\t ])")
"""The end of the last of some lines that begin with a blank."""
_BLANKS: Final = b"\t "
_SCHEMA: Final = arrow_schema(BrokerSetting)
NO_SETTINGS: Final = no_rows(BrokerSetting)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLines:
    """Lines of a block that follow each other, without their line ends: settings, and maybe others that say nothing."""

    time: bytes | None
    """When the block was printed."""
    start: int
    """The first byte of the first line."""
    lines: Sequence[bytes]


def find_settings(
    data: bytes, shift: int, found: re.Match[bytes], layout: Layout, limit: int
) -> Iterator[SettingLines]:
    """The lines of the block whose first line was found that may be settings, from at most `limit` bytes.

    `shift` is what to add to a position in `data` for its byte in the file.
    """
    time, head = found["time"] or None, head_pattern(layout)
    last = min(len(data), found.start() + 1 + limit)
    position = data.find(b"\n", found.end(), last) + 1
    while 0 < position < last:
        if data[position] in _BLANKS:
            blank = _LAST_BLANK.search(data, position, last)
            end = blank.start() if blank else data.rfind(b"\n", position, last)
            if end < 0:
                return
            lines = data[position:end].split(b"\n")
            entry = _entry_among(lines, layout)
            yield SettingLines(time=time, start=shift + position, lines=lines[:entry])
            if entry is not None:
                return
            position = end + 1
        elif head.match(data, position):
            return
        else:
            position = data.find(b"\n", position, last) + 1


def _entry_among(lines: Sequence[bytes], layout: Layout) -> int | None:
    """Which line that begins with a blank begins an entry; most layouts begin with something else."""
    if layout.opening and layout.opening[0] not in _BLANKS:
        return None
    begins = head_pattern(layout).match
    return next((number for number, line in enumerate(lines) if begins(line)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Lines of settings with every different one once."""

    times: Sequence[bytes | None]
    """When each block was printed."""
    texts: Sequence[bytes]
    """The different lines."""
    blocks: Integers
    """Of every line: which block it stands in,"""
    numbers: Integers
    """which of the different lines it is,"""
    starts: Integers
    """its first byte in the file,"""
    ends: Integers
    """and the byte behind its last."""


def settings_batch(printed: Printed, origin: Origin) -> pa.RecordBatch:
    """The rows of all settings, in order."""
    read = [_SETTING.fullmatch(line) for line in printed.texts]
    kept = np.array([match is not None for match in read], dtype=bool)[printed.numbers] if read else np.zeros(0, bool)
    if not kept.any():
        return NO_SETTINGS
    chosen = pa.array(printed.numbers[kept])
    columns = {
        "time_text": pa.array(printed.times, pa.string()).take(pa.array(printed.blocks[kept])),
        "name": pa.array([match and match[1] for match in read], pa.string()).take(chosen),
        "value": pa.array([match and _value(match[2]) for match in read], pa.string()).take(chosen),
        "span_start": pa.array(printed.starts[kept]),
        "span_end": pa.array(printed.ends[kept]),
    }
    fixed = {"cluster_id": origin.cluster_id, "broker": origin.broker, "log_dir": origin.log_dir, "source": origin.source}
    arrays = [
        columns[name] if name in columns else pa.repeat(pa.scalar(fixed.get(name), type_), len(chosen))
        for name, type_ in ((field.name, field.type) for field in _SCHEMA)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def numbered(found: Sequence[SettingLines]) -> Printed:
    """The lines of all blocks, every different one once."""
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(line, len(known)) for each in found for line in each.lines]
    starts, ends = _places(found)
    return Printed(
        times=[each.time for each in found],
        texts=list(known),
        blocks=np.repeat(np.arange(len(found)), [len(each.lines) for each in found]),
        numbers=np.array(numbers, np.int64),
        starts=starts,
        ends=ends,
    )


def _places(found: Sequence[SettingLines]) -> tuple[Integers, Integers]:
    """First and last byte of every line."""
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    counts = [len(each.lines) for each in found]
    lengths = np.fromiter(map(len, chain.from_iterable(each.lines for each in found)), np.int64, sum(counts))
    behind = np.cumsum(lengths + 1)
    before = behind - lengths - 1
    first = np.cumsum([0, *counts[:-1]])
    starts = before + np.repeat(np.array([each.start for each in found]) - before[first], counts)
    return starts, starts + lengths


def _value(printed: bytes) -> str | None:
    return None if printed == b"null" else printed.decode(errors="replace").rstrip("\r")
