"""The audit report: all that a renderer may see, in the order in which it is told."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from auditor.report.placed import (
    PlacedAdvice,
    PlacedAvailability,
    PlacedCounterfactual,
    PlacedHistory,
    PlacedReplica,
)
from auditor.report.policy_outcome import PolicyOutcome
from rules.advice import (
    DELETE,
    LOSES_NO_MORE,
    LOSES_NOTHING,
    Advice,
    Candidate,
    Doomed,
    Gate,
    Going,
    OwedCut,
    Starts,
    Stretch,
    gate_words,
    starts,
    told_gates,
    where_gravest,
)
from rules.availability.account import Availability, Condition, Exposure, Safeguard, StateRow
from rules.counterfactual import Counterfactual, ProtocolOutcome
from rules.finding import NO_BEARING, Bearing, Bearings, Finding, Place, Severity
from rules.history.clocks import ClockOffset
from rules.history.milestones import Milestone
from rules.incident import Incident, IncidentBill, amount_lost
from rules.loss.incurred import Loss
from rules.loss.read_before import GroupAtRisk, LostReader
from rules.loss.survivors import Survivor
from rules.loss.unbilled import Unbilled
from rules.loss.worth import Contents, LostClient, LostProducer, Portion
from rules.replicas.remote import RemoteCopy
from rules.verdict import ReplicaVerdict, Scope
from rules.words import listed, numbered

__all__ = [
    "DELETE", "LOSES_NOTHING", "LOSES_NO_MORE",
    "Advice", "AuditReport", "Availability", "Candidate", "ClockOffset", "Condition", "Contents", "Counterfactual",
    "Coverage", "Doomed", "Exposure", "Gate", "Going", "GroupAtRisk", "Incident", "IncidentBill", "Loss", "LostClient",
    "LostProducer", "LostReader", "Milestone", "OwedCut", "PlacedAdvice", "PlacedAvailability",
    "PlacedCounterfactual", "PlacedHistory", "PlacedReplica", "Portion", "ProtocolOutcome", "RefusalLine",
    "RemoteCopy", "ReplicaVerdict", "Safeguard", "Starts", "StateRow", "Stretch", "Survivor", "Unbilled",
    "UndecidedLine", "UnnamedTopic", "amount_lost", "gate_words", "starts", "told_gates", "where_gravest",
]  # fmt: skip


class RefusalLine(Struct, frozen=True, kw_only=True):
    """One thing that could not be read."""

    kind: str
    expected: str
    found: str
    path: str
    start: int
    end: int
    topic: str | None = None
    partition: int | None = None
    blocking: bool = True
    """Whether it leaves the verdict open: what lies there might be a defect."""
    folder: bool = False
    """Whether it is a folder of which nothing was read."""


NO_RULE: Final = "-"
"""Stands where a rule's id would: what is untold is of no rule."""


class UndecidedLine(Struct, frozen=True, kw_only=True):
    """What a rule could not decide, and in which partitions."""

    rule: str
    reason: str
    missing: str
    places: tuple[Place, ...]
    blocking: bool
    """Whether the rule might well be violated, so that the verdict stays open."""
    asked_at_level: str | None = None
    """The audit level that asks the question, where this one does not."""
    perhaps_lost: bool = False
    """Whether records may be lost by it that no finding and no bill names."""

    @property
    def partitions(self) -> int:
        """How many they are."""
        return len(self.places)


class MissingReplica(Struct, frozen=True, kw_only=True):
    """A replica that its broker's checkpoints or the last assignment name and no directory of the dump holds."""

    cluster_id: str | None
    topic: str
    partition: int
    broker: int
    held_by: tuple[int, ...]
    """Brokers whose directory of the partition the dump does hold."""
    misfiled: bool = False  # its own directory is here, and holds another log

    @property
    def words(self) -> str:
        """The replica and who else holds the partition, for people."""
        held = f"{'its folder holds another log; ' * self.misfiled}replicas here: of {numbered('broker', self.held_by)}"
        return f"{self.topic}-{self.partition} of broker {self.broker} ({held})"


class LogTimes(Struct, frozen=True, kw_only=True):
    """Brokers whose logs were read, and the zone that was given for their times; null where none was."""

    timezone: str | None
    brokers: tuple[int, ...]


IDS_SHOWN: Final = 3


class UnnamedTopic(Struct, frozen=True, kw_only=True):
    """A topic of which requests or logs tell by its id alone; none of that is judged."""

    cluster_id: str | None
    topic_id: str
    partitions: tuple[int, ...]
    statements: int
    names: tuple[str, ...]
    """The names that are told of the id: none, or several that contradict each other."""

    @property
    def words(self) -> str:
        """The id and what is known of its name, for people."""
        named = " and ".join(self.names)
        return f"{self.topic_id} ({f'called {named}' if named else 'never named'})"


class AbsentLogs(Struct, frozen=True, kw_only=True):
    """Kinds of logs that were not read of some brokers: the fewer there are, the less could be judged."""

    kinds: tuple[str, ...]
    """Of server-log, state-change-log, request-log and metadata; or disk alone, of brokers whose logs are here."""
    brokers: tuple[int, ...]
    silent: bool = False
    """Whether they were read, and tell nothing of any partition, or warnings alone."""

    @property
    def words(self) -> str:
        """What was not read or is silent, and what that leaves unjudged, for people."""
        whom = numbered("broker", self.brokers)
        if self.kinds == (DISK,):
            return f"No disk was read of {whom}, of which logs are here. So what it holds was compared with nothing"
        names = [_LOG_WORDS[kind][0] for kind in self.kinds]
        unjudged = listed([_LOG_WORDS[kind][1] for kind in self.kinds], "or")
        if self.silent:
            silent = f"What was read of the {listed(names)} of {whom} tells nothing of any partition, or warnings alone"
            return f"{silent}. Perhaps they are written at level WARN. So nothing tells of {unjudged} there"
        return f"No {listed(names, 'or')} of {whom} was read. So nothing tells of {unjudged} there"


