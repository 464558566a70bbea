"""When a leader can have taken replicas in, by its answers: it waits until they have asked for its high watermark.

The line of an ISR stands in another file than the answers. Where that file's times are not of the leader's clock, the
line seems to come too early, and a replica to be in sync that is behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from rules.history.moments import Moment, accepted
from rules.history.statements import Fetched
from rules.replay.leads.told_isr import InForce


class OffsetTold(Struct, frozen=True, kw_only=True):
    """For which offset a replica asked its leader; or by no replica, which high watermark that answered."""

    at: int
    broker: int | None
    epoch: int | None
    offset: int

    def stale(self, left: int | None, epoch: int | None) -> bool:
        """Whether the replica asked before it was left out of an ISR, by the time or by the epoch that it named."""
        before = left is not None and self.at < left
        older = self.epoch is not None and epoch is not None and self.epoch < epoch
        return self.broker is not None and (before or older)


def once_reached(told: Sequence[InForce], rows: Iterable[Moment]) -> list[InForce]:
    """The same, none surely in force before whoever it takes in has reached what the leader had answered by then."""
    grows = any(after.isr - before.isr for before, after in pairwise(told))
    asked = sorted(_asked(rows), key=lambda each: each.at) if grows else []
    late = [_late(before, after, asked) for before, after in pairwise(told)]
    return [*told[:1], *late]


def _late(before: InForce, after: InForce, asked: Sequence[OffsetTold]) -> InForce:
    joined = after.isr - before.isr
    if after.latest is None or not joined:
        return after
    left, epoch = before.latest if before.earliest is None else before.earliest, before.moment.epoch
    since = [each for each in asked if not each.stale(left, epoch)]
    return replace(after, latest=max(_reached(broker, after.latest, since) for broker in joined))


def _reached(broker: int, since: int, asked: Iterable[OffsetTold]) -> int:
    """From a time on, when a replica that was left out had asked for all that its leader had told; the time if never.

    What it had asked for before it was left out takes it in no more.
    """
    told, reach = 0, -1
    for each in asked:
        if each.at > since and reach >= told:
            return since
        if each.broker is None:
            told = max(told, each.offset)
        elif each.broker == broker:
            reach = max(reach, each.offset)
            if each.at > since and reach >= told:
                return each.at
    return since


def _asked(rows: Iterable[Moment]) -> Iterator[OffsetTold]:
    for row in rows:
        if not isinstance(row, Fetched) or row.time is None or row.doubtful or not accepted(row):
            continue
        if row.kind == "fetched" and row.offset is not None:
            came = row.taken_in if row.taken_in is not None else row.time
            yield OffsetTold(at=came, broker=row.broker, epoch=row.epoch, offset=row.offset)
        if row.high_watermark is not None:
            yield OffsetTold(at=row.time, broker=None, epoch=None, offset=row.high_watermark)
