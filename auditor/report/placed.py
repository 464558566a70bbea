"""What verdicts say of one partition, each part with the partition that it is about."""

from __future__ import annotations

from msgspec import Struct

from rules.advice import Advice
from rules.availability.account import Availability
from rules.counterfactual import Counterfactual
from rules.finding import Finding
from rules.history.clocks import ClockOffset
from rules.history.milestones import Milestone
from rules.loss.incurred import Loss
from rules.loss.unbilled import Unbilled
from rules.timeline.picture_values import DrawnHistory
from rules.verdict import ReplicaVerdict


class Placed(Struct, frozen=True, kw_only=True):
    """Something that is told of one partition."""

    cluster_id: str | None
    topic: str
    partition: int


class PlacedReplica(Placed, frozen=True, kw_only=True):
    """A replica with the partition it belongs to."""

    replica: ReplicaVerdict


class PlacedCounterfactual(Placed, frozen=True, kw_only=True):
    """A counterfactual table with the partition it belongs to."""

    table: Counterfactual


class PlacedHistory(Placed, frozen=True, kw_only=True):
    """What is told of a troubled partition over time: what new epochs left out, and how it came to that."""

    losses: tuple[Loss, ...]
    milestones: tuple[Milestone, ...]
    clocks: tuple[ClockOffset, ...] = ()
    drawn: tuple[DrawnHistory, ...] = ()
    unbilled: tuple[Unbilled, ...] = ()
    """What findings tell is gone, of which no bill can be made."""

    def bills_all_of(self, finding: Finding) -> bool:
        """Whether a loss for good holds all that a finding here is about: records of an epoch, or else of a leader."""
        start, end, epoch = finding.start_offset, finding.end_offset, finding.values().get("epoch")
        if start is None or end is None:
            return False
        own = (loss for loss in self.losses if loss.matters and not loss.restored and loss.start_offset <= start < end)
        held = [loss for loss in own if end <= loss.end_offset]
        return any(loss.leader in finding.brokers if epoch is None else epoch in loss.among for loss in held)


class PlacedAvailability(Placed, frozen=True, kw_only=True):
    """Who was in sync over time, with the partition it is about."""

    availability: Availability


class PlacedAdvice(Placed, frozen=True, kw_only=True):
    """Advice with the partition it is about."""

    advice: Advice
    losses: tuple[Loss, ...] = ()
    salvaged_by: tuple[str, ...] = ()
    """Of each loss the id of a finding by which its records can be salvaged; empty where none means all of them."""
