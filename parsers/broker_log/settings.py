"""Settings as a broker prints them when it starts: the `KafkaConfig values:` block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from parsers.provenance import Origin
from parsers.tables import BrokerSetting

_SETTING: Final = re.compile(rb"[\t ]++([\w.\-]{1,256}+) = ?([^\n]*+)\n?+")


def read_settings(
    origin: Origin, data: bytes, shift: int, found: re.Match[bytes], head: re.Pattern[bytes], limit: int
) -> Iterator[BrokerSetting]:
    """The settings of the block whose first line was found, a line each, from at most `limit` bytes.

    `shift` is what to add to a position in `data` for its byte in the file.
    """
    time_text = found.groupdict().get("time")
    last = min(len(data), found.start() + 1 + limit)
    position = data.find(b"\n", found.end(), last) + 1
    while position and position < last and not head.match(data, position):
        line_end = data.find(b"\n", position, last)
        setting = _SETTING.match(data, position, last) if line_end >= 0 else None
        if setting is not None:
            yield _row(origin, setting, time_text, shift + position, shift + line_end)
        position = line_end + 1


def _row(origin: Origin, setting: re.Match[bytes], time_text: bytes | None, start: int, end: int) -> BrokerSetting:
    value = setting[2].decode(errors="replace").rstrip("\r")
    return BrokerSetting(
        cluster_id=origin.cluster_id,
        broker=origin.broker,
        log_dir=origin.log_dir,
        topic=None,
        topic_id=None,
        partition=None,
        time_text=time_text.decode(errors="replace") if time_text else None,
        name=setting[1].decode(),
        value=None if value == "null" else value,
        source=origin.source,
        span_start=start,
        span_end=end,
    )
