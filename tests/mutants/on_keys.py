"""Mutants by keys: the records of `orders`, which have none, get keys that murmur2 places where the records lie."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from rules.protocol.partitioning import murmur2
from tests.mutants.mutant import Change, Mutant
from tests.mutants.surgery import Copy, base_of, is_control, rewritten

SAMPLE: Final = "clean_mixed"
ALL: Final = (1, 2, 3)
PARTITIONS: Final = 3
STRAY: Final = (2, 136)
"""Partition and first offset of a batch of four, of a producer that wrote sixty records."""


def keyed(stray: int = 0) -> Change:
    """One batch has keys of the partition that stands so many places behind its own."""

    def change(copy: Copy) -> None:
        copy.without("*/data/state-*")
        for broker in ALL:
            for partition in range(PARTITIONS):
                replica = f"orders-{partition}"
                keys, strays = _keys_of(partition), _keys_of((partition + stray) % PARTITIONS)
                own = [(b, (partition, base_of(b)) == STRAY) for b in copy.batches(broker, replica)]
                copy.write(broker, replica, [_keyed(b, strays if astray else keys) for b, astray in own])

    return change


def _keyed(batch: bytes, keys: Iterator[bytes]) -> bytes:
    return batch if is_control(batch) else rewritten(batch, lambda _key, value: (next(keys), value))


def _keys_of(partition: int) -> Iterator[bytes]:
    keys = (b"user-%d" % number for number in count())
    return (key for key in keys if murmur2(key) % PARTITIONS == partition)


MUTANTS: Final = (
    Mutant(
        rule="PLACE001", sample=SAMPLE, change=keyed(stray=1), said=(("low", (), None, None),),
        lawful=keyed(), because="all keys lie where their producers' partitioner places them", level="deep",
    ),
)  # fmt: skip
