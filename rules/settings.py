"""Settings as brokers, files and controllers told them, and which of them was in force when.

A topic's own setting outranks its brokers', and one broker's outranks the default of all. What was changed while a
broker ran outranks what it started with. Times of two clocks are compared only as far as those clocks are aligned:
where that leaves two values possible, no value is in force here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import Span
from rules.history.clocks import NO_CLOCKS, Clocks
from rules.history.if_set import FAR
from rules.history.moments import Moment
from rules.history.rotated import FileOrder, Place
from rules.history.translation import translated

SettingOrigin = Literal["log", "file", "describe", "metadata", "znode", "applied", "assignment", "registration"]
"""Printed by the broker when it started, written in its properties file, told by a tool, kept by the controller, taken
over by a broker while it ran; of the replication factor, the brokers to which a partition is assigned; of what a
broker runs as, the controllers' record of it."""
CHANGED: Final[tuple[SettingOrigin, ...]] = ("metadata", "znode", "describe", "applied")
"""Origins that tell what was changed while brokers ran."""

KAFKA_VERSION: Final = "kafka.version"
METADATA_VERSION: Final = "metadata.version"
START_INSTANT: Final = "kafka.start.instant"
"""When a process began, in milliseconds of UTC, beside the time of that line on the log's own clock."""
INTER_BROKER_PROTOCOL: Final = "inter.broker.protocol.version"
"""What a broker runs and speaks is told as its settings are; the first two names are no settings of Kafka's."""
MESSAGE_FORMAT: Final = "message.format.version"
CLEANUP_POLICY: Final = "cleanup.policy"
MIN_IN_SYNC: Final = "min.insync.replicas"
UNCLEAN: Final = "unclean.leader.election.enable"
LAG_TIME: Final = "replica.lag.time.max.ms"
REMOTE_STORAGE: Final = "remote.storage.enable"
REMOTE_SYSTEM: Final = "remote.log.storage.system.enable"
FACTOR: Final = "replication factor"
"""No setting of Kafka's either: an assignment tells it."""
BROKER_STATE: Final = "broker.state"
STARTED: Final = "started"
STARTING: Final = "starting"
ON_EVERY_START: Final = "controlled.shutdown.enable"
"""A setting that every release prints where it prints them all."""
STOPPING: Final = "stopping"
STOPPED: Final = "shut down cleanly"
"""Whether a broker runs is told so too: a killed one never says that it stopped; one that is starting does not run."""
INCARNATION: Final = "broker.incarnation"
BROKER_EPOCH: Final = "broker.epoch"
CONTROLLER_EPOCH: Final = "controller.epoch"
QUORUM_LEADER: Final = "quorum.leader"
"""As what a process registered, which epoch a controller leads under ZooKeeper, and which node the quorum."""
MEMBERSHIPS: Final = (INCARNATION, BROKER_EPOCH, CONTROLLER_EPOCH, QUORUM_LEADER)
LEADER_OF_EPOCH: Final = "quorum.leader.of.epoch."
"""Behind it stands the epoch of the metadata log whose elected leader is told."""

BROKER_NAMES: Final[Mapping[str, str]] = {
    CLEANUP_POLICY: "log.cleanup.policy",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "max.message.bytes": "message.max.bytes",
    MESSAGE_FORMAT: "log.message.format.version",
    "message.timestamp.type": "log.message.timestamp.type",
    "preallocate": "log.preallocate",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
}
"""Topic settings that brokers give under another name."""
TOPICS_OWN: Final = frozenset({*BROKER_NAMES, MIN_IN_SYNC, UNCLEAN})
"""Settings that a topic may have of its own."""
DYNAMIC: Final = frozenset({*BROKER_NAMES.values(), MIN_IN_SYNC, UNCLEAN})
"""The same as brokers have them, where they may be set while brokers run."""


class BrokerVersion(Struct, frozen=True, kw_only=True):
    """What a broker ran: binary version and inter-broker protocol (or metadata version), where known."""

    broker: int
    binary: str | None = None
    inter_broker_protocol: str | None = None
    because: str = ""


class Setting(Struct, frozen=True, kw_only=True):
    """One value of one setting, from some time on."""

    name: str
    value: str | None
    """As printed; null for Kafka's null, and where the controller deleted the setting."""
    origin: SettingOrigin
    broker: int | None = None
    """Null for the default of all brokers, and for a topic's own setting."""
    topic: str | None = None
    since: int | None = None
    """Milliseconds on the clock; null where it is only known to have been so at some time."""
    clock: str = ""
    """Whose clock the time is of, as in a `Moment`."""
    inherited: bool = False
    """Printed for a topic among all settings that hold, so that it may be the broker's: what stands before decides."""
    span: Span


