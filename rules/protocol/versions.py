"""Kafka versions: what a broker runs (binary) and what it speaks to its peers (inter-broker protocol), each ordered.

The two are never compared with each other by accident: they are different classes. An unreadable version is None.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from msgspec import Struct

Release = tuple[int, int, int, int]
"""Padded with zeros, so that 2.8 and 2.8.0 are one release; 0.x versions use all four places."""

EPOCHS_SINCE_MAGIC: Final = 2
"""The record format that carries leader epochs, producers and control batches."""

LATEST_IV: Final = 1 << 16
"""An inter-broker protocol named without -IV means the newest of its release."""

_VERSION: Final = re.compile(r"v?(\d{1,4}(?:\.\d{1,4}){1,3})(?:[-.+]?([A-Za-z][\w.+-]{0,40}))?", re.ASCII)
_PROTOCOL: Final = re.compile(r"(\d{1,4}(?:\.\d{1,4}){1,3})(?:-IV(\d{1,3}))?", re.ASCII)
_LEVEL: Final = re.compile(r"\d{1,4}", re.ASCII)

CONFLUENT_RELEASES: Final = MappingProxyType(
    {(5, minor): (2, minor) for minor in range(6)}
    | {(6, minor): (2, minor + 6) for minor in range(3)}
    | {(7, minor): (3, minor) for minor in range(10)}
    | {(8, minor): (4, minor) for minor in range(2)}
)
"""Confluent Platform (major, minor) → Apache Kafka (major, minor)."""

METADATA_VERSIONS: Final = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1"),
    *("3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0"),
    *("3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0"),
)
"""The feature `metadata.version` by level, the first being level 1."""


class KafkaVersion(Struct, frozen=True, kw_only=True, order=True):
    """The version of a broker's binary, in Apache's numbers; a pre-release sorts before its release.

    Confluent's patch number is carried over as it is: it follows Apache's only roughly.
    """

    release: Release
    released: bool = True
    """False for snapshots and release candidates, which sort before the release that they lead to."""

    def at_least(self, *release: int) -> bool:
        """Whether this binary is of that release or later; a pre-release of it is not."""
        return self >= KafkaVersion(release=padded(release))

    def __str__(self) -> str:
        return _dotted(self.release) + ("" if self.released else "-pre")


class ProtocolVersion(Struct, frozen=True, kw_only=True, order=True):
    """inter.broker.protocol.version, or the metadata.version that took its place: a release and a step within it."""

    release: Release
    iv: int = LATEST_IV

    def __str__(self) -> str:
        return _dotted(self.release) + ("" if self.iv == LATEST_IV else f"-IV{self.iv}")


def padded(numbers: tuple[int, ...]) -> Release:
    """A release of any length in four places."""
    major, minor, patch, fourth = (*numbers, 0, 0, 0, 0)[:4]
    return major, minor, patch, fourth


def parse_kafka_version(text: str) -> KafkaVersion | None:
    """Reads `3.9.1`, `0.10.2.2`, `4.3.0-SNAPSHOT`, `7.6.1-ccs`; None for what is no version."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        return None
    numbers = tuple(map(int, match[1].split(".")))
    suffix = (match[2] or "").lower()
    released = "snapshot" not in suffix and re.fullmatch(r"rc-?\d*", suffix) is None
    if re.match(r"(ccs|ce)\b", suffix):
        apache = CONFLUENT_RELEASES.get((numbers[0], numbers[1]))
        if apache is None:
            return None
        return KafkaVersion(release=padded((*apache, *numbers[2:3])), released=released)
    return KafkaVersion(release=padded(numbers), released=released)


def parse_protocol_version(text: str) -> ProtocolVersion | None:
    """Reads `3.9-IV0`, `2.7`, `0.10.2`, or a metadata.version feature level such as `21`; None for what is neither.

    A third number is dropped from 1.0 on, as Kafka does: `2.8.1` is the protocol 2.8.
    """
    text = text.strip()
    if _LEVEL.fullmatch(text):
        return metadata_version(int(text))
    match = _PROTOCOL.fullmatch(text)
    if match is None:
        return None
    numbers = tuple(map(int, match[1].split(".")))
    significant = numbers[:3] if numbers[0] == 0 else numbers[:2]
    return ProtocolVersion(release=padded(significant), iv=LATEST_IV if match[2] is None else int(match[2]))


def metadata_version(level: int) -> ProtocolVersion | None:
    """The protocol version of a metadata.version feature level; None for a level not known here."""
    return parse_protocol_version(METADATA_VERSIONS[level - 1]) if 1 <= level <= len(METADATA_VERSIONS) else None


def metadata_level(spoken: ProtocolVersion) -> int | None:
    """The newest feature level of metadata.version that a protocol version reaches; None before there was one."""
    return max((level for level, named in enumerate(METADATA_VERSIONS, 1) if protocol(named) <= spoken), default=None)


def protocol(name: str) -> ProtocolVersion:
    """A protocol version named in source code, where a misspelt one must not pass silently."""
    version = parse_protocol_version(name)
    if version is None:
        raise ValueError(f"no inter-broker protocol version: {name!r}")
    return version


def _dotted(release: Release) -> str:
    shown = release if release[0] == 0 and release[3] else release[:3]
    return ".".join(map(str, shown))
