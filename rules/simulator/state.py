"""The state of one partition and its brokers, as frozen values."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rules.protocol.acknowledgement import Acks
from rules.protocol.epochs import EpochChain, EpochEnd, latest_epoch
from rules.protocol.isr import Brokers, RemoteReplica
from rules.protocol.offsets import BrokerId, Epoch, Offset, OffsetRange
from rules.protocol.placement import Assignment
from rules.protocol.replica_log import ReplicaLog
from rules.protocol.truncation import Exchange
from rules.simulator.generation import Generation
from rules.simulator.notes import Decided, Note

CREATED_AT_MS: Final = 1_000_000_000
"""The clock when a partition is created: far from 0, which stands for "never" in what a leader remembers."""


class Batch(Struct, frozen=True, kw_only=True):
    """Records that were appended together; the name stands for their content."""

    base_offset: Offset
    count: int
    epoch: Epoch
    name: str

    @property
    def end_offset(self) -> Offset:
        """The offset behind the last record."""
        return Offset(self.base_offset + self.count)


class Log(Struct, frozen=True, kw_only=True):
    """A replica's batches in order. The end can lie beyond the last batch: a cut inside a batch leaves a hole.

    Batches below the log start are still in the file, and nobody can read them.
    """

    batches: tuple[Batch, ...] = ()
    base_offset: Offset = Offset(0)
    """Where its first segment begins."""
    start_offset: Offset = Offset(0)
    end_offset: Offset = Offset(0)


class Leading(Struct, frozen=True, kw_only=True):
    """What only a leader holds. Remote log ends are known from fetches; there is no remote high watermark."""

    followers: tuple[RemoteReplica, ...]
    committed_isr: Brokers
    proposed_isr: Brokers | None = None
    proposed_lives: tuple[tuple[BrokerId, int], ...] = ()
    """Of those whom a change in flight takes in: the life in which each last fetched."""
    epoch_start_offset: Offset
    since_epoch: Epoch
    """The epoch in which it began to lead, and went on to lead those after it."""


AnswerKind = Literal["records", "waiting", "diverging", "out-of-range"]


class InFlight(Struct, frozen=True, kw_only=True):
    """A Fetch that a leader accepted and whose answer has not arrived; `waiting` rests at the leader until then."""

    kind: AnswerKind
    leader: BrokerId
    leader_epoch: Epoch
    offset: Offset
    believed_epoch: Epoch
    batches: tuple[Batch, ...] = ()
    high_watermark: Offset
    log_start_offset: Offset
    end: EpochEnd | None = None
    limit: int | None = None
    names_epoch: bool
    """Whether the Fetch named the epoch in which the follower believes."""


Stage = Literal["idle", "truncating", "fetching"]


class Broker(Struct, frozen=True, kw_only=True):
    """One broker's replica: what is on its disk, and what it believes while it runs."""

    id: BrokerId
    generation: Generation
    holds: bool = True
    """Whether it has a replica on its disk."""
    alive: bool = True
    life: int = 1
    """How often its process started: the epoch of its registration."""
    shut_down_cleanly: bool = True
    """Whether its last life ended in a clean shutdown."""
    log: Log = Log()
    epochs: EpochChain = ()
    high_watermark: Offset = Offset(0)
    checkpoint: Offset | None = None
    """The high watermark on disk."""
    start_checkpoint: Offset = Offset(0)
    """The log start on disk, beside that of the first segment."""
    heard: Decided | None = None
    leading: Leading | None = None
    stage: Stage = "idle"
    in_flight: InFlight | None = None

    @property
    def leads(self) -> bool:
        """Whether it runs and believes to lead; it may have been deposed without knowing."""
        return self.alive and self.leading is not None

    @property
    def last_epoch(self) -> Epoch | None:
        """The epoch it would name when it asks where its log ends."""
        return latest_epoch(self.epochs)


ProduceAnswer = Literal["acknowledged", "waiting", "refused", "refused-after-append", "none", "untold", "failed"]


class SentBatch(Struct, frozen=True, kw_only=True):
    """One batch sent by a producer, and what the producer was told."""

    name: str
    count: int
    broker: BrokerId
    epoch: Epoch
    acks: Acks
    required_offset: Offset
    answer: ProduceAnswer


