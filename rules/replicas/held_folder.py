"""One broker's folder of a partition, and what it shows of the log in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

Partition = tuple[str, int]


class Beginning(Protocol):
    """The batch with which a segment begins."""

    @property
    def fingerprint(self) -> bytes:
        """What every replica of it has."""

    @property
    def base_offset(self) -> int:
        """Its first offset."""

    @property
    def written(self) -> tuple[int, ...]:
        """What a cleaner leaves of it as it was written."""

    @property
    def whole(self) -> bool:
        """Whether no cleaner has taken a record out of it."""


def never_one(left: Beginning, right: Beginning) -> bool:
    """Whether two batches of one offset were never the same one, whatever a cleaner took out of either."""
    if left.base_offset != right.base_offset:
        return False
    return left.written != right.written or (left.whole and right.whole and left.fingerprint != right.fingerprint)


class HeldFolder(Struct, frozen=True, kw_only=True, eq=False):
    """One broker's folder of a partition: what its name makes of it, and what it shows of the log in it."""

    topic: str
    partition: int
    broker: int
    path: str
    topic_id: str | None
    heads: Mapping[int, Beginning]
    """First batches by the offsets after which their segments are named."""
    empty: bool = False
    """Whether it holds no batch, and never held one."""
    stopped: bool = False
    """Whether its broker shut down cleanly."""
    end: int | None = None
    """Where its log ends, as far as that is seen without reading much of it."""
    told_end: int | None = None
    """Up to where its broker told that this partition's log is flushed: at a clean shutdown it is the log's end."""

    @property
    def of(self) -> Partition:
        """The partition whose name the folder bears."""
        return self.topic, self.partition

    def alike(self, other: HeldFolder) -> bool:
        """Whether some segment of the two begins with the same batch."""
        return any(self.heads[base].fingerprint == other.heads[base].fingerprint for base in self._shared(other))

    def apart(self, other: HeldFolder) -> bool:
        """Whether the two were never copies of one log: none of their segments begins alike, and some cannot have."""
        shared = self._shared(other)
        return not self.alike(other) and any(never_one(self.heads[base], other.heads[base]) for base in shared)

    def doubles(self, other: HeldFolder, end_of: EndOf) -> bool:
        """Whether both are of one broker, and their logs begin alike, in every segment looked at, and end alike."""
        heads = [{base: head.fingerprint for base, head in each.heads.items()} for each in (self, other)]
        return self.broker == other.broker and heads[0] == heads[1] and end_of(self) == end_of(other) is not None

    def twin_of(
        self, other: HeldFolder, by_place: Mapping[Partition, Sequence[HeldFolder]], end_of: EndOf, tail_of: TailOf
    ) -> bool:
        """Whether both hold one log on one broker, neither is at hand elsewhere, and no topic id tells whose it is."""
        told_by_ids = self.topic != other.topic and self.topic_id is not None and self.topic_id == other.topic_id
        alone = len(by_place[self.of]) == len(by_place[other.of]) == 1
        return alone and not told_by_ids and self.doubles(other, end_of) and tail_of(self) == tail_of(other)

    def may_be_a_peer(self, other: HeldFolder) -> bool:
        """Whether the two may be of one life of their topic; of another life every batch differs."""
        return None in (self.topic_id, other.topic_id) or self.topic_id == other.topic_id

    def fits(self, end: int, told_end: int | None) -> bool:
        """Whether a log of this broker that ends at `end` can be the one of which it told `told_end`."""
        return told_end is None or (end == told_end if self.stopped else end >= told_end)

    def _shared(self, other: HeldFolder) -> Iterable[int]:
        return self.heads.keys() & other.heads.keys()


EndOf = Callable[[HeldFolder], int | None]
"""Where the log in a folder ends, however much of it must be read to see it."""

TailOf = Callable[[HeldFolder], bytes]
"""The last bytes of the log in a folder."""
