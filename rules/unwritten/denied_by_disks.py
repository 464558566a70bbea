"""Where the disks do not bear a reconstruction out: something befell the logs that nothing tells of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from rules.chronicle.extents import Extents
from rules.replicas.disagreement import Difference, Uncompared
from rules.replicas.replica import Replica, same_topic
from rules.unwritten.epoch_log import PossibleLog
from rules.unwritten.ways import SERVER_LOG, Open
from rules.unwritten.written_logs import WrittenLogs


def contradicted(
    fold: WrittenLogs, replicas: Sequence[Replica], differences: Sequence[Difference], uncompared: Sequence[Uncompared]
) -> Open | None:
    """Why nothing is said: records differ where one was copied from the other, or are the same where none was."""
    for left, right in combinations(replicas, 2):
        ours, theirs = fold.log_of(left.broker), fold.log_of(right.broker)
        if not same_topic(left, right) or isinstance(ours, Open) or isinstance(theirs, Open):
            continue
        pair = {left.broker, right.broker}
        differ = Extents.of((d.start_offset, d.end_offset) for d in differences if _brokers(d) == pair)
        unknown = Extents.of((u.start_offset, u.end_offset) for u in uncompared if _brokers(u) == pair)
        apart = [Extents.of(_apart(mine, other)) for mine in ours for other in theirs]
        start, end = max(left.log_start_offset, right.log_start_offset), min(left.log_end_offset, right.log_end_offset)
        shared = Extents.of([(start, end)]) - unknown
        if not any((where & shared) == (differ & shared) for where in apart):
            whose = f"the logs of brokers {left.broker} and {right.broker}"
            return Open(f"{whose} are not as what is told would have made them", SERVER_LOG)
    return None


def _brokers(of: Difference | Uncompared) -> set[int]:
    return {of.left.broker, of.right.broker}


def _apart(left: PossibleLog, right: PossibleLog) -> Iterator[tuple[int, int]]:
    """Where two logs hold records of different epochs."""
    edges = sorted({0, *(end for held in (left, right) for _, start, stop in held.stretches for end in (start, stop))})
    for start, end in pairwise(edges):
        if left.epoch_at(start) != right.epoch_at(start):
            yield start, end
