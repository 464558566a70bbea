"""What brokers ran, spoke and were set to: from rows of their logs, files and metadata to what every judge is told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs
from msgspec.structs import replace

from auditor.engines.witnesses.broker_versions import known_versions, logged_versions
from auditor.engines.witnesses.clock_lines import with_lines
from auditor.engines.witnesses.registrations import logged
from parsers.broker_log import wall_clock
from parsers.provenance import Span, row_span
from parsers.tables import BrokerEvent, BrokerSetting, ConfigChange
from rules.chronicle.request_logs import request_logs
from rules.history.trace_ends import SessionBroken, TraceEnd, TraceGap, busy_logs, ended_early
from rules.narrow.facts import Fact, Surroundings
from rules.replicas.coordinators import Coordinators
from rules.replicas.partition_counts import counts_of
from rules.settings import (
    BROKER_NAMES,
    BROKER_STATE,
    DYNAMIC,
    KAFKA_VERSION,
    METADATA_VERSION,
    START_INSTANT,
    STARTED,
    STARTING,
    STOPPED,
    STOPPING,
    TOPICS_OWN,
    Setting,
    SettingOrigin,
    Settings,
    settings_of,
)

_VERSIONS: Final[Mapping[str, str]] = {
    "kafka-version": KAFKA_VERSION, "metadata-version": METADATA_VERSION, "start-instant": START_INSTANT,
}  # fmt: skip
_STATES: Final[Mapping[str, tuple[str, str]]] = {
    "broker-starting": (STARTING, STARTING), "broker-started": (BROKER_STATE, STARTED),
    "broker-shutting-down": (BROKER_STATE, STOPPING), "broker-shut-down": (BROKER_STATE, STOPPED),
}  # fmt: skip
_SERVERS: Final = ("KafkaServer", "BrokerServer")
"""What a broker's own part of the process calls itself: a controller or another part in it stops by itself."""
_CREATION: Final = "replica-created"
_CONFIGURED: Final = ("topic-configured", "broker-configured")
_IN_MAP: Final = re.compile(r"\w*Map\((?P<scala>.*)\)|\{(?P<java>.*)\}|(?P<kraft>.*)", re.DOTALL)
_NAMES: Final = {sign: re.compile(rf"(?:^|, ?)([a-z][a-z0-9.\-]{{1,100}}){sign}") for sign in (" -> ", "=")}
"""Values hold commas too, but none that a name and such a sign follow."""
_PROPERTY: Final = re.compile(r"([a-z][a-z.]{1,100})(=| -> )(\[[^\]]{0,200}\]|[^,]{0,200})")
_DETAIL_LIMIT: Final = 1000  # what is as long was cut short
OF_BROKERS: Final = (*_VERSIONS, *_STATES, _CREATION, *_CONFIGURED)
"""Kinds of events that tell a version or an instant, whether a broker runs, or settings."""
_BROKER_OR_ALL: Final = re.compile(r"[0-9]{0,9}")
Place: TypeAlias = tuple[str, str | None, int | None, str]
Printed: TypeAlias = dict[Place, tuple[str | None, bool]]
"""The last value of each setting by its place, and whether it may be inherited from the broker."""


def changed(statements: Iterable[Setting], last: Printed) -> Iterator[Setting]:
    """What one log states in the order of its lines, without what it stated before; `last` is that, and goes on.

    What a topic has of its broker is not its own: left out once the broker's value is known. Stretches of a log may be
    folded so each by itself and then once more together.
    """
    for statement in statements:
        setting = statement
        if setting.inherited:
            own = last.get((setting.clock, None, None, BROKER_NAMES.get(setting.name, setting.name)))
            if own is not None and own[0] == setting.value:
                continue
            setting = setting if own is None else replace(setting, inherited=False)
        place = _place(setting)
        before = last.get(place)
        if before is None or before[0] != setting.value or (before[1] and not setting.inherited):
            last[place] = setting.value, setting.inherited
            yield setting


def _place(setting: Setting) -> Place:
    """By clock, topic, broker and name: what a broker took over may be another's, or all brokers'."""
    if setting.origin != "applied":
        return setting.clock, setting.topic, None, setting.name
    return f"{setting.clock} {setting.origin}", setting.topic, setting.broker, setting.name


def of_log(events: Sequence[BrokerEvent], blocks: pa.RecordBatch) -> list[Setting]:
    """All that a part of a log states of settings, in the order of its lines."""
    stated = [*of_releases(events), *of_blocks(blocks), *of_creations(events), *of_configurations(events)]
    stated.sort(key=lambda setting: setting.span.start)
    return stated


def of_blocks(rows: pa.RecordBatch) -> Iterator[Setting]:
    """Settings that a broker printed when it started or was given others, without what these rows said before."""
    names = ("broker", "name", "value", "time_text", "source", "span_start", "span_end")
    novel = rows.filter(_novel(rows))
    columns = (novel[column].to_pylist() for column in names)
    for broker, name, value, time, source, start, end in zip(*columns, strict=True):
        yield Setting(
            name=name,
            value=value,
            origin="log",
            broker=broker,
            since=wall_clock(time) if time else None,
            clock=f"broker {broker}",
            span=Span(source=source, start=start, end=end),
        )