class ReconciledCut(Struct, frozen=True, kw_only=True):
    """One reconciliation that took place: what was asked, answered, and cut."""

    broker: BrokerId
    leader: BrokerId | None
    epoch: Epoch
    rule: str
    exchanges: tuple[Exchange, ...]
    from_offset: Offset
    to_offset: Offset
    kept_log_end_offset: Offset
    removed: tuple[Batch, ...]
    because: str


class TopicSettings(Struct, frozen=True, kw_only=True):
    """The settings of the topic that the protocol asks for; None takes the default of the broker's version."""

    min_insync_replicas: int = 1
    unclean_leader_election: bool | None = None
    lag_time_max_ms: int | None = None
    eligible_leader_replicas: bool | None = None


class Cluster(Struct, frozen=True, kw_only=True):
    """Everything: brokers in the order of their ids, the controller's decisions, what producers and consumers know."""

    brokers: tuple[Broker, ...]
    settings: TopicSettings
    decided: tuple[Decided, ...]
    """Every decision of the controller, the one in force last; a late broker may still be told an old one."""
    configured: tuple[tuple[str, str], ...] = ()  # settings changed since the creation, and their values
    reassignment_told: Brokers | None = None
    """Who hears at once of what a reassignment under way comes to; None is everyone alive."""
    throttled: Brokers = frozenset()
    """Followers over their replication quota: out of sync, they are sent no records (KIP-73)."""
    fenced: Brokers = frozenset()
    """Brokers of which the controller knows that they are gone."""
    time_ms: int = CREATED_AT_MS
    produces: tuple[SentBatch, ...] = ()
    cuts: tuple[ReconciledCut, ...] = ()
    shown: tuple[Batch, ...] = ()
    """What consumers could have read at any time, as far as it was visible."""
    said: tuple[str, ...] = ()
    """What happened in the last step, in words."""
    notes: tuple[Note, ...] = ()
    """What was written down in the last step."""

    @property
    def assignment(self) -> Assignment:
        """Who holds the partition by the controller's word."""
        return self.in_force.replicas

    @property
    def in_force(self) -> Decided:
        """What the controller holds now."""
        return self.decided[-1]

    def broker(self, broker: BrokerId) -> Broker:
        """One broker's state."""
        return next(found for found in self.brokers if found.id == broker)

    def has(self, broker: BrokerId) -> bool:
        """Whether there is such a broker."""
        return any(found.id == broker for found in self.brokers)

    @property
    def alive(self) -> Brokers:
        """The brokers that run."""
        return frozenset(broker.id for broker in self.brokers if broker.alive)

    @property
    def leader(self) -> Broker | None:
        """The leader by the controller's word, if it runs and has heard of it."""
        leader = self.in_force.leader
        if leader is None:
            return None
        broker = self.broker(leader)
        knows = broker.heard is not None and broker.heard.epoch == self.in_force.epoch
        return broker if broker.leads and knows else None


def put(cluster: Cluster, *changed: Broker) -> Cluster:
    """The cluster with some brokers' states replaced."""
    new = {broker.id: broker for broker in changed}
    return replace(cluster, brokers=tuple(new.get(broker.id, broker) for broker in cluster.brokers))


def say(cluster: Cluster, *words: str) -> Cluster:
    """The cluster with something more said of this step."""
    return replace(cluster, said=(*cluster.said, *words))


def note(cluster: Cluster, *notes: Note) -> Cluster:
    """The cluster with something more written down in this step."""
    return replace(cluster, notes=(*cluster.notes, *notes))


def replica_of(broker: Broker) -> ReplicaLog:
    """A broker's replica as the rules of the protocol see it."""
    return ReplicaLog(
        epochs=broker.epochs,
        log_start_offset=broker.log.start_offset,
        log_end_offset=broker.log.end_offset,
        high_watermark=broker.high_watermark,
        end_offset_rule=broker.generation.end_offset_rule,
        batches=tuple(
            OffsetRange(start_offset=batch.base_offset, end_offset=batch.end_offset) for batch in broker.log.batches
        ),
    )


def lag_limit(cluster: Cluster, broker: Broker) -> int:
    """replica.lag.time.max.ms in force at a leader."""
    configured = cluster.settings.lag_time_max_ms
    return broker.generation.lag_time_max_ms if configured is None else configured


def may_elect_unclean(cluster: Cluster, broker: Broker) -> bool:
    """unclean.leader.election.enable in force."""
    configured = cluster.settings.unclean_leader_election
    return broker.generation.unclean_by_default if configured is None else configured