class TakenOver(Struct, frozen=True, kw_only=True):
    """What may have been in force from a time on, on some clock."""

    since: int
    values: frozenset[str | None]
    """More than one where clocks leave several possible; null among them where nobody may have told it."""
    own: bool = False
    """Whether it is known by the clock's own broker, which went by it from then on."""
    watched: bool = False
    """Whether a change would be told: by the clock's own broker, whose log tells of this setting, or by a record."""


Ranks: TypeAlias = tuple[tuple[Setting, ...], ...]


class Settings(Struct, frozen=True, kw_only=True, dict=True):
    """All that is told of the settings of one cluster, each statement once, in the order of its clock."""

    statements: tuple[Setting, ...] = ()

    @cached_property
    def _by_place(self) -> Mapping[tuple[str | None, int | None, str], tuple[Setting, ...]]:
        found: dict[tuple[str | None, int | None, str], list[Setting]] = {}
        for setting in self.statements:
            found.setdefault((setting.topic, setting.broker, setting.name), []).append(setting)
        return {place: tuple(settings) for place, settings in found.items()}

    @cached_property
    def tells_topics(self) -> bool:
        """Whether a metadata log was read, so that a topic of which nothing is told has no settings of its own."""
        return any(setting.origin == "metadata" for setting in self.statements)

    def is_certain(self, held: Setting) -> bool:
        """Whether no topic can have a setting of its own, read by nobody, in place of this one."""
        own = held.topic is not None or held.name not in (*TOPICS_OWN, *BROKER_NAMES.values())
        return own or self.tells_topics

    def releases_told(self, broker: int) -> tuple[str, ...]:
        """The releases that a broker's own logs print, as they stand there."""
        statements = self._by_place.get((None, broker, KAFKA_VERSION), ())
        return tuple(each.value for each in statements if each.origin == "log" and each.value is not None)

    def states(self, broker: int) -> tuple[Setting, ...]:
        """Every start and stop that a broker tells of, in their order."""
        return self._by_place.get((None, broker, BROKER_STATE), ())

    @cached_property
    def memberships(self) -> tuple[Setting, ...]:
        """What is told of registrations and of controllers' elections."""
        return tuple(setting for setting in self.statements if setting.name in MEMBERSHIPS)

    @cached_property
    def tell_their_stops(self) -> frozenset[int]:
        """Brokers whose own logs tell that they start or stop, or print all settings: a whole one tells a stop too."""
        own = (each for each in self.statements if each.origin == "log" and each.broker is not None)
        return frozenset(each.broker or 0 for each in own if each.name in (STARTING, BROKER_STATE, ON_EVERY_START))

    @cached_property
    def _ranked(self) -> dict[tuple[str | None, int | None, str], Ranks]:
        return {}

    def ranks(self, topic: str | None, broker: int | None, name: str) -> Ranks:
        """What speaks of a setting, the statements that outrank the others first."""
        place = topic, broker, name
        if place not in self._ranked:
            self._ranked[place] = tuple(filter(None, self._ranks(*place)))
        return self._ranked[place]

    def _ranks(self, topic: str | None, broker: int | None, name: str) -> Iterator[tuple[Setting, ...]]:
        if topic is not None:
            yield self._of(topic, None, name, CHANGED)
            # What a broker printed when it made its replica is older than any change that is told.
            yield self._of(topic, None, name, ("log",))
        own = BROKER_NAMES.get(name, name)
        if broker is not None:
            yield self._of(None, broker, own, CHANGED)
        yield self._of(None, None, own, CHANGED)
        if broker is not None:
            yield self._of(None, broker, own, ("log",))
            yield self._of(None, broker, own, ("file",))

    def _of(
        self, topic: str | None, broker: int | None, name: str, origins: Sequence[SettingOrigin]
    ) -> tuple[Setting, ...]:
        return tuple(s for s in self._by_place.get((topic, broker, name), ()) if s.origin in origins)

    def in_force(
        self, topic: str | None, broker: int | None, name: str, at: Moment | None = None, clocks: Clocks = NO_CLOCKS
    ) -> Setting | None:
        """The statement that held at a moment, or when the evidence ends; None where none did or several may have."""
        possible, sure = self._possible(topic, broker, name, at, clocks)
        return possible[-1] if sure and len({setting.value for setting in possible}) == 1 else None

    def _possible(
        self, topic: str | None, broker: int | None, name: str, at: Moment | None, clocks: Clocks
    ) -> tuple[Sequence[Setting], bool]:
        """The statements that may have held, the lowest rank last, and whether one of them did."""
        possible: list[Setting] = []
        gone = False
        for statements in self.ranks(topic, broker, name):
            if gone and statements[0].topic is not None:
                continue  # the topic has no longer what it was made with
            held, sure = _held(statements, at, clocks)
            deleted = [setting for setting in held if setting.value is None and setting.origin in CHANGED]
            possible += [setting for setting in held if setting not in deleted]
            if sure and not deleted:
                return possible, True
            gone = gone or (sure and len(deleted) == len(held))
        return possible, False

    def over_time(
        self, topic: str | None, broker: int, name: str, of: Moment, clocks: Clocks = NO_CLOCKS
    ) -> Iterator[TakenOver]:
        """What may have been in force on a statement's clock, the first from ever on: at no other time it changes."""
        changes = [setting for statements in self.ranks(topic, broker, name) for setting in statements]
        watched = self.tells_topics or any(setting.clock == of.clock for setting in changes)
        windows = (translated(setting.since, setting.clock, of.clock, clocks) or () for setting in changes)
        for time in sorted({-FAR, *(time for window in windows for time in window if time < FAR)}):
            held, sure = self._possible(topic, broker, name, replace(of, time=time), clocks)
            certain = [setting for setting in held if self.is_certain(setting)]
            values = {setting.value for setting in certain} | ({None} if not sure or certain != held else set())
            own = None not in values and all(setting.clock == of.clock for setting in held)
            yield TakenOver(since=time, values=frozenset(values), own=own, watched=watched)


