"""What is said about one partition: findings, the state of each replica, and how much was seen to say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rules.advice import Advice
from rules.availability.account import Availability
from rules.counterfactual import Counterfactual
from rules.facts.read_again import UnreadFile
from rules.finding import Finding
from rules.history.clocks import ClockOffset
from rules.history.milestones import Milestone
from rules.loss.incurred import Loss
from rules.loss.unbilled import Unbilled
from rules.replicas.log_reach import LogReach, LogsNotWhole
from rules.replicas.share import PartitionShare
from rules.replicas.topic_names import UnnamedTopicId
from rules.timeline.picture_values import DrawnHistory
from rules.words import counted, listed, numbered


class EpochLine(Struct, frozen=True, kw_only=True):
    """One leader epoch of a replica."""

    epoch: int
    start_offset: int


class ReplicaVerdict(Struct, frozen=True, kw_only=True):
    """One replica as the report's table shows it."""

    broker: int
    log_dir: str
    path: str
    state: str
    topic_id: str | None
    log_start_offset: int
    log_end_offset: int
    high_watermark_on_disk: int | None
    expected_low: int
    expected_high: int | None
    """Null where a segment could not be read, so that nothing bounds it."""
    expected_because: tuple[str, ...]
    expected_end_low: int | None
    """How far the log must have gone by the replay; both null where logs do not reach to a clean shutdown."""
    expected_end_high: int | None
    expected_end_because: tuple[str, ...]
    epochs: tuple[EpochLine, ...]
    verdict: str
    batches: int
    records: int
    bytes_seen: int
    bytes_read: int
    bytes_missing: int
    """What the copy lacks of the log, where a fuller replica shows about how much that is; at least one."""
    bytes_refused: int
    checksums_verified: int
    min_timestamp: int | None = None
    """Lowest and highest of the batches' largest timestamps, ms; null where no batch has one."""
    max_timestamp: int | None = None
    end_known: bool = True
    """Whether its segments are here to tell where it ends; else it may go on where it seems to end."""

    @property
    def uncopied(self) -> bool:
        """Whether nothing of its log is here."""
        return not (self.end_known or self.batches)


class RuleCoverage(Struct, frozen=True, kw_only=True):
    """What one rule could not decide, for the ledger that stands beside every verdict."""

    rule: str
    reason: str
    missing: str
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    """Of a topic that was asked about as a whole; none where the question is about the verdict's own partition."""
    asked_at_level: str | None = None
    """The audit level that asks the question, where this one does not."""
    perhaps_lost: bool = False
    """Whether records may be lost by it that no finding and no bill names."""


