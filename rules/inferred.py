"""Cuts that no log tells of, inferred from what they left on the disk: whole segments that wait for their deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rules.facts import EpochRun
from rules.replica import Leftover, Replica


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredCut:
    """A cut at or below an offset, by the segments that it put aside."""

    broker: int
    offset: int
    """The log was cut here or below: segments go as a whole, the one that is cut inside is not put aside."""
    log_end_offset: int
    """The log had reached this far at least."""
    runs: tuple[EpochRun, ...]
    """What went, as far as the segments put aside hold it."""
    regrown: bool
    """Whether the log has gone on since: its high watermark on disk may then be of records that came later."""
    sound: bool
    """Whether nothing of what was put aside failed its checksum."""
    because: str


def may_be_cut(replica: Replica, leftover: Leftover) -> bool:
    """Whether a segment put aside can have been cut off: neither retention nor the cleaner explains it."""
    lawful = replica.state != "current" or replica.cleaned or leftover.base_offset < replica.log_start_offset
    return not lawful and leftover.size > 0


def inferred_cuts(replicas: Iterable[Replica]) -> Iterator[InferredCut]:
    """One cut for every replica whose segments put aside hold what its log does not."""
    for replica in replicas:
        gone = [left for left in replica.leftovers if may_be_cut(replica, left) and _was_cut(replica, left)]
        if gone:
            runs = tuple(run for left in sorted(gone, key=lambda left: left.base_offset) for run in left.epochs)
            regrown = replica.log_end_offset > runs[0].start_offset
            yield InferredCut(
                broker=replica.broker,
                offset=min(runs[0].start_offset, replica.log_end_offset),
                log_end_offset=max(run.end_offset for run in runs),
                runs=runs,
                regrown=regrown,
                sound=all(left.sound for left in gone),
                because=f"its directory holds {', '.join(left.source.rpartition('/')[2] for left in gone)}",
            )


def _was_cut(replica: Replica, leftover: Leftover) -> bool:
    """Whether the log ends before what the segment holds, or holds another epoch's records at its first offset."""
    if not leftover.epochs:
        return False
    first = leftover.epochs[0]
    if first.start_offset >= replica.log_end_offset:
        return True
    held = (run for run in replica.log.epochs if run.start_offset <= first.start_offset < run.end_offset)
    return any(run.epoch != first.epoch for run in held)
