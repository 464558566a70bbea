"""Which offsets of a log stand in batches that can be read, and whose copy is whole beside another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rules.facts.stretch import LogFacts
from rules.protocol.offsets import without
from rules.protocol.versions import EPOCHS_SINCE_MAGIC
from rules.replicas.replica import Replica, same_topic

Ranges = Sequence[tuple[int, int]]


def readable(replica: Replica, *, compacted: bool) -> list[tuple[int, int]]:
    """The offsets that no known defect touches; where offsets may be missing lawfully, missing ones are no defect."""
    log = replica.log
    if log.end_offset is None:
        return []
    lawful = compacted or log.unknown_bases > 0 or any(magic < EPOCHS_SINCE_MAGIC for magic in log.magics)
    first = replica.log_start_offset if lawful or log.first_offset is None else log.first_offset
    return [*without(first, log.end_offset, [*_unreadable(log), *(() if lawful else _missing(log))])]


def without_transactions(logs: Sequence[Replica]) -> bool:
    """Whether all logs are of formats that know no transactions, and no epoch file shows a newer one before."""
    formats = {magic for replica in logs for magic in replica.log.magics}
    older = bool(formats) and max(formats) < EPOCHS_SINCE_MAGIC
    return older and not any(replica.epoch_file.entries for replica in logs)


def whole_copies(
    replica: Replica, peers: Sequence[Replica], missed: tuple[int, int], by_path: Mapping[str, Ranges]
) -> list[int]:
    """Brokers whose copies hold what this one misses, and all else that it knows to be committed.

    What each copy holds readable is given by its path.
    """
    mark = replica.high_watermark
    held = by_path[replica.path]
    own = [missed, *(held if mark is None else ((low, min(high, mark.offset)) for low, high in held))]
    found = []
    for peer in peers:
        if peer is replica or not peer.end_known or not same_topic(peer, replica):
            continue
        held = by_path[peer.path]
        if not any(True for low, high in own for _ in without(max(low, peer.log_start_offset), high, held)):
            found.append(peer.broker)
    return found


def _unreadable(log: LogFacts) -> Iterator[tuple[int, int]]:
    """Where bytes stand that are no batch, or a batch that is damaged; behind all batches nothing is taken away."""
    for unread in log.unread:
        if unread.next_offset is not None:
            yield unread.expected_offset or 0, unread.next_offset
    yield from ((fault.base_offset, fault.end_offset) for fault in log.checksum_faults)


def _missing(log: LogFacts) -> Iterator[tuple[int, int]]:
    yield from ((step.expected, step.found) for step in log.gaps)