def _novel(rows: pa.RecordBatch) -> pa.Array:
    """Which rows give a setting another value than the row before about it: starts print hundreds as they were."""
    names, values = (pc.dictionary_encode(rows[name], null_encoding="encode") for name in ("name", "value"))
    brokers = pc.fill_null(rows["broker"], -1).to_numpy(zero_copy_only=False)
    keys = np.stack([brokers, names.indices.to_numpy(), values.indices.to_numpy()])
    order = np.lexsort((keys[1], keys[0]))
    sorted_keys = keys[:, order]
    novel = np.ones(len(rows), dtype=bool)
    novel[order[1:]] = (sorted_keys[:, 1:] != sorted_keys[:, :-1]).any(axis=0)
    # What is stated elsewhere too may have been other in between.
    elsewhere = pc.is_in(rows["name"], value_set=pa.array([*_VERSIONS.values(), BROKER_STATE]))
    return pc.or_(pa.array(novel), elsewhere)


def of_releases(events: Iterable[BrokerEvent]) -> Iterator[Setting]:
    """The releases and metadata versions that a broker printed, and when it started and stopped."""
    for event in events:
        if event.kind in _VERSIONS and event.detail:
            yield logged(event, _VERSIONS[event.kind], event.detail)
        elif event.kind in _STATES and event.component in _SERVERS:
            yield logged(event, *_STATES[event.kind])


def of_creations(events: Iterable[BrokerEvent]) -> Iterator[Setting]:
    """A topic's settings when a replica of it was made: its own, or before 2.8 all that hold, whosever they are."""
    for event in events:
        if event.kind != _CREATION or not event.detail or len(event.detail) >= _DETAIL_LIMIT:
            continue
        for name, sign, printed in _PROPERTY.findall(event.detail):
            own = logged(event, name, printed.strip('"[]'))
            yield replace(own, broker=None, topic=event.topic, inherited=sign != "=")


def of_configurations(events: Iterable[BrokerEvent]) -> Iterator[Setting]:
    """What a topic, a broker or all brokers were set to while brokers ran; what is not among it they have no longer."""
    for event in events:
        if event.kind in _CONFIGURED:
            values, whole = configured(event.detail or ""), len(event.detail or "") < _DETAIL_LIMIT
            names = TOPICS_OWN if event.topic else DYNAMIC
            for name in sorted(names if whole else names & values.keys()):
                own = logged(event, name, values.get(name))
                yield replace(own, origin="applied", broker=event.other_broker, topic=event.topic)


def configured(printed: str) -> dict[str, str]:
    """Settings as `HashMap(a -> 1, b -> 2)`, `{a=1, b=2}` or `a -> 1,b -> 2`; of a cut text without the last."""
    found = _IN_MAP.fullmatch(printed.strip())
    whole = len(printed) < _DETAIL_LIMIT
    text = (found[found.lastgroup or 0] if found else "") if whole else printed.partition("(")[2] or printed
    names = list(_NAMES["=" if found and found["java"] is not None else " -> "].finditer(text))
    ends = [name.start() for name in names[1:]] + ([len(text)] if whole else [])
    return {name[1]: text[name.end() : end].strip() for name, end in zip(names, ends, strict=False)}


def of_files(rows: Iterable[BrokerSetting]) -> Iterator[Setting]:
    """Settings of a properties file: since when a broker runs with them, it does not tell."""
    for row in rows:
        yield Setting(name=row.name, value=row.value, origin="file", broker=row.broker, span=row_span(row))


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
                span=row_span(change),
            )


def informed(
    surroundings: Mapping[str | None, Surroundings], facts: Iterable[Fact]
) -> dict[str | None, Surroundings]:
    """Surroundings with each cluster's settings, its request logs and, where nobody gave them, its versions."""
    by_cluster: dict[str | None, list[Fact]] = {}
    for fact in facts:
        by_cluster.setdefault(fact.cluster_id, []).append(fact)
    found = dict(surroundings)
    for cluster, own in by_cluster.items():
        disowned = frozenset(source for fact in own for source in fact.disowned)
        settings = settings_of(_stated(own, disowned))
        versions = known_versions(found[cluster].versions, logged_versions(settings))
        ends = [end for fact in own for end in fact.trace_ends]
        broken = (each for fact in own for each in fact.sessions_broken if each.span.source not in disowned)
        gaps = (*(gap for fact in own for gap in fact.gaps), *_behind_logs(ends, broken, settings))
        of_roots = {fact.log_dir: fact.checkpoints for fact in own if fact.checkpoints}
        counts = counts_of((count for fact in own for count in fact.counts), found[cluster].counts.seen)
        coordinators = Coordinators(logs=tuple(log for fact in own for log in fact.coordinators))
        logs = request_logs((end for end in ends if end.source not in disowned), gaps)
        known = structs.replace(found[cluster], settings=settings, versions=versions, request_logs=logs)
        known = structs.replace(known, disowned=disowned, busy=busy_logs(ends), checkpoints=of_roots)
        found[cluster] = structs.replace(with_lines(known, own), counts=counts, coordinators=coordinators)
    return found


def _behind_logs(ends: Sequence[TraceEnd], broken: Iterable[SessionBroken], settings: Settings) -> Iterator[TraceGap]:
    stops: dict[int, list[int]] = {}
    for leader in {end.broker for end in ends}:
        times = (state.since for state in settings.states(leader) if state.value == STOPPING)
        stops[leader] = [since for since in times if since is not None]
    return ended_early(ends, broken, stops)


def _stated(facts: Iterable[Fact], disowned: frozenset[str]) -> Iterator[Setting]:
    """Statements of all sources, the stretches of a log laid together; what none shows to be a topic's own is none."""
    printed: dict[str, Printed] = {}
    for statement in (statement for fact in facts for statement in fact.settings):
        source = statement.span.source
        if statement.origin == "applied":
            yield from (() if source in disowned else (statement,))
        elif statement.origin != "log":
            yield statement
        elif source not in disowned:
            yield from (new for new in changed((statement,), printed.setdefault(source, {})) if not new.inherited)
