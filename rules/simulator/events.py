"""What can happen, one frozen value an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from rules.protocol.acknowledgement import Acks
from rules.protocol.offsets import BrokerId, Epoch, Offset

MIN_IN_SYNC: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"


class ProduceBatch(Struct, frozen=True, kw_only=True):
    """A producer's batch reaches a broker; `times` batches of one name get a number each."""

    broker: BrokerId
    name: str
    count: int = 1
    acks: Acks = "all"
    times: int = 1


class FetchBatches(Struct, frozen=True, kw_only=True):
    """A follower asks and is answered."""

    follower: BrokerId
    limit: int | None = None


class Ask(Struct, frozen=True, kw_only=True):
    """A follower's Fetch reaches the leader; its answer is on the way."""

    follower: BrokerId
    limit: int | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """The answer to a Fetch arrives."""

    follower: BrokerId


class Reconcile(Struct, frozen=True, kw_only=True):
    """A follower settles where its log and its leader's part, before it fetches."""

    follower: BrokerId
    limit: int | None = None


class Throttle(Struct, frozen=True, kw_only=True):
    """From now on a follower is over its replication quota, or is so no more."""

    broker: BrokerId
    lifted: bool = False


class AskEnd(Struct, frozen=True, kw_only=True):
    """Somebody asks a broker where an epoch ends; nothing changes."""

    broker: BrokerId
    epoch: Epoch


class Elect(Struct, frozen=True, kw_only=True):
    """The controller elects: the broker named, else whom the placement rules choose; `hearers` hear of it at once."""

    chosen: BrokerId | None = None
    unclean: bool = False
    hearers: tuple[BrokerId, ...] | None = None


class ElectPreferred(Struct, frozen=True, kw_only=True):
    """A preferred leader election."""


class Reassign(Struct, frozen=True, kw_only=True):
    """A reassignment: these brokers are to hold the partition; `hearers` hear at once of what comes of it."""

    target: tuple[BrokerId, ...]
    hearers: tuple[BrokerId, ...] | None = None


class Tell(Struct, frozen=True, kw_only=True):
    """A broker is told the latest decision, or the one of an epoch."""

    broker: BrokerId
    epoch: Epoch | None = None


class Fence(Struct, frozen=True, kw_only=True):
    """The controller notices that a broker is gone; `hearers` hear of what it decides then at once."""

    broker: BrokerId
    hearers: tuple[BrokerId, ...] | None = None


class Crash(Struct, frozen=True, kw_only=True):
    """A broker's process dies."""

    broker: BrokerId


class ShutDown(Struct, frozen=True, kw_only=True):
    """A broker shuts down cleanly."""

    broker: BrokerId


class LosePages(Struct, frozen=True, kw_only=True):
    """A stopped broker's disk lacks everything from an offset on."""

    broker: BrokerId
    offset: Offset


class Restart(Struct, frozen=True, kw_only=True):
    """A broker starts."""

    broker: BrokerId
    hears: bool = True


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A broker writes its high watermark to disk."""

    broker: BrokerId


class DeleteRecords(Struct, frozen=True, kw_only=True):
    """A client has the records below an offset deleted."""

    broker: BrokerId
    offset: Offset


class DeleteSegments(Struct, frozen=True, kw_only=True):
    """A broker's retention deletes the segments below an offset."""

    broker: BrokerId
    offset: Offset


class ShrinkIsr(Struct, frozen=True, kw_only=True):
    """The leader takes a member out of the ISR."""

    member: BrokerId
    only_proposed: bool = False
    leader: BrokerId | None = None


class ExpandIsr(Struct, frozen=True, kw_only=True):
    """The leader takes a follower into the ISR, if it may enter."""

    member: BrokerId
    only_proposed: bool = False
    leader: BrokerId | None = None


class CommitIsr(Struct, frozen=True, kw_only=True):
    """The controller's answer to a proposed change reaches the leader."""

    accepted: bool = True
    leader: BrokerId | None = None


class Configure(Struct, frozen=True, kw_only=True):
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


class CheckLag(Struct, frozen=True, kw_only=True):
    """The leader looks at the clock."""


class Wait(Struct, frozen=True, kw_only=True):
    """Time passes."""

    milliseconds: int


Event = (
    ProduceBatch | FetchBatches | Ask | Answer | Reconcile | Throttle | AskEnd | Elect | ElectPreferred | Reassign
    | Tell | Fence | Crash | ShutDown | LosePages | Restart | Checkpoint | DeleteRecords | DeleteSegments
    | ShrinkIsr | ExpandIsr | CommitIsr | CheckLag | Configure | Wait
)  # fmt: skip


def brokers_named(event: Event) -> Iterator[BrokerId]:
    """The brokers that an event speaks of."""
    for name in ("broker", "follower", "chosen", "member", "leader"):
        one = getattr(event, name, None)
        yield from () if one is None else (one,)
    for name in ("hearers", "target"):
        yield from getattr(event, name, None) or ()