class PartitionVerdict(Struct, frozen=True, kw_only=True):
    """The whole judgement about one partition."""

    cluster_id: str | None
    topic: str | None
    partition: int | None
    findings: tuple[Finding, ...] = ()
    replicas: tuple[ReplicaVerdict, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    refusals: tuple[UnreadFile, ...] = ()
    undecided: tuple[RuleCoverage, ...] = ()
    losses: tuple[Loss, ...] = ()
    unbilled: tuple[Unbilled, ...] = ()
    """What findings tell is gone, of which no bill can be made."""
    milestones: tuple[Milestone, ...] = ()
    """Told only of partitions in which something of medium severity or above was found."""
    clocks: tuple[ClockOffset, ...] = ()
    """How far the witnesses' clocks stand apart, told with the milestones."""
    drawn: tuple[DrawnHistory, ...] = ()
    """What a picture over time is drawn from, one or none; told with the milestones."""
    advice: tuple[Advice, ...] = ()
    """Where something is to be decided: a finding of medium severity or above, a cut that is owed, a loss."""
    availability: tuple[Availability, ...] = ()
    """Who was in sync over time, one or none: told where the partition was exposed, or with the milestones."""
    claimed_only: tuple[int, ...] = ()
    """Brokers whose checkpoints name the partition although their part of the dump has no directory of it."""
    assignment: tuple[int, ...] = ()
    """The brokers to which the partition is assigned last, where anything tells."""
    assigned_only: tuple[int, ...] = ()
    """Brokers of the last assignment that is told that hold no copy of the partition here."""
    contradicted_releases: tuple[tuple[int, str, str], ...] = ()
    """Brokers whose logs deny the release that was given for them: id, the given one, by which they are judged, the
    last one told."""
    told_by_metadata: bool = False
    """Whether a metadata log tells of the partition."""
    roles_told_in: tuple[str, ...] = ()
    """Logs that tell who led or followed."""
    told_in: tuple[str, ...] = ()
    """Logs that tell more of it than warnings."""
    log_reach: LogReach = LogReach()
    unnamed: tuple[UnnamedTopicId, ...] = ()
    """Topic ids of the cluster that requests or logs tell of, and whose names nobody does: no partition's, so apart."""
    share: PartitionShare | None = None
    """What it adds to what its topic as a whole is judged by."""
    offsets_compared: int = 0
    """Offsets held by two replicas or more, whose contents were therefore compared."""


KIND_WORDS: Final = {
    "disk": "disks",
    "server-log": "server logs",
    "state-change-log": "logs of state changes",
    "request-log": "request logs",
    "metadata": "metadata",
}
"""Kinds of evidence, in the order in which they are told."""


class FilesLacking(Struct, frozen=True, kw_only=True):
    """Small files of one kind that their brokers wrote for sure, and that are not here or are empty."""

    noun: str
    tells: str
    """What such a file tells, and so nothing here does in its place."""
    due: int
    """How many must be here."""
    paths: tuple[str, ...]
    opens: bool
    """Whether others of the kind are here, and something grave may rest on what is lacking."""

    @property
    def words(self) -> str:
        """How many of how many."""
        lacking = len(self.paths)
        return f"any {self.noun}" if lacking == self.due else f"{lacking} of {counted(self.due, self.noun)}"


class Scope(LogsNotWhole, frozen=True, kw_only=True):
    """How far a verdict reaches, where some evidence is not there as a whole or was said not to matter."""

    kinds: tuple[str, ...] = ()
    """Kinds of evidence of which something was read."""
    absent: tuple[str, ...] = ()
    """Kinds of which nothing was."""
    partly: tuple[str, ...] = ()
    """Kinds that some brokers have here and others lack."""
    requests_of: tuple[int, ...] = ()
    """Brokers whose request logs were read; -1 stands for a log that may be any broker's."""
    before_logs: int = 0
    """Partitions of which disks hold records, or roles name an epoch, before every role that a broker's log tells."""
    metadata_untold: int = 0
    """Partitions with replicas of which the metadata log here does not tell, though it is one log for all: a part of
    it is missing."""
    files: tuple[FilesLacking, ...] = ()
    """Small files that are lacking, kind by kind."""
    replicas_here: int = 0
    replicas_assigned: int = 0
    """Those here and those that something names and that are not; copies of the metadata log count apart."""
    voters: tuple[int, int] = (0, 0)
    """The voters of the metadata log whose copies of it are here, and all of them."""
    partial: bool = False
    """Whether the audit was told that a part of the cluster is all there is."""

    @property
    def words(self) -> str:
        """The scope as the verdict's first line names it; empty where everything is there."""
        parts = []
        if self.absent and self.kinds:
            kinds = listed([KIND_WORDS[kind] for kind in self.kinds])
            parts.append(f"as far as {kinds} {'tell' if len(self.kinds) > 1 else 'alone tell'}")
        if self.before_logs:
            parts.append(f"as far as disks tell before broker logs begin ({counted(self.before_logs, 'partition')})")
        if self.replicas_here < self.replicas_assigned:
            parts.append(f"of {self.replicas_here} of {self.replicas_assigned} assigned replicas")
        if self.voters[0] < self.voters[1]:
            parts.append(f"of the metadata logs of {self.voters[0]} of {self.voters[1]} voters")
        parts.extend(self._accepted() if self.partial else ())
        if self.files:
            parts.append(f"without {listed([lacking.words for lacking in self.files])}")
        return ", ".join(parts)

    def _accepted(self) -> Iterator[str]:
        """What would keep the verdict open if the dump were said to be whole."""
        if self.partly:
            yield f"without all {self.lacking}"
        if self.metadata_untold:
            yield f"without a word of the metadata log on {counted(self.metadata_untold, 'partition')}"
        if self.cut_short:
            yield f"without the end of the logs of {numbered('broker', self.cut_short)}"
        if self.begun_late:
            yield f"without the beginning of the logs of {numbered('broker', self.begun_late)}"
        if self.holed:
            yield f"without all roles in the logs of {numbered('broker', self.holed)}"
        if self.requests_holed:
            yield f"without all lines of the request logs of {numbered('broker', self.requests_holed)}"

    @property
    def opens(self) -> bool:
        """Whether a part is not here of a kind that is: other brokers have it, or disks and folders tell of it."""
        not_whole = self.partly or self.cut_short or self.begun_late or self.holed or self.requests_holed
        return bool(not_whole or self.metadata_untold) or any(lacking.opens for lacking in self.files)

    @property
    def lacking(self) -> str:
        """The kinds that only some brokers have here, in words."""
        return " and ".join(KIND_WORDS[kind] for kind in self.partly)
