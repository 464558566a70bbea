"""What brokers ran, spoke and were set to: from rows of their logs, files and metadata to what every judge is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from parsers.broker_log import wall_clock
from parsers.provenance import Span
from parsers.tables import BrokerEvent, BrokerSetting, ConfigChange
from rules.assemble import Fact, Surroundings
from rules.evidence import BrokerVersion
from rules.gaps import TraceGap
from rules.settings import (
    BROKER_NAMES,
    INTER_BROKER_PROTOCOL,
    KAFKA_VERSION,
    METADATA_VERSION,
    Setting,
    SettingOrigin,
    Settings,
    settings_of,
)

_VERSIONS: Final[Mapping[str, str]] = {"kafka-version": KAFKA_VERSION, "metadata-version": METADATA_VERSION}
_CREATION: Final = "replica-created"
_PROPERTY: Final = re.compile(r"([a-z][a-z.]{1,100})(=| -> )(\[[^\]]{0,200}\]|[^,]{0,200})")
_DETAIL_LIMIT: Final = 1000
"""What is as long was cut short."""
OF_BROKERS: Final = (*_VERSIONS, _CREATION)
"""Kinds of events that tell a version or settings."""
_BROKER_OR_ALL: Final = re.compile(r"[0-9]{0,9}")


Printed = dict[tuple[int | None, str], str | None]
"""The last value of each setting of each broker."""


def of_blocks(rows: pa.RecordBatch, last: Printed) -> Iterator[Setting]:
    """Settings that a broker printed when it started or was given others, those left out that it printed so before."""
    names = ("broker", "name", "value", "time_text", "source", "span_start", "span_end")
    columns = (rows[column].to_pylist() for column in names)
    for broker, name, value, time, source, start, end in zip(*columns, strict=True):
        if (broker, name) in last and last[broker, name] == value:
            continue
        last[broker, name] = value
        yield Setting(
            name=name,
            value=value,
            origin="log",
            broker=broker,
            since=wall_clock(time) if time else None,
            clock=f"broker {broker}",
            span=Span(source=source, start=start, end=end),
        )


def of_releases(events: Iterable[BrokerEvent]) -> Iterator[Setting]:
    """The releases and metadata versions that a broker printed."""
    for event in events:
        if event.kind in _VERSIONS and event.detail:
            yield Setting(
                name=_VERSIONS[event.kind],
                value=event.detail,
                origin="log",
                broker=event.broker,
                since=wall_clock(event.time_text) if event.time_text else None,
                clock=f"broker {event.broker}",
                span=_span(event),
            )


def of_creations(events: Iterable[BrokerEvent], last: Printed) -> Iterator[Setting]:
    """A topic's own settings when a replica of it was made; what it has of its broker's settings is not its own."""
    for event in events:
        if event.kind != _CREATION or not event.detail or len(event.detail) >= _DETAIL_LIMIT:
            continue
        for name, sign, printed in _PROPERTY.findall(event.detail):
            value = printed.strip('"[]')
            # Before 2.8 all settings that hold are printed, whosever they are.
            if sign == "=" or last.get((event.broker, BROKER_NAMES.get(name, name)), value) != value:
                yield Setting(
                    name=name,
                    value=value,
                    origin="log",
                    topic=event.topic,
                    since=wall_clock(event.time_text) if event.time_text else None,
                    clock=f"broker {event.broker}",
                    span=_span(event),
                )


def of_files(rows: Iterable[BrokerSetting]) -> Iterator[Setting]:
    """Settings of a properties file: since when a broker runs with them, it does not tell."""
    for row in rows:
        yield Setting(name=row.name, value=row.value, origin="file", broker=row.broker, span=_span(row))


def of_changes(
    changes: Iterable[ConfigChange], origin: SettingOrigin = "metadata", clock: str = "controller"
) -> Iterator[Setting]:
    """Settings of topics and brokers that the controller keeps, or kept in ZooKeeper."""
    for change in changes:
        of_topic = change.resource_type == "topic"
        if of_topic or (change.resource_type == "broker" and _BROKER_OR_ALL.fullmatch(change.resource)):
            yield Setting(
                name=change.name,
                value=change.value,
                origin=origin,
                broker=None if of_topic or not change.resource else int(change.resource),
                topic=change.resource if of_topic else None,
                since=change.time,
                clock=clock,
                span=_span(change),
            )


def _span(row: BrokerEvent | BrokerSetting | ConfigChange) -> Span:
    return Span(source=row.source, start=row.span_start, end=row.span_end)


def informed(
    surroundings: Mapping[str | None, Surroundings], facts: Iterable[Fact]
) -> dict[str | None, Surroundings]:
    """Surroundings with each cluster's settings, the gaps of its traces and, where nobody gave them, its versions."""
    told: dict[str | None, list[Setting]] = {}
    gaps: dict[str | None, list[TraceGap]] = {}
    for fact in facts:
        told.setdefault(fact.cluster_id, []).extend(fact.settings)
        gaps.setdefault(fact.cluster_id, []).extend(fact.gaps)
    found = dict(surroundings)
    for cluster, statements in told.items():
        settings = settings_of(statements)
        versions = known_versions(found[cluster].versions, logged_versions(settings))
        found[cluster] = replace(
            found[cluster], settings=settings, versions=versions, gaps=tuple(gaps[cluster])
        )
    return found


def logged_versions(settings: Settings) -> tuple[BrokerVersion, ...]:
    """Every broker's last release and protocol as its logs print them; under KRaft that is the metadata version."""
    last: dict[int, dict[str, Setting]] = {}
    for setting in settings.statements:
        if setting.origin == "log" and setting.name in (KAFKA_VERSION, METADATA_VERSION, INTER_BROKER_PROTOCOL):
            last.setdefault(-1 if setting.broker is None else setting.broker, {})[setting.name] = setting
    return tuple(_version(broker, last[broker]) for broker in sorted(last) if broker >= 0)


def _version(broker: int, last: Mapping[str, Setting]) -> BrokerVersion:
    binary = last.get(KAFKA_VERSION)
    spoken = last.get(METADATA_VERSION) or last.get(INTER_BROKER_PROTOCOL)
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
    for told in given:
        before = by_broker.get(told.broker)
        by_broker[told.broker] = BrokerVersion(
            broker=told.broker,
            binary=told.binary or (before.binary if before else None),
            inter_broker_protocol=told.inter_broker_protocol or (before.inter_broker_protocol if before else None),
            because=told.because,
        )
    return tuple(by_broker[broker] for broker in sorted(by_broker))
