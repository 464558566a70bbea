"""Mutants by transactions and indexes: of `orders-0` of a healthy 3.9.1 cluster, whose last one commits at 436.

And of `pay-0` of `left_open`, where one producer writes two transactions, whose markers stand at 5 and 16.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.on_disks import killed
from tests.mutants.surgery import SUMMED, UNDER_CRC, Copy, altered, base_of

SAMPLE: Final = "clean_mixed"
ORDERS: Final = "orders-0"
ALL: Final = (1, 2, 3)
HOUR_MS: Final = 3_600_000
MARKER: Final = 161
LATER: Final = (1_795_240_196_760, 139, 4376)
"""Of the batch [133, 140): its latest timestamp, its last offset, and its first byte."""


def unmarked(copy: Copy) -> None:
    """The last transaction has no marker: where it stood twice, a record of nobody's stands."""
    for broker in ALL:
        for at in (436, 437):
            copy.change(broker, ORDERS, at, lambda held: altered(held, attributes=0, producer_id=-1, producer_epoch=-1))


def hanging(copy: Copy) -> None:
    """And it began an hour earlier than its coordinator wrote that it is complete."""
    unmarked(copy)
    for broker in ALL:
        copy.change(broker, ORDERS, 426, _an_hour_older)


def _an_hour_older(held: bytes) -> bytes:
    fields = UNDER_CRC.unpack_from(held, SUMMED)
    return altered(held, base_timestamp=fields[2] - HOUR_MS, max_timestamp=fields[3] - HOUR_MS)


def without_a_marker(copy: Copy) -> None:
    copy.change(2, ORDERS, MARKER, lambda _held: b"")


def index(suffix: str, how: Callable[[bytes], bytes]) -> Callable[[Copy], None]:
    """Broker 2's index holds something else."""

    def change(copy: Copy) -> None:
        path = copy.segment(2, ORDERS).with_suffix(suffix)
        assert how(path.read_bytes()) != path.read_bytes()
        path.write_bytes(how(path.read_bytes()))

    return change


def unfinished(copy: Copy) -> None:
    """Broker 2 was killed before the last abort stood in its index."""
    index(".txnindex", lambda held: held[:-34])(copy)
    killed(2)(copy)


def not_yet_marked(copy: Copy) -> None:
    """Broker 2's log ends before the marker."""
    copy.write(2, ORDERS, [held for held in copy.batches(2, ORDERS) if base_of(held) < MARKER])


def fencing(at: int) -> Callable[[Copy], None]:
    """The marker there bears an epoch above all that its producer writes in, as where a coordinator fences it."""

    def change(copy: Copy) -> None:
        for broker in (2, 3):
            copy.change(broker, "pay-0", at, lambda held: altered(held, producer_epoch=9))

    return change


MUTANTS: Final = (
    Mutant(
        rule="IDX001", sample=SAMPLE, change=index(".index", lambda held: held[:4] + b"\0\0\0\x07" + held[8:]),
        said=(("low", (2,), 125, 126),), lawful=index(".index", lambda held: struct.pack(">ii", *LATER[1:]) + held[8:]),
        because="an entry may be of a later batch",
    ),
    Mutant(
        rule="IDX002", sample=SAMPLE, change=index(".timeindex", lambda held: b"\0\0\0\0\0\0\0\1" + held[8:]),
        said=(("low", (2,), 125, 126),),
        lawful=index(".timeindex", lambda held: struct.pack(">qi", *LATER[:2]) + held[12:]),
        because="an entry may be of a later batch",
    ),
    Mutant(
        rule="IDX003", sample=SAMPLE, change=index(".txnindex", lambda held: held[:-34]),
        said=(("low", (2,), 344, 345),), lawful=unfinished,
        because="after a crash the newest abort may be missing: the next start makes the index again",
    ),
    Mutant(
        rule="TXN001", sample=SAMPLE, change=hanging, said=(("medium", (3,), 426, 427),),
        lawful=unmarked, because="the log ends soon after: its marker may still come",
    ),
    Mutant(
        rule="TXN002", sample=SAMPLE, change=without_a_marker,
        said=(("high", (1, 2), 151, 162), ("high", (2, 3), 151, 162)),
        lawful=not_yet_marked, because="a log that ends before the marker says nothing of it",
    ),
    Mutant(
        rule="TXN003", sample=SAMPLE, change=hanging, said=(("medium", (3,), 426, 458),),
        lawful=unmarked, because="the log ends soon after: its marker may still come",
    ),
    Mutant(
        rule="TXN004", sample="left_open", change=fencing(5), said=(("medium", (2, 3), 6, 12),),
        lawful=fencing(16), because="the fenced producer writes nothing more",
    ),
)  # fmt: skip
