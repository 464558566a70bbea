"""What a broker's logs tell about the broker itself: its releases, protocol versions and settings, as they were printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from parsers.tables import BrokerEvent, BrokerSetting


class Statement(Struct, frozen=True, kw_only=True):
    """A value that a log printed, and where."""

    value: str
    time_text: str | None
    source: str
    span_start: int
    span_end: int


class BrokerFacts(Struct, frozen=True, kw_only=True):
    """One broker's facts, each list in the order in which the log printed it; null broker: lines that name none."""

    broker: int | None
    printed_versions: tuple[Statement, ...] = ()
    metadata_versions: tuple[Statement, ...] = ()
    settings: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)


def broker_facts(events: Iterable[BrokerEvent], settings: Iterable[BrokerSetting]) -> tuple[BrokerFacts, ...]:
    """The facts of each broker that events and settings speak of, by broker id, those of no named broker first."""
    events = [event for event in events if event.kind in ("kafka-version", "metadata-version") and event.detail]
    by_broker: dict[int | None, dict[str, list[Statement]]] = {}
    for setting in settings:
        _told(by_broker, setting).setdefault(setting.name, []).append(_statement(setting, setting.value or ""))
    brokers = {event.broker for event in events} | set(by_broker)
    return tuple(
        BrokerFacts(
            broker=broker,
            printed_versions=_statements(events, broker, "kafka-version"),
            metadata_versions=_statements(events, broker, "metadata-version"),
            settings={name: tuple(statements) for name, statements in by_broker.get(broker, {}).items()},
        )
        for broker in sorted(brokers, key=lambda broker: -1 if broker is None else broker)
    )


def _told(
    by_broker: dict[int | None, dict[str, list[Statement]]], setting: BrokerSetting
) -> dict[str, list[Statement]]:
    return by_broker.setdefault(setting.broker, {})


def _statements(events: list[BrokerEvent], broker: int | None, kind: str) -> tuple[Statement, ...]:
    return tuple(
        _statement(event, event.detail or "") for event in events if event.broker == broker and event.kind == kind
    )


def _statement(row: BrokerEvent | BrokerSetting, value: str) -> Statement:
    return Statement(
        value=value, time_text=row.time_text, source=row.source, span_start=row.span_start, span_end=row.span_end
    )
