"""Times of brokers whose zone was told, as instants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import structs
from msgspec.structs import replace

from parsers.broker_log import given_for, instant_of, owner_and_value, zone_named
from parsers.provenance import broker_id
from rules.history.moments import Moment
from rules.history.statements import times_of
from rules.settings import Setting

__all__ = ["Zones", "owner_and_value", "zone_named"]


class Zones:
    """Wall clocks of brokers whose zone was given, as instants; the controller's times are instants already."""

    def __init__(self, given: Sequence[str]) -> None:
        self._given = given
        self._instants: dict[str, Callable[[int | None], int | None]] = {}

    def _of(self, clock: str) -> Callable[[int | None], int | None]:
        if clock not in self._instants:
            broker = broker_id(clock.removeprefix("broker "))
            zones = [] if broker is None else given_for(broker, self._given)
            self._instants[clock] = instant_of(zones[0] if zones else None)
        return self._instants[clock]

    def instant(self, broker: int, time: int | None) -> int | None:
        """A broker's time as an instant."""
        return time if time is None or not self._given else self._of(f"broker {broker}")(time)

    def of_moments(self, moments: Iterable[Moment]) -> tuple[Moment, ...]:
        """The moments, each with its times on its broker's clock as instants."""
        if not self._given:
            return tuple(moments)
        return tuple(structs.replace(moment, **self._instants_of(moment)) for moment in moments)

    def _instants_of(self, moment: Moment) -> dict[str, Any]:
        instant = self._of(moment.clock)
        return {name: instant(time) for name, time in times_of(moment).items()}

    def of_settings(self, settings: Sequence[Setting]) -> tuple[Setting, ...]:
        """The settings, each since an instant."""
        if not self._given:
            return tuple(settings)
        return tuple(replace(setting, since=self._of(setting.clock)(setting.since)) for setting in settings)
