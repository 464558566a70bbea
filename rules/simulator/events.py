"""What can happen, one frozen value an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rules.protocol.acknowledgement import Acks
from rules.protocol.offsets import BrokerId, Epoch, Offset

MIN_IN_SYNC: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceBatch:
    """A producer's batch reaches a broker; `times` batches of one name get a number each."""

    broker: BrokerId
    name: str
    count: int = 1
    acks: Acks = "all"
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchBatches:
    """A follower asks and is answered."""

    follower: BrokerId
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A follower's Fetch reaches the leader; its answer is on the way."""

    follower: BrokerId
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a Fetch arrives."""

    follower: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """A follower settles where its log and its leader's part, before it fetches."""

    follower: BrokerId
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """From now on a follower is over its replication quota, or is so no more."""

    broker: BrokerId
    lifted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskEnd:
    """Somebody asks a broker where an epoch ends; nothing changes."""

    broker: BrokerId
    epoch: Epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class Elect:
    """The controller elects: the broker named, else whom the placement rules choose; `hearers` hear of it at once."""

    chosen: BrokerId | None = None
    unclean: bool = False
    hearers: tuple[BrokerId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectPreferred:
    """A preferred leader election."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassign:
    """A reassignment: these brokers are to hold the partition; `hearers` hear at once of what comes of it."""

    target: tuple[BrokerId, ...]
    hearers: tuple[BrokerId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """A broker is told the latest decision, or the one of an epoch."""

    broker: BrokerId
    epoch: Epoch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The controller notices that a broker is gone; `hearers` hear of what it decides then at once."""

    broker: BrokerId
    hearers: tuple[BrokerId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """A broker's process dies."""

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutDown:
    """A broker stops in order."""

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class LosePages:
    """A stopped broker's disk lacks everything from an offset on."""

    broker: BrokerId
    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A broker starts."""

    broker: BrokerId
    hears: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A broker writes its high watermark to disk."""

    broker: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRecords:
    """A client has the records below an offset deleted."""

    broker: BrokerId
    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSegments:
    """A broker's retention deletes the segments below an offset."""

    broker: BrokerId
    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkIsr:
    """The leader takes a member out of the ISR."""

    member: BrokerId
    only_proposed: bool = False
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandIsr:
    """The leader takes a follower into the ISR, if it may enter."""

    member: BrokerId
    only_proposed: bool = False
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitIsr:
    """The controller's answer to a proposed change reaches the leader."""

    accepted: bool = True
    leader: BrokerId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure:
    """A setting of the topic is changed; `hearers` hear at once of what the controller decides because of it."""

    min_insync_replicas: int | None = None
    unclean_leader_election: bool | None = None
    hearers: tuple[BrokerId, ...] | None = None

    @property
    def name(self) -> str:
        """The setting's name."""
        return UNCLEAN if self.min_insync_replicas is None else MIN_IN_SYNC

    @property
    def value(self) -> str:
        """Its value, as Kafka prints it."""
        number = self.min_insync_replicas
        return str(self.unclean_leader_election).lower() if number is None else str(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLag:
    """The leader looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Time passes."""

    milliseconds: int


Event = (
    ProduceBatch | FetchBatches | Ask | Answer | Reconcile | Throttle | AskEnd | Elect | ElectPreferred | Reassign
    | Tell | Fence | Crash | ShutDown | LosePages | Restart | Checkpoint | DeleteRecords | DeleteSegments
    | ShrinkIsr | ExpandIsr | CommitIsr | CheckLag | Configure | Wait
)  # fmt: skip
