"""What somebody wrote down of a step: the statements of which logs, request logs and metadata are made."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from rules.protocol.acknowledgement import Acks
from rules.protocol.epochs import EpochEnd
from rules.protocol.isr import Brokers
from rules.protocol.offsets import UNKNOWN_OFFSET, BrokerId, Epoch, Offset
from rules.protocol.placement import Assignment
from rules.protocol.truncation import Exchange

NO_ERROR: Final = 0
OFFSET_OUT_OF_RANGE: Final = 1
NOT_LEADER_OR_FOLLOWER: Final = 6
STALE_CONTROLLER_EPOCH: Final = 11
NOT_ENOUGH_REPLICAS: Final = 19
NOT_ENOUGH_REPLICAS_AFTER_APPEND: Final = 20
FENCED_LEADER_EPOCH: Final = 74
UNKNOWN_LEADER_EPOCH: Final = 75


class Decided(Struct, frozen=True, kw_only=True):
    """What the controller decided of the partition: a new epoch with each leader, a new version with each change."""

    epoch: Epoch
    version: int
    leader: BrokerId | None
    isr: Brokers
    elr: Brokers = frozenset()
    """Eligible leader replicas, where the controller keeps them."""
    last_known_leader: BrokerId | None = None
    unclean: bool = False
    replicas: Assignment
    """The assignment; while a reassignment goes on, those that it adds and those that it removes are of it."""
    adding: Brokers = frozenset()
    removing: Brokers = frozenset()


class Heard(Struct, frozen=True, kw_only=True):
    """A broker heard of a decision, and answered with an error code."""

    broker: BrokerId
    decided: Decided
    error: int


class TookRole(Struct, frozen=True, kw_only=True):
    """A broker leads or follows in a new epoch; the log end is that before any cut."""

    broker: BrokerId
    leads: bool
    decided: Decided
    log_end_offset: Offset
    high_watermark: Offset


class Created(Struct, frozen=True, kw_only=True):
    """A broker makes a replica: its log is empty."""

    broker: BrokerId


class Dropped(Struct, frozen=True, kw_only=True):
    """A broker gives its replica up: a reassignment moved it away."""

    broker: BrokerId


class TookFetch(Struct, frozen=True, kw_only=True):
    """A leader handled a follower's Fetch, has nothing to send, and lets it wait: nobody writes this down yet."""

    leader: BrokerId
    follower: BrokerId


class AnsweredFetch(Struct, frozen=True, kw_only=True):
    """A leader answered a follower's Fetch; one that is refused has an error and no high watermark."""

    leader: BrokerId
    follower: BrokerId
    offset: Offset
    last_epoch: Epoch | None
    believed_epoch: Epoch
    error: int = NO_ERROR
    log_start_offset: Offset = Offset(0)
    """The follower's own, as it says when it asks."""
    leader_log_start_offset: Offset = Offset(0)
    high_watermark: Offset | None = None
    diverging: EpochEnd | None = None
    records: int = 0
    waited: bool = False
    """Whether it lay at the leader, which found nothing to send when it took it in."""


class TookProduce(Struct, frozen=True, kw_only=True):
    """A leader appended a producer's batch, and lets the producer wait."""

    broker: BrokerId
    name: str


class AnsweredProduce(Struct, frozen=True, kw_only=True):
    """A broker answered a producer; beside an error there is no base offset."""

    broker: BrokerId
    acks: Acks
    count: int
    name: str = ""
    base_offset: Offset | None = None
    log_start_offset: Offset = Offset(0)
    error: int = NO_ERROR


class AnsweredEpoch(Struct, frozen=True, kw_only=True):
    """A leader answered where an epoch ends; -1 and -1 where it does not know, or refuses."""

    leader: BrokerId
    follower: BrokerId
    believed_epoch: Epoch
    asked_epoch: int
    epoch: int = -1
    end_offset: int = -1
    error: int = NO_ERROR


class AnsweredEnd(Struct, frozen=True, kw_only=True):
    """A leader told a follower that is out of range where its log ends."""

    leader: BrokerId
    follower: BrokerId
    believed_epoch: Epoch
    offset: Offset
    earliest: bool = False
    """Whether it was asked where its log begins instead."""


class AnsweredDeletion(Struct, frozen=True, kw_only=True):
    """A leader answered a client that had records deleted; the low watermark is the lowest log start it knows of."""

    broker: BrokerId
    offset: Offset
    low_watermark: Offset = UNKNOWN_OFFSET
    error: int = NO_ERROR


class MovedStart(Struct, frozen=True, kw_only=True):
    """A broker's log begins at a higher offset."""

    broker: BrokerId
    log_start_offset: Offset
    because: str


class Reconciled(Struct, frozen=True, kw_only=True):
    """A follower found what to cut, and by which word of its leader."""

    broker: BrokerId
    leader: BrokerId | None
    rule: str
    exchanges: tuple[Exchange, ...]
    out_of_range: bool
    from_offset: Offset
    to_offset: Offset
    high_watermark: Offset
    """Before the cut."""


class ProposedIsr(Struct, frozen=True, kw_only=True):
    """A leader sets out to change its ISR."""

    broker: BrokerId
    epoch: Epoch
    before: Brokers
    isr: Brokers
    high_watermark: Offset
    log_end_offset: Offset
    remote_ends: tuple[tuple[BrokerId, int], ...]
    """The log ends of those who leave, as the leader knows them."""


class CommittedIsr(Struct, frozen=True, kw_only=True):
    """A leader learnt that its ISR is in force."""

    broker: BrokerId
    decided: Decided


class RefusedIsr(Struct, frozen=True, kw_only=True):
    """A deposed leader's change of the ISR was turned away; the version is the one that it held."""

    broker: BrokerId
    version: int


class Loaded(Struct, frozen=True, kw_only=True):
    """A broker started and loaded its log."""

    broker: BrokerId
    log_start_offset: Offset
    log_end_offset: Offset
    high_watermark: Offset
    checkpointed: bool
    held: bool = True
    """Whether there was a replica to load."""


class ConfiguredTopic(Struct, frozen=True, kw_only=True):
    """The controller wrote a setting of the topic."""

    name: str
    value: str


class Configured(Struct, frozen=True, kw_only=True):
    """A broker takes over what is set for the topic: all settings that were changed since it was created."""

    broker: BrokerId
    settings: tuple[tuple[str, str], ...]


class Ended(Struct, frozen=True, kw_only=True):
    """A broker's process ended."""

    broker: BrokerId
    in_order: bool


Note = (
    Decided | Heard | TookRole | Created | Dropped | TookFetch | TookProduce | AnsweredFetch | AnsweredProduce
    | AnsweredEpoch | AnsweredEnd | AnsweredDeletion | MovedStart | Reconciled | ProposedIsr | CommittedIsr | RefusedIsr
    | Loaded | ConfiguredTopic | Configured | Ended
)  # fmt: skip
