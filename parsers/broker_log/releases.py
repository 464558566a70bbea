"""The release and protocols that a log prints at each start, found without reading the rest of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_RELEASE: Final = re.compile(rb"[ \t]Kafka version ?: ([0-9][0-9A-Za-z.\-]{0,40}) ?\(")
_PROTOCOL: Final = re.compile(rb"\n\t?inter\.broker\.protocol\.version = ([0-9][0-9A-Za-z.\-]{0,40})\s")
_METADATA: Final = re.compile(rb"[ \t]metadata\.version (?:Optional\[)?([0-9][0-9A-Za-z.\-]{0,40})\]?\. \(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Releases:
    """The last value of each, as printed; null where the log prints none."""

    binary: str | None
    inter_broker_protocol: str | None
    metadata_version: str | None


def last_releases(data: bytes) -> Releases:
    """What the last start in a log printed."""
    return Releases(
        binary=_last(_RELEASE, data), inter_broker_protocol=_last(_PROTOCOL, data), metadata_version=_last(_METADATA, data)
    )


def _last(pattern: re.Pattern[bytes], data: bytes) -> str | None:
    found = pattern.findall(data)
    return found[-1].decode("ascii") if found else None