NO_SETTINGS: Final = Settings()


def settings_of(statements: Iterable[Setting]) -> Settings:
    """Statements of any origin and order, those that only repeat the value before them left out."""
    settings = tuple(statements)
    files = FileOrder((setting.span.source, setting.since) for setting in settings)

    def written(setting: Setting) -> tuple[str, int, Place, int]:
        since = -1 if setting.since is None else setting.since
        return setting.clock, since, files.place(setting.span.source), setting.span.start

    kept: list[Setting] = []
    last: dict[tuple[str | None, int | None, str, str, str], str | None] = {}
    for setting in sorted(settings, key=written):
        place = (setting.topic, setting.broker, setting.name, setting.origin, setting.clock)
        if place not in last or last[place] != setting.value:
            kept.append(setting)
        last[place] = setting.value
    return Settings(statements=tuple(kept))


def _held(
    statements: Sequence[Setting], at: Moment | None, clocks: Clocks
) -> tuple[Sequence[Setting], bool]:
    """The statements of one rank that may have been in force, and whether one of them surely was."""
    timeless = [setting for setting in statements if setting.since is None]
    dated = [setting for setting in statements if setting.since is not None]
    if at is None:
        # A log that ends early knows no later change; whoever keeps the settings does.
        kept = [setting for setting in dated if setting.origin != "applied"] or dated
        newest = list({setting.clock: setting for setting in kept}.values())
        return newest or timeless, bool(statements)
    own = [s for s in dated if s.origin == "applied" and s.clock == at.clock and _standing(s, at, clocks) == "past"]
    if own:  # whoever tells of a moment had taken over what it says itself, and perhaps what others tell of later
        then = replace(at, time=own[-1].since)
        others = (s for s in dated if s.clock != at.clock and s.value != own[-1].value)
        later = (s for s in others if _standing(s, then, clocks) == "future" != _standing(s, at, clocks))
        return [own[-1], *later], True
    past: dict[str, Setting] = {}
    unsettled: list[Setting] = []
    for setting in dated:
        standing = _standing(setting, at, clocks)
        if standing == "past":
            past[setting.clock] = setting
        elif standing == "open":
            unsettled.append(setting)
    if past:
        return [*past.values(), *unsettled], True
    return [*timeless, *unsettled], bool(timeless)


def _standing(setting: Setting, at: Moment, clocks: Clocks) -> Literal["past", "open", "future"]:
    """Whether a statement was made before a moment, as far as their clocks tell."""
    if at.time is None:
        return "open"
    if setting.clock == at.clock:
        return "past" if (setting.since or 0) <= at.time else "future"
    window = translated(setting.since, setting.clock, at.clock, clocks)
    if window is None or window[0] <= at.time < window[1]:
        return "open"
    return "past" if window[1] <= at.time else "future"
