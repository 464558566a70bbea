"""What the order of leader epochs tells of replicas: who would lead; and whether it is one, or began anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from rules.facts.stretch import EpochRun
from rules.history.moments import Moment
from rules.replicas.replica import Replica, same_topic


def epoch_falls(replica: Replica) -> Iterator[tuple[EpochRun, EpochRun]]:
    """Where a log goes on in a lower leader epoch: the runs before and behind."""
    runs = [run for run in replica.log.epochs if run.epoch >= 0]
    yield from ((before, behind) for before, behind in pairwise(runs) if behind.epoch < before.epoch)


def epochs_used_twice(moments: Iterable[Moment], replicas: Sequence[Replica], *, fall_back: bool) -> bool:
    """Whether leader epochs began anew while the logs went on, as after ZooKeeper was put back to an older state.

    A log that falls back does not show it where no broker's roles do, and both epochs are told as opened once, below
    all of their records: there a deposed leader went on, or older records were fetched late.
    """
    return fall_back or fall_in_a_log(moments, replicas) is not None


def fall_in_a_log(
    moments: Iterable[Moment], replicas: Sequence[Replica]
) -> tuple[Replica, EpochRun, EpochRun] | None:
    """The first log that goes on in a lower epoch where nothing else explains it, with the runs before and behind."""
    falls = [(replica, *pair) for replica in replicas for pair in epoch_falls(replica)]
    epochs = {run.epoch for _, *pair in falls for run in pair}
    opened: dict[int, set[tuple[int | None, int | None]]] = {}
    for m in moments if falls else ():
        if m.kind == "leader-starts" and m.epoch in epochs and not m.doubtful:
            opened.setdefault(m.epoch, set()).add((m.witness, m.offset))
    first = _first_records(replicas)
    twice = {epoch for epoch in epochs if not _opened_once(opened.get(epoch, set()), first.get(epoch, 0))}
    return next((fall for fall in falls if not twice.isdisjoint((fall[1].epoch, fall[2].epoch))), None)


def _opened_once(openers: AbstractSet[tuple[int | None, int | None]], first_record: int) -> bool:
    """Whether an epoch is told as opened by one broker at one offset, and no record of its number stands below."""
    return len(openers) == 1 and all(offset is None or offset <= first_record for _, offset in openers)


def _first_records(replicas: Sequence[Replica]) -> Mapping[int, int]:
    """The lowest offset at which any log holds a record of each epoch."""
    first: dict[int, int] = {}
    for run in (run for replica in replicas for run in replica.log.epochs):
        first[run.epoch] = min(run.start_offset, first.get(run.epoch, run.start_offset))
    return first


def presumed_leaders(replicas: Sequence[Replica]) -> tuple[Replica, ...]:
    """Those of the newest epoch, then of the longest log: several where the disks alone cannot tell them apart.

    A log whose end could not be read is passed over where another could lead.
    """
    able = _may_lead(replicas)
    return tuple(
        replica
        for replica in able
        if not any(_rank(other) > _rank(replica) for other in able if same_topic(other, replica))
    )


def _rank(replica: Replica) -> tuple[bool, int, int]:
    return replica.end_known, replica.last_known_epoch, replica.log_end_offset


def _may_lead(replicas: Sequence[Replica]) -> Sequence[Replica]:
    """Those that can be elected: of a metadata log the voters, where their files tell who they are."""
    voters = {voter for replica in replicas for voter in replica.voters}
    return [replica for replica in replicas if replica.broker in voters] or replicas
