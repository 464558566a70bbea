"""Settings as brokers, files and controllers told them, and which of them was in force when.

A topic's own setting outranks its brokers', and one broker's outranks the default of all. What was changed while a
broker ran outranks what it started with. Times of two clocks are compared only as far as those clocks are aligned:
where that leaves two values possible, no value is in force here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rules.history.clocks import NO_CLOCKS, Clocks
from rules.history.if_set import FAR
from rules.history.moments import Moment
from rules.history.rotated import FileOrder, Place
from rules.history.translation import translated
from rules.settings.held_then import held_then
from rules.settings.setting import Setting, TakenOver
from rules.settings.setting_names import (
    BROKER_NAMES,
    BROKER_STATE,
    CHANGED,
    KAFKA_VERSION,
    MEMBERSHIPS,
    ON_EVERY_START,
    STARTING,
    TOPICS_OWN,
    SettingOrigin,
)

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
            held, sure = held_then(statements, at, clocks)
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