ELSEWHERE_SHOWN: Final = 6
DISK: Final = "disk"
_LOG_WORDS: Final = {
    "server-log": ("server.log", "truncations and restarts"),
    "state-change-log": ("state-change.log", "changes of leaders"),
    "request-log": ("request log", "acknowledgements and fetches"),
    "metadata": ("metadata log", "elections and ISR changes"),
}


class ContradictedRelease(Struct, frozen=True, kw_only=True):
    """A release that was given for a broker whose own logs tell only of others."""

    broker: int
    given: str
    logged: str


class Coverage(Struct, frozen=True, kw_only=True):
    """How much was seen to say what is said."""

    clusters: int
    brokers: int
    partitions: int
    replicas_seen: int
    replicas_missing: int
    replicas_lacking: int
    """Of the missing ones those that leave a verdict open: of partitions that nobody else holds here, and of brokers
    that shut down cleanly, so that their checkpoints are no older than their directories."""
    missing: tuple[MissingReplica, ...]
    """The first of them by name."""
    replicas_assigned_elsewhere: int
    """Replicas that the last assignment told names and no directory here holds."""
    assigned_elsewhere: tuple[MissingReplica, ...]
    """The first of them by name."""
    bytes_seen: int
    bytes_read: int
    bytes_refused: int
    offsets_covered: int
    offsets_compared: int
    batches: int
    checksums_verified: int
    files_seen: int
    files_unread: int
    files_unknown: int
    """Files that are of no known kind, so that nothing was read of them."""
    unknown_files: tuple[str, ...]
    """The first of them by name."""
    first_timestamp: int | None
    """Lowest and highest timestamp of the batches that were read, ms since the epoch."""
    last_timestamp: int | None
    ratio: float
    undecided: tuple[UndecidedLine, ...]
    log_times: tuple[LogTimes, ...] = ()
    """How the times in logs are meant: as instants of a given zone, or as they are written."""
    absent_logs: tuple[AbsentLogs, ...] = ()
    """Logs that were not read, and of which brokers."""
    contradicted_releases: tuple[ContradictedRelease, ...] = ()
    """Releases that were given and that brokers' logs deny."""
    unnamed: tuple[UnnamedTopic, ...] = ()
    """Topics that are told of by ids alone, which no witness gives one name."""
    scope: Scope = field(default_factory=Scope)
    """What a verdict on this evidence speaks of."""

    @property
    def replicas_away(self) -> int:
        """Replicas that something names and that are not here: checkpoints, logs, or the last assignment told."""
        return self.replicas_missing + self.replicas_assigned_elsewhere

    @property
    def nameless(self) -> str:
        """What is told of such topics, counted, the first ids shown; empty where there is none."""
        if not self.unnamed:
            return ""
        many = sum(topic.statements for topic in self.unnamed)
        shown, rest = "; ".join(topic.words for topic in self.unnamed[:IDS_SHOWN]), len(self.unnamed) - IDS_SHOWN
        of = f"{len(self.unnamed)} topic{'s' * (len(self.unnamed) > 1)}"
        return (
            f"{many} statement{'s' * (many > 1)} of logs name {of} by id alone, and nothing here gives the id one name,"
            f" so they were not judged: {shown}{f'; {rest} more' if rest > 0 else ''}"
        )

    @property
    def elsewhere(self) -> str:
        """The assigned replicas that are not here, counted, the first named; empty where there are none."""
        if not self.assigned_elsewhere:
            return ""
        named = "; ".join(replica.words for replica in self.assigned_elsewhere[:ELSEWHERE_SHOWN])
        rest = self.replicas_assigned_elsewhere - ELSEWHERE_SHOWN
        total = f"{self.replicas_assigned_elsewhere} assigned replica{'s' * (self.replicas_assigned_elsewhere > 1)}"
        return f"{total} not found in this dump, and not judged: {named}{f'; {rest} more' if rest > 0 else ''}"


class AuditReport(Struct, frozen=True, kw_only=True):
    """What an audit has to say."""

    version: str
    level: str
    verdict: str
    exit_code: int
    findings: tuple[Finding, ...]
    incidents: tuple[Incident, ...]
    replicas: tuple[PlacedReplica, ...]
    counterfactuals: tuple[PlacedCounterfactual, ...]
    refusals: tuple[RefusalLine, ...]
    coverage: Coverage
    histories: tuple[PlacedHistory, ...] = ()
    advice: tuple[PlacedAdvice, ...] = ()
    availability: tuple[PlacedAvailability, ...] = ()
    interrupted: bool = False
    policy: PolicyOutcome | None = None
    bearings: Bearings = field(default_factory=dict)
    """What findings mean to those that tell them, as their rules declare it."""

    def bearing(self, finding: Finding) -> Bearing:
        """What a finding means to those that tell it."""
        return self.bearings.get(finding.rule, NO_BEARING)

    @property
    def violations(self) -> tuple[Finding, ...]:
        """Findings of broken laws, without those that could not be decided."""
        return tuple(finding for finding in self.findings if finding.verdict == "violated")

    @property
    def untold(self) -> tuple[UndecidedLine, ...]:
        """Parts beside the findings that could not be told of some partitions, such as the bill and the advice."""
        return tuple(point for point in self.coverage.undecided if point.rule == NO_RULE)

    @property
    def worst(self) -> Severity | None:
        """The highest severity found."""
        return max((Severity(finding.severity) for finding in self.violations), default=None)
