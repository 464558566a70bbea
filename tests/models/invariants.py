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
        self.truth: dict[int, Record] = {}
        """What true leaders have committed since the last unclean election."""
        self.decisions = 0

    def note(self, model: Model) -> None:
        """Take in what true leaders hold for committed; an unclean election gives up what was."""
        if any(request.unclean for request in model.requests[self.decisions :]):
            self.truth.clear()
        self.decisions = len(model.requests)
        for broker, leader in presumed_leaders(model):
            if model.is_true_leader(broker):
                self.truth |= dict(enumerate(leader.log[leader.start : leader.hw], leader.start))


Invariant = Callable[[Model, History], bool]


def presumed_leaders(model: Model) -> Iterator[tuple[int, ReplicaState]]:
    """Whoever believes to lead, and may serve."""
    return ((broker, replica) for broker, replica in model.replicas.items() if replica.alive and replica.presumes)


def hold_alike(leader: ReplicaState, member: ReplicaState) -> bool:
    """Whether a member holds a leader's log up to that one's high watermark, from the higher of the two log starts."""
    start = max(leader.start, member.start)
    return member.log[start : leader.hw] == leader.log[start : leader.hw]


def weak_isr(model: Model, _history: History) -> bool:
    """A presumed leader's own ISR holds its log up to its high watermark.

    Of that ISR a leader counts those of the assignment that it knows; who was removed since may hold nothing,
    added again or not.
    """
    return all(
        hold_alike(leader, model.replicas[member])
        for _, leader in presumed_leaders(model)
        for member in leader.isr & leader.followers.keys() & assigned_since(model, leader)
    )


def assigned_since(model: Model, leader: ReplicaState) -> frozenset[int]:
    """Who was of the assignment in all that was decided from a leader's epoch on."""
    epoch = leader.state.leader_epoch if leader.state else -1
    decided = (frozenset(quorum.replicas) for quorum in model.requests if quorum.leader_epoch >= epoch)
    return frozenset(model.quorum.replicas).intersection(*decided)


def strong_isr(model: Model, _history: History) -> bool:
    """The quorum's ISR holds the log of whoever presumes to lead, up to that one's high watermark.

    Who was removed from the assignment is no candidate any more, though it may be in the ISR for one more step.
    """
    return all(
        hold_alike(leader, model.replicas[member])
        for _, leader in presumed_leaders(model)
        for member in model.quorum.isr.intersection(model.quorum.replicas)
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
    return all(one.epoch <= other.epoch for r in model.replicas.values() for one, other in pairwise(r.log[r.start :]))


def log_matching(model: Model, _history: History) -> bool:
    """Two logs hold the same below both high watermarks."""
    for one, other in combinations(model.replicas.values(), 2):
        start, end = max(one.start, other.start), min(one.hw, other.hw, one.end, other.end)
        if one.log[start:end] != other.log[start:end]:
            return False
    return True


def consistent_committed_data(model: Model, history: History) -> bool:
    """What was once below a leader's high watermark is never served otherwise."""
    consistent = True
    for _, leader in presumed_leaders(model):
        for offset, record in enumerate(leader.log[leader.start : leader.hw], leader.start):
            consistent = consistent and history.committed.setdefault(offset, record) == record
    return consistent


def first_non_matching_offset(model: Model, _history: History) -> bool:
    """KIP-279 by epochs and ends cuts where the models, which look into both logs, cut."""
    return not model.cut_elsewhere


def holds_truth(replica: ReplicaState, history: History) -> bool:
    """Whether a replica holds everything that is committed, from its log start on."""
    return all(
        offset < replica.end and replica.log[offset] == record
        for offset, record in history.truth.items()
        if offset >= replica.start
    )


def valid_controller_isr_and_elr(model: Model, _history: History) -> bool:
    """Nobody is in both; an ISR that is large enough needs no eligible leader replicas."""
    quorum = model.quorum
    return not quorum.isr & quorum.elr and not (len(quorum.isr) >= model.min_isr and quorum.elr)


def leader_candidate_completeness(model: Model, history: History) -> bool:
    """Whoever runs and may be elected cleanly holds everything that is committed."""
    quorum = model.quorum
    candidates = (quorum.isr | quorum.elr) & model.alive & frozenset(quorum.replicas)
    return all(holds_truth(model.replicas[broker], history) for broker in candidates)


def leader_completeness(model: Model, history: History) -> bool:
    """A true leader holds everything that is committed."""
    true = (broker for broker, _ in presumed_leaders(model) if model.is_true_leader(broker))
    return all(holds_truth(model.replicas[broker], history) for broker in true)


def replication_quorum_superset(model: Model, _history: History) -> bool:
    """A true leader whose ISR is large enough waits for everyone that the controller could elect."""
    quorum = model.quorum
    return all(
        quorum.isr | quorum.elr <= leader.isr | (leader.proposed or frozenset())
        for broker, leader in presumed_leaders(model)
        if model.is_true_leader(broker) and len(leader.isr) >= model.min_isr
    )


INVARIANTS: Final[dict[str, Invariant]] = {
    "WeakIsr": weak_isr,
    "StrongIsr": strong_isr,
    "LeaderInIsr": leader_in_isr,
    "MonotonicHighWatermark": monotonic_high_watermark,
    "MonotonicEpoch": monotonic_epoch,
    "LogMatching": log_matching,
    "ConsistentCommittedData": consistent_committed_data,
    "ValidControllerIsrAndElr": valid_controller_isr_and_elr,
    "LeaderCandidateCompleteness": leader_candidate_completeness,
    "LeaderCompleteness": leader_completeness,
    "ReplicationQuorumSuperset": replication_quorum_superset,
    "FirstNonMatchingOffsetFromTail": first_non_matching_offset,
}


def violated(model: Model, history: History) -> set[str]:
    """The invariants that this state breaks."""
    history.note(model)
    return {name for name, holds in INVARIANTS.items() if not holds(model, history)}
