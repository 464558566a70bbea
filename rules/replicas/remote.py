"""Copies of a partition's segments in remote storage, as `__remote_log_metadata` tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from parsers.provenance import Span


class RemoteCopy(Struct, frozen=True, kw_only=True):
    """Records of one leader epoch in a segment that stands whole in remote storage; its bytes are not in a dump."""

    segment: str
    """Its id there."""
    topic_id: str
    broker: int
    """Who copied it."""
    epoch: int
    start_offset: int
    end_offset: int
    span: Span

    def within(self, epoch: int, start: int, end: int) -> bool:
        """Whether it holds anything of an epoch in a range."""
        return self.epoch == epoch and self.start_offset < end and start < self.end_offset


def by_epoch(epochs: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """What each epoch has of a segment: the epoch, and its range there."""
    begun = sorted(epochs, key=lambda entry: entry[1])
    for (epoch, first), (_, following) in pairwise([*begun, (-1, end)]):
        low, high = max(first, start), min(following, end)
        if low < high:
            yield epoch, low, high


def of_the_topic(copies: Iterable[RemoteCopy], topic_ids: frozenset[str]) -> tuple[RemoteCopy, ...]:
    """Copies in the order of offsets, without those of another topic of the name."""
    own = {copy for copy in copies if not topic_ids or copy.topic_id in topic_ids}
    return tuple(sorted(own, key=lambda c: (c.epoch, c.start_offset, c.end_offset, c.segment)))
