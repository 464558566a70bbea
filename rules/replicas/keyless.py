"""Records without keys: by which of the Java client's partitioners they lie where they do, told by their order in time.

To 2.3 each record goes to the next partition in turn. From 2.4 on a producer stays with one partition until a batch is
made, and then takes another by chance. From 3.3 on (KIP-794) it stays for as many bytes as a batch may have, in however
many batches, and may take the same one again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log, sqrt
from typing import Final, Literal

from msgspec import Struct

Order = Literal["round-robin", "sticky", "uniform sticky", "alternating", "untellable", "unknown"]
"""`alternating`: of two partitions each gets a batch in turn, as round-robin and sticky alike may do.

`untellable`: too few batches, or their times do not order them. `unknown`: no known partitioner makes this order.
"""

BATCHES_KEPT: Final = 256
"""Of a producer and a partition, the first ones: order shows in few."""
_FEW: Final = 20
_MOST: Final = 0.9
_UNLIKELY: Final = 0.01
_EVEN: Final = 0.1
_PAIR: Final = 2
_USUAL: Final = 0.85
_DEVIATIONS: Final = 4
_STAY: Final = 4
"""How much longer than the shortest a stay may be: a batch may take in as much again as it should.

Chance may take the same partition several times in a row, which looks like one stay.
"""


class KeylessBatch(Struct, frozen=True, kw_only=True):
    """A batch none of whose records has a key."""

    first_time: int
    last_time: int
    records: int
    size: int


class KeylessTally(Struct, frozen=True, kw_only=True):
    """What one producer wrote without keys into a partition while it had these numbers of partitions."""

    producer: int
    """-1 for all producers without an id."""
    counts: tuple[int, ...]
    records: int = 0
    largest: int = 0
    """Records of the largest batch."""
    batches: tuple[KeylessBatch, ...] = ()
    whole: bool = True
    """Whether these are all batches; else they are the first."""


def order_of(tallies: Mapping[int, KeylessTally], partitions: int) -> Order:
    """The partitioner by which a producer's records without keys lie so in the partitions of a topic."""
    totals = [tallies[place].records if place in tallies else 0 for place in range(partitions)]
    placed = _in_time(tallies)
    if len(placed) < _FEW or sum(totals) < _FEW:
        return "untellable"
    if sum(one.first_time < other.first_time for (_, one), (_, other) in pairwise(placed)) < _MOST * (len(placed) - 1):
        return "untellable"
    moves = [(one, other) for (here, one), (there, other) in pairwise(placed) if here != there]
    if sum(one.last_time <= other.first_time for one, other in moves) >= _MOST * len(moves):
        return _one_by_one(placed, partitions)
    spread = max(totals) - min(totals)
    largest = max(tally.largest for tally in tallies.values())
    even = spread <= 2 * largest and spread <= _EVEN * sum(totals) / partitions
    return "round-robin" if even else "unknown"


def _in_time(tallies: Mapping[int, KeylessTally]) -> list[tuple[int, KeylessBatch]]:
    """The batches of all partitions by their first times, as far as all of them are kept."""
    ends = [tally.batches[-1].first_time for tally in tallies.values() if not tally.whole]
    every = ((place, batch) for place, tally in tallies.items() for batch in tally.batches)
    return sorted(
        ((place, batch) for place, batch in every if not ends or batch.first_time <= min(ends)),
        key=lambda found: (found[1].first_time, found[1].last_time, found[0]),
    )


def _one_by_one(placed: Sequence[tuple[int, KeylessBatch]], partitions: int) -> Order:
    """Batches that follow each other in time: in turn, by chance, or as somebody chose."""
    stays = _stays(placed)
    if len(stays) < _FEW:
        # Few moves show no chance: a partition chosen for a while looks alike.
        return "unknown" if len(stays) == 1 else "untellable"
    places = [place for place, _ in stays]
    again = 1 - (len(stays) - 1) / (len(placed) - 1)
    if partitions == _PAIR and again == 0:
        return "alternating"
    if partitions > _PAIR and _in_turn(places):
        # Who writes records in turn has a batch open in each partition: none ends before the next one begins.
        ended = sum(a.records > 1 and a.last_time <= b.first_time for (_, a), (_, b) in pairwise(placed))
        return "round-robin" if ended <= (1 - _MOST) * len(placed) and len(set(places)) == partitions else "unknown"
    if not _by_chance(places, partitions):
        return "unknown"
    if again == 0:
        return "sticky"
    lengths = sorted(length for _, length in stays[1:-1])
    longest = _STAY * (1 + log(len(stays), partitions)) * lengths[0]
    alike = lengths[len(lengths) // 2] <= _STAY * lengths[0] and lengths[-1] <= longest
    return "uniform sticky" if alike or again <= 2 / partitions else "unknown"


def _in_turn(places: Sequence[int]) -> bool:
    """Whether each partition is nearly always followed by the same other one."""
    follow = Counter(pairwise(places))
    usual = {place: max((count for (a, _), count in follow.items() if a == place), default=0) for place in set(places)}
    return sum(usual.values()) >= _USUAL * (len(places) - 1)


def _by_chance(places: Sequence[int], partitions: int) -> bool:
    """Whether chance takes partitions so: none is left out and none is taken far too often."""
    mean = len(places) / partitions
    if len(set(places)) < partitions and partitions * (1 - 1 / partitions) ** len(places) < _UNLIKELY:
        return False
    return max(map(places.count, set(places))) <= mean + _DEVIATIONS * sqrt(mean)


def _stays(placed: Sequence[tuple[int, KeylessBatch]]) -> list[tuple[int, int]]:
    """Batches in a row in one partition, as the partition and their bytes."""
    stays: list[tuple[int, int]] = []
    for place, batch in placed:
        if stays and stays[-1][0] == place:
            stays[-1] = place, stays[-1][1] + batch.size
        else:
            stays.append((place, batch.size))
    return stays
