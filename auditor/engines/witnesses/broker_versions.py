"""The releases that brokers ran: as their logs print them, or as somebody gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rules.evidence import BrokerVersion
from rules.settings import INTER_BROKER_PROTOCOL, KAFKA_VERSION, METADATA_VERSION, Setting, Settings


def logged_versions(settings: Settings) -> tuple[BrokerVersion, ...]:
    """Every broker's last release and protocol as its logs print them; under KRaft that is the metadata version."""
    last: dict[int, dict[str, Setting]] = {}
    for setting in settings.statements:
        if setting.origin == "log" and setting.name in (KAFKA_VERSION, METADATA_VERSION, INTER_BROKER_PROTOCOL):
            last.setdefault(-1 if setting.broker is None else setting.broker, {})[setting.name] = setting
    return tuple(_version(broker, last[broker]) for broker in sorted(last) if broker >= 0)


def _version(broker: int, last: Mapping[str, Setting]) -> BrokerVersion:
    binary, spoken = last.get(KAFKA_VERSION), last.get(METADATA_VERSION) or last.get(INTER_BROKER_PROTOCOL)
    latest = max(last.values(), key=lambda each: (-1 if each.since is None else each.since, each.span.start))
    return BrokerVersion(
        broker=broker,
        binary=binary.value if binary else None,
        inter_broker_protocol=spoken.value if spoken else None,
        because=f"printed in {latest.span.source}",
    )


def known_versions(given: Sequence[BrokerVersion], logged: Sequence[BrokerVersion]) -> tuple[BrokerVersion, ...]:
    """What was given outweighs what was logged, field by field."""
    by_broker = {version.broker: version for version in logged}
    for version in given:
        before = by_broker.get(version.broker)
        by_broker[version.broker] = BrokerVersion(
            broker=version.broker,
            binary=version.binary or (before.binary if before else None),
            inter_broker_protocol=version.inter_broker_protocol or (before.inter_broker_protocol if before else None),
            because=version.because,
        )
    return tuple(by_broker[broker] for broker in sorted(by_broker))
