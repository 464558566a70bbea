"""Settings as a broker prints them when it starts: the `KafkaConfig values:` block.

A start prints hundreds of lines, most of them as the start before did.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from parsers.broker_log.catalogue import head_pattern
from parsers.broker_log.entry_layout import EntryLayout
from parsers.provenance import Origin
from parsers.tables import BrokerSetting, arrow_schema, no_rows

Integers = npt.NDArray[np.int64]
_SETTING: Final = re.compile(rb"[\t ]++([\w.\-]{1,256}+) = ?([^\n]*+)")
_SCHEMA: Final = arrow_schema(BrokerSetting)
NO_SETTINGS: Final = no_rows(BrokerSetting)


class Printed(Struct, frozen=True, kw_only=True):
    """The lines of a block: settings, and maybe others that say nothing."""

    time: bytes | None
    """When it was printed."""
    start: int
    """The first byte of the first line."""
    text: bytes
    """The lines without the last line end."""


def find_settings(data: bytes, shift: int, found: re.Match[bytes], layout: EntryLayout, limit: int) -> Printed | None:
    """The lines of the block whose first line was found, up to the next entry, from at most `limit` bytes.

    `shift` is what to add to a position in `data` for its byte in the file. A line without an end is not read.
    """
    begins, opening = head_pattern(layout).match, b"\n" + layout.opening
    last = min(len(data), found.start() + 1 + limit)
    begin = end = data.find(b"\n", found.end(), last)
    if begin < 0:
        return None
    while (end := data.find(opening, end, last)) >= 0 and not begins(data, end + 1):
        end += 1
    if end < 0:
        end = data.rfind(b"\n", begin, last)
    return Printed(time=found["time"] or None, start=shift + begin + 1, text=data[begin + 1 : end])


def settings_batch(found: Sequence[Printed], origin: Origin) -> pa.RecordBatch:
    """The rows of all settings, in order. Of what was printed again, every block and every line is read once."""
    known: dict[bytes, int] = {}
    texts = {text: _numbered(text, known) for text in dict.fromkeys(each.text for each in found)}
    read = [_SETTING.fullmatch(line) for line in known]
    if not any(read):
        return NO_SETTINGS
    numbers, places, lengths = (np.concatenate(columns) for columns in zip(*[texts[each.text] for each in found], strict=True))
    counts = [len(texts[each.text][0]) for each in found]
    kept = np.array([match is not None for match in read])[numbers]
    starts = (np.repeat([each.start for each in found], counts) + places)[kept]
    chosen, blocks = pa.array(numbers[kept]), pa.array(np.repeat(np.arange(len(found)), counts)[kept])
    columns = {
        "time_text": pa.array([each.time for each in found], pa.string()).take(blocks),
        "name": pa.array([match and match[1] for match in read], pa.string()).take(chosen),
        "value": pa.array([match and _value(match[2]) for match in read], pa.string()).take(chosen),
        "span_start": pa.array(starts),
        "span_end": pa.array(starts + lengths[kept]),
    }
    fixed = {"cluster_id": origin.cluster_id, "broker": origin.broker, "log_dir": origin.log_dir, "source": origin.source}
    arrays = [
        columns[name] if name in columns else pa.repeat(pa.scalar(fixed.get(name), type_), len(chosen))
        for name, type_ in ((field.name, field.type) for field in _SCHEMA)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _numbered(text: bytes, known: dict[bytes, int]) -> tuple[Integers, Integers, Integers]:
    """Of every line of a text which of the different lines it is, where in the text it begins, and how long it is."""
    lines = text.split(b"\n")
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    numbers = np.array([known.setdefault(line, len(known)) for line in lines])
    return numbers, np.cumsum(lengths + 1) - lengths - 1, lengths


def _value(printed: bytes) -> str | None:
    return None if printed == b"null" else printed.decode(errors="replace").rstrip("\r")
