"""Where replicas hold different records: who stands alone, whose epoch was superseded, who agrees with the leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from rules.chronicle.extents import Extents
from rules.replicas.disagreement import Difference
from rules.replicas.replica import Replica, same_topic
from rules.words import numbered


class Sides(Struct, frozen=True, kw_only=True):
    """The replicas that are at odds over a range, and what the disks tell of who is right."""

    brokers: tuple[int, ...]
    deviating: tuple[int, ...]
    """Those whose records are not the ones that count, as far as the disks tell; none where they do not."""
    with_leader: tuple[int, ...]
    """The last leader and those that hold the same as it there; none where its own log does not hold the range."""
    because: str


def sides(
    replicas: Sequence[Replica],
    differences: Sequence[Difference],
    offsets: tuple[int, int],
    disputed: Sequence[Difference],
    leader: Replica | None,
    *,
    epochs_used_twice: bool,
) -> Sides:
    """Which side is wrong in the disputed differences: whose epoch was superseded, or whom the others contradict.

    All the partition's replicas and differences are asked who agrees with whom in the range.
    """
    held = {r.broker: r for d in disputed for r in (d.left, d.right)}
    agreeing = {broker: _agreeing(held[broker], replicas, differences, offsets) for broker in sorted(held)}
    superseded = None if epochs_used_twice else _superseded(held, offsets[0])
    deviating, because = _of_an_earlier_topic(held, offsets) or superseded or _outvoted(agreeing) or ((), "")
    lineage = _lineage(leader, replicas, differences, offsets)
    if not because:
        because = "the disks alone do not tell which side is right"
    elif leader is not None and leader.broker in deviating:
        because += f", though broker {leader.broker} led last"
    elif leader is not None and leader.broker in held:
        because += f"; broker {leader.broker} led last"
    if perhaps := [b for b, r in held.items() if b not in deviating and Extents.of([offsets]) & r.earlier.possible]:
        because += f"; {_OLDER.format(numbered('broker', sorted(perhaps), 'holds'), 'may be')}"
    return Sides(brokers=tuple(sorted(held)), deviating=deviating, with_leader=lineage, because=because)


_OLDER: Final = "what {} there {} of an earlier topic of this name"


def _of_an_earlier_topic(held: Mapping[int, Replica], offsets: tuple[int, int]) -> tuple[tuple[int, ...], str] | None:
    """The topic was created again, and some have records of before."""
    part = Extents.of([offsets])
    older = tuple(broker for broker in sorted(held) if part <= held[broker].earlier.sure)
    others = any(not part & replica.earlier.possible for replica in held.values())
    return (older, _OLDER.format(numbered("broker", older, "holds"), "is")) if older and others else None


def _superseded(held: Mapping[int, Replica], start: int) -> tuple[tuple[int, ...], str] | None:
    """A later epoch wrote its own records where an earlier one's stand."""
    epochs = {broker: _epoch_at(held[broker], start) for broker in sorted(held)}
    highest = max(epochs.values())
    older = tuple(broker for broker, epoch in epochs.items() if epoch < highest)
    # Whoever holds the later epoch too, from further on, has it from another leader: the number stands for two epochs.
    own = (run for broker in older for run in held[broker].log.epochs if run.start_offset > start)
    if not older or min(epochs.values()) < 0 or any(run.epoch == highest for run in own):
        return None
    winners = [broker for broker, epoch in epochs.items() if epoch == highest]
    return older, (
        f"{numbered('broker', older, 'holds')} what epoch {epochs[older[0]]} wrote;"
        f" {numbered('broker', winners, 'holds')} what the later epoch {highest} wrote in its place"
    )


def _outvoted(agreeing: Mapping[int, frozenset[int]]) -> tuple[tuple[int, ...], str] | None:
    """Of records of one epoch those are wrong that no other replica holds, where others agree."""
    alone = tuple(broker for broker, others in agreeing.items() if not others)
    majority = max(({broker, *others} for broker, others in agreeing.items()), key=len)
    if len(majority) == 1 or not alone or len(alone) == len(agreeing):
        return None
    return alone, (
        f"{numbered('broker', alone, 'differs')} from all others; {numbered('broker', sorted(majority), 'agrees')}"
    )


def _lineage(
    leader: Replica | None, replicas: Sequence[Replica], differences: Sequence[Difference], offsets: tuple[int, int]
) -> tuple[int, ...]:
    if leader is None or not leader.holds(*offsets):
        return ()
    return tuple(sorted({leader.broker, *_agreeing(leader, replicas, differences, offsets)}))


def _agreeing(
    replica: Replica, replicas: Iterable[Replica], differences: Iterable[Difference], offsets: tuple[int, int]
) -> frozenset[int]:
    """Brokers whose replicas hold the whole range and hold the same there."""
    start, end = offsets
    differing = {
        broker
        for d in differences
        if replica in (d.left, d.right) and d.start_offset < end and start < d.end_offset
        for broker in (d.left.broker, d.right.broker)
    }
    others = (r for r in replicas if r is not replica and same_topic(r, replica) and r.broker not in differing)
    return frozenset(other.broker for other in others if other.holds(start, end))


def _epoch_at(replica: Replica, offset: int) -> int:
    return next((run.epoch for run in replica.log.epochs if run.start_offset <= offset < run.end_offset), -1)
