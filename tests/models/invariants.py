"""The published invariants, by name, over the states of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Final

from tests.models.oracle import Model, Record, ReplicaState

Terms = dict[tuple[int, int], int]


class History:
    """What an invariant over time has to remember of the past."""

    def __init__(self) -> None:
        self.watermarks: Terms = {}
        self.known_epochs: dict[int, int] = {}
        self.committed: dict[int, Record] = {}


Invariant = Callable[[Model, History], bool]


def presumed_leaders(model: Model) -> Iterator[tuple[int, ReplicaState]]:
    """Whoever believes to lead, and may serve."""
    return ((broker, replica) for broker, replica in model.replicas.items() if replica.alive and replica.presumes)


def weak_isr(model: Model, _history: History) -> bool:
    """A presumed leader's own ISR holds its log up to its high watermark."""
    return all(
        model.replicas[member].log[: leader.hw] == leader.log[: leader.hw]
        for _, leader in presumed_leaders(model)
        for member in leader.isr
    )


def strong_isr(model: Model, _history: History) -> bool:
    """The quorum's ISR holds the log of whoever presumes to lead, up to that one's high watermark."""
    return all(
        model.replicas[member].log[: leader.hw] == leader.log[: leader.hw]
        for _, leader in presumed_leaders(model)
        for member in model.quorum.isr
    )


def leader_in_isr(model: Model, _history: History) -> bool:
    """The quorum's leader is in its ISR."""
    return model.quorum.leader is None or model.quorum.leader in model.quorum.isr


def monotonic_high_watermark(model: Model, history: History) -> bool:
    """A leader's high watermark does not fall within its term."""
    rising = True
    for broker, leader in presumed_leaders(model):
        term = (broker, leader.state.leader_epoch if leader.state else -1)
        rising = rising and leader.hw >= history.watermarks.get(term, 0)
        history.watermarks[term] = leader.hw
    return rising


def monotonic_epoch(model: Model, _history: History) -> bool:
    """Epochs do not fall along a log."""
    return all(one.epoch <= next_one.epoch for r in model.replicas.values() for one, next_one in pairwise(r.log))


def log_matching(model: Model, _history: History) -> bool:
    """Two logs hold the same below both high watermarks."""
    for one, other in combinations(model.replicas.values(), 2):
        end = min(one.hw, other.hw, one.end, other.end)
        if one.log[:end] != other.log[:end]:
            return False
    return True


def consistent_committed_data(model: Model, history: History) -> bool:
    """What was once below a leader's high watermark is never served otherwise."""
    consistent = True
    for _, leader in presumed_leaders(model):
        for offset, record in enumerate(leader.log[: leader.hw]):
            consistent = consistent and history.committed.setdefault(offset, record) == record
    return consistent


def first_non_matching_offset(model: Model, _history: History) -> bool:
    """KIP-279 by epochs and ends cuts where the models, which look into both logs, cut."""
    return not model.cut_elsewhere


INVARIANTS: Final[dict[str, Invariant]] = {
    "WeakIsr": weak_isr,
    "StrongIsr": strong_isr,
    "LeaderInIsr": leader_in_isr,
    "MonotonicHighWatermark": monotonic_high_watermark,
    "MonotonicEpoch": monotonic_epoch,
    "LogMatching": log_matching,
    "ConsistentCommittedData": consistent_committed_data,
    "FirstNonMatchingOffsetFromTail": first_non_matching_offset,
}


def violated(model: Model, history: History) -> set[str]:
    """The invariants that this state breaks."""
    return {name for name, holds in INVARIANTS.items() if not holds(model, history)}
