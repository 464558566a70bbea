"""Where records and groups belong: the arithmetic by which clients and coordinators choose a partition."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Final

_INT_MIN: Final = 0x80000000
_WORD: Final = 0xFFFFFFFF
_SEED: Final = 0x9747B28C
_MIX: Final = 0x5BD1E995


def group_partition(name: str, partitions: int) -> int:
    """The partition of an internal topic that keeps a group (or a transactional id), as the coordinators choose it."""
    return group_hash(name) % partitions


def group_hash(name: str) -> int:
    """Java's hash of the text, made positive as Kafka does: its one value without a positive counterpart becomes 0."""
    digest = 0
    for (unit,) in struct.iter_unpack(">H", name.encode("utf-16-be", "surrogatepass")):
        digest = (31 * digest + unit) & _WORD
    return 0 if digest == _INT_MIN else min(digest, _WORD + 1 - digest)


Hash = Callable[[bytes], int]
"""From a key to a number of at least 0; modulo the count it is the partition."""


def murmur2(key: bytes) -> int:
    """The Java client's hash with its sign bit cleared; librdkafka's `murmur2` and `murmur2_random` are the same."""
    digest = _SEED ^ len(key)
    whole = len(key) & ~3
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        mixed = word * _MIX & _WORD
        mixed = (mixed ^ mixed >> 24) * _MIX & _WORD
        digest = (digest * _MIX & _WORD) ^ mixed
    if whole < len(key):
        digest = (digest ^ int.from_bytes(key[whole:], "little")) * _MIX & _WORD
    digest = (digest ^ digest >> 13) * _MIX & _WORD
    return (digest ^ digest >> 15) & 0x7FFFFFFF


def crc32(key: bytes) -> int:
    """The hash of librdkafka's `consistent` and `consistent_random`, its default."""
    return zlib.crc32(key)


def fnv1a(key: bytes) -> int:
    """The hash of librdkafka's `fnv1a` and `fnv1a_random` and of Sarama: its absolute value as an int32."""
    digest = 0x811C9DC5
    for byte in key:
        digest = (digest ^ byte) * 0x01000193 & _WORD
    return min(digest, _WORD + 1 - digest)


PARTITIONERS: Final[Mapping[str, Hash]] = {"murmur2": murmur2, "crc32": crc32, "fnv1a": fnv1a}
"""By the hash that each is known by, the Java client's first."""
