"""Settings as a broker prints them when it starts: the `KafkaConfig values:` block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

import pyarrow as pa

from parsers.provenance import Origin
from parsers.tables import BrokerSetting, arrow_schema

SettingHit: TypeAlias = tuple[bytes | None, bytes, bytes, int, int]
"""A row to be: time of the block, name, value, first and last byte. Plain, because a start prints hundreds."""

_LINE: Final = r"[\t ]++([\w.\-]{1,256}+) = ?([^\n]*+)\n"
_SETTING: Final = re.compile(_LINE.encode())
_SETTINGS: Final = re.compile(f"(?:{_LINE})++".encode())
_SCHEMA: Final = arrow_schema(BrokerSetting)
NO_SETTINGS: Final = pa.RecordBatch.from_pylist([], schema=_SCHEMA)


def find_settings(
    data: bytes, shift: int, found: re.Match[bytes], head: re.Pattern[bytes], limit: int
) -> Iterator[SettingHit]:
    """The settings of the block whose first line was found, a line each, from at most `limit` bytes.

    `shift` is what to add to a position in `data` for its byte in the file.
    """
    time = found["time"] or None
    last = min(len(data), found.start() + 1 + limit)
    position = data.find(b"\n", found.end(), last) + 1
    while 0 < position < last:
        run = _SETTINGS.match(data, position, last)
        if run is not None:
            for setting in _SETTING.finditer(data, position, run.end()):
                yield time, setting[1], setting[2], shift + setting.start(), shift + setting.end() - 1
            position = run.end()
        elif head.match(data, position):
            return
        else:
            position = data.find(b"\n", position, last) + 1


def settings_batch(hits: list[SettingHit], origin: Origin) -> pa.RecordBatch:
    """The rows of all settings, in order."""
    if not hits:
        return NO_SETTINGS
    times, names, values, starts, ends = zip(*hits, strict=True)
    columns: dict[str, object] = {
        "time_text": times,
        "name": names,
        "value": [None if value == b"null" else value.decode(errors="replace").rstrip("\r") for value in values],
        "span_start": starts,
        "span_end": ends,
    }
    fixed: dict[str, object] = {
        "cluster_id": origin.cluster_id, "broker": origin.broker, "log_dir": origin.log_dir, "source": origin.source,
    }  # fmt: skip
    arrays = [
        pa.array(columns[name], type_) if name in columns else pa.repeat(pa.scalar(fixed.get(name), type_), len(hits))
        for name, type_ in ((field.name, field.type) for field in _SCHEMA)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)
