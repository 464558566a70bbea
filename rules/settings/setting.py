"""One value of a setting as somebody told it, and what may have been in force from a time on."""

from __future__ import annotations

from msgspec import Struct

from parsers.provenance import Span
from rules.settings.setting_names import SettingOrigin


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
