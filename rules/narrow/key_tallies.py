"""Keys to tallies: how many of a batch of keys lie where each known partitioner would have placed them.

Keys are hashed by whole columns: those of one length are a matrix, whose columns are mixed one after the other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from parsers.provenance import Span
from rules.protocol.partitioning import PARTITIONERS
from rules.replicas.keyless import BATCHES_KEPT, KeylessBatch, KeylessTally
from rules.replicas.placing import Agreement, KeysPlaced, KeyTally

DIFFERENT_KEPT: Final = 1000
LOWEST_KEPT: Final = 64
"""Hashes of keys that are kept of a producer: of the same many keys the lowest are the same, wherever those lie."""
PRODUCERS_KEPT: Final = 1000
"""Producers that are tallied apart; the others are tallied with those that have no id."""
KEYLESS_KEPT: Final = 100
"""Producers whose batches without keys are kept: of others their order is not asked."""
Words: TypeAlias = npt.NDArray[np.uint32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
_MIX: Final = np.uint32(0x5BD1E995)
_PRIME: Final = np.uint32(0x01000193)
_TABLE: Final = np.array([zlib.crc32(bytes([b])) for b in range(256)], dtype=np.uint32)
"""CRC-32 of single bytes; all other steps follow from it."""


def hashed(keys: Sequence[bytes]) -> Mapping[str, Words]:
    """The hash of every key by every known partitioner."""
    lengths = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys))
    joined = np.frombuffer(b"".join(keys), dtype=np.uint8)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if len(keys) else lengths
    found = {name: np.zeros(len(keys), dtype=np.uint32) for name in PARTITIONERS}
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        matrix = joined[starts[alike, None] + np.arange(length)[None, :]]
        for name, hash_of in _COLUMNWISE.items():
            found[name][alike] = hash_of(matrix)
    return found


def _murmur2(keys: Bytes) -> Words:
    count, length = keys.shape
    digest = np.full(count, 0x9747B28C ^ length, dtype=np.uint32)
    whole = length & ~3
    words = np.ascontiguousarray(keys[:, :whole]).view("<u4") if whole else np.empty((count, 0), np.uint32)
    for column in range(whole // 4):
        mixed = words[:, column].astype(np.uint32) * _MIX
        mixed = (mixed ^ (mixed >> np.uint32(24))) * _MIX
        digest = (digest * _MIX) ^ mixed
    if whole < length:
        for place in range(whole, length):
            digest ^= keys[:, place].astype(np.uint32) << np.uint32(8 * (place - whole))
        digest *= _MIX
    digest = (digest ^ (digest >> np.uint32(13))) * _MIX
    return (digest ^ (digest >> np.uint32(15))) & np.uint32(0x7FFFFFFF)


def _crc32(keys: Bytes) -> Words:
    # The table holds whole checksums: both inversions and the first step are in it, and are taken out again.
    steps = _TABLE ^ _TABLE[0]
    digest = np.full(keys.shape[0], 0xFFFFFFFF, dtype=np.uint32)
    for column in range(keys.shape[1]):
        digest = steps[(digest ^ keys[:, column]) & np.uint32(0xFF)] ^ (digest >> np.uint32(8))
    inverted: Words = digest ^ np.uint32(0xFFFFFFFF)
    return inverted


def _fnv1a(keys: Bytes) -> Words:
    digest = np.full(keys.shape[0], 0x811C9DC5, dtype=np.uint32)
    for column in range(keys.shape[1]):
        digest = (digest ^ keys[:, column]) * _PRIME
    absolute: Words = np.minimum(digest, np.uint32(0) - digest)
    return absolute


_COLUMNWISE: Final = {"murmur2": _murmur2, "crc32": _crc32, "fnv1a": _fnv1a}


class _Open:
    """A tally in the making."""

    __slots__ = ("agreeing", "different", "first_apart", "first_time", "keys", "last_time", "lowest")

    def __init__(self) -> None:
        self.keys = 0
        self.different: set[int] = set()
        self.agreeing = dict.fromkeys(PARTITIONERS, 0)
        self.first_apart: dict[str, tuple[int, Span]] = {}
        self.lowest: Words = np.zeros(0, dtype=np.uint32)
        self.first_time: int | None = None
        self.last_time: int | None = None

    def at(self, times: tuple[int, int] | None) -> None:
        """Keys of batches of these times, the earliest and the latest."""
        if times is not None:
            self.first_time = times[0] if self.first_time is None else min(self.first_time, times[0])
            self.last_time = times[1] if self.last_time is None else max(self.last_time, times[1])


class _Keyless:
    """Batches without keys of one producer, in the making."""

    __slots__ = ("batches", "count", "largest", "records")

    def __init__(self) -> None:
        self.batches: list[KeylessBatch] = []
        self.count = self.records = self.largest = 0

    def take(self, batch: KeylessBatch) -> None:
        self.count += 1
        self.records += batch.records
        self.largest = max(self.largest, batch.records)
        if len(self.batches) < BATCHES_KEPT:
            self.batches.append(batch)

    def tally_of(self, producer: int, counts: tuple[int, ...]) -> KeylessTally:
        return KeylessTally(
            producer=producer,
            counts=counts,
            records=self.records,
            largest=self.largest,
            batches=tuple(self.batches),
            whole=self.count == len(self.batches),
        )


Kind: TypeAlias = tuple[int, tuple[int, ...]]
"""A producer and the numbers of partitions that it may have known of."""


class PlacingLedger:
    """The tallies of one partition while its log goes by in its order."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._open: dict[Kind, _Open] = {}
        self._keyless: dict[Kind, _Keyless] = {}
        self._unread = 0

    def unread(self) -> None:
        """A batch whose keys are not known."""
        self._unread += 1

    def batch(
        self,
        producer: int,
        counts: tuple[int, ...],
        keys: Sequence[bytes],
        offsets: Sequence[int],
        spans: Sequence[Span],
        times: tuple[int, int] | None = None,
    ) -> None:
        """Keys of one producer, each with its offset and its batch, in the order of the log."""
        if not keys:
            return
        tally = self._tally((producer, counts))
        tally.at(times)
        tally.keys += len(keys)
        for name, own in hashed(keys).items():
            there = np.zeros(len(keys), dtype=bool)
            for count in counts:
                there |= own % np.uint32(count) == self._partition
            tally.agreeing[name] += int(there.sum())
            if name not in tally.first_apart and not there.all():
                first = int(np.argmin(there))
                tally.first_apart[name] = offsets[first], spans[first]
            if name == "murmur2":
                tally.lowest = np.unique(np.concatenate((tally.lowest, own)))[:LOWEST_KEPT]
                if len(tally.different) < DIFFERENT_KEPT:
                    tally.different.update(own[:DIFFERENT_KEPT].tolist())

    def keyless(self, producer: int, counts: tuple[int, ...], batch: KeylessBatch) -> None:
        """A batch without any key, in the order of the log."""
        kind = producer, counts
        if kind not in self._keyless and len(self._keyless) >= KEYLESS_KEPT:
            return
        self._keyless.setdefault(kind, _Keyless()).take(batch)

    def _tally(self, kind: Kind) -> _Open:
        if kind not in self._open and len(self._open) >= PRODUCERS_KEPT:
            kind = -1, kind[1]
        return self._open.setdefault(kind, _Open())

    def close(self, broker: int) -> KeysPlaced:
        """All that was tallied."""
        keyless = sorted(self._keyless.items())
        return KeysPlaced(
            broker=broker,
            tallies=tuple(self._tallies()),
            keyless=tuple(tally.tally_of(*kind) for kind, tally in keyless),
            unread=self._unread,
        )

    def _tallies(self) -> Iterator[KeyTally]:
        for (producer, counts), tally in sorted(self._open.items()):
            agreements = tuple(
                Agreement(
                    partitioner=name,
                    agreeing=tally.agreeing[name],
                    first_apart=tally.first_apart.get(name, (None, None))[0],
                    span=tally.first_apart.get(name, (None, None))[1],
                )
                for name in PARTITIONERS
            )
            different = min(len(tally.different), DIFFERENT_KEPT)
            yield KeyTally(
                producer=producer,
                counts=counts,
                keys=tally.keys,
                different=different,
                lowest=tuple(tally.lowest.tolist()),
                first_time=tally.first_time,
                last_time=tally.last_time,
                agreements=agreements,
            )
