"""Logs under the name of a partition that nothing shows to be of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from rules.replicas.replica import Replica, same_topic


def stands_alone(replica: Replica, replicas: Sequence[Replica]) -> bool:
    """Whether its log has no batch of any other replica's: it may be another partition's, under this one's name."""
    others = [other for other in replicas if other is not replica and same_topic(other, replica)]
    return bool(others) and not any(shares_a_batch(replica, other) for other in others)


def credible(replicas: Sequence[Replica]) -> tuple[Replica, ...]:
    """The replicas but for those whose logs can be no copies: others agree, and they differ in the same epochs.

    Such a log tells nothing of the partition's past. Cleaners leave other batches of the same records.
    """
    agree = {id(one) for pair in combinations(replicas, 2) if shares_a_batch(*pair) for one in pair}
    sound = [replica for replica in replicas if id(replica) in agree]
    return tuple(r for r in replicas if r.cleaned or id(r) in agree or not any(_denies(r, other) for other in sound))


def shares_a_batch(left: Replica, right: Replica) -> bool:
    """Whether anything stands in both logs alike: a stretch by its digest, or a batch that was read again."""
    ours, theirs = ({(d.bucket, d.batches, d.digest) for d in r.log.digests} for r in (left, right))
    if not ours.isdisjoint(theirs):
        return True
    return not _read_again(left).isdisjoint(_read_again(right))


def _read_again(replica: Replica) -> set[tuple[int, int, int, int]]:
    marks = (mark for zoom in replica.zooms for mark in zoom.batches)
    return {(mark.base_offset, mark.leader_epoch, mark.size, mark.crc) for mark in marks}


def _denies(left: Replica, right: Replica) -> bool:
    """Whether both have records of one epoch at one offset, of logs that share no batch."""
    alike = ((a, b) for a, b in product(left.log.epochs, right.log.epochs) if a.epoch == b.epoch)
    return any(max(a.start_offset, b.start_offset) < min(a.end_offset, b.end_offset) for a, b in alike)
