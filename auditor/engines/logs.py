"""From a log file or a metadata log to statements about partitions and settings: the units of evidence over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from auditor.engines.broker_logs import read_broker_log
from auditor.engines.chronicle import (
    Named,
    of_events,
    of_fetches,
    of_metadata,
    of_requests,
    spoken_of,
    trace_begins,
)
from auditor.engines.files import file_of, unread_file
from auditor.engines.metadata import metadata_history_of
from auditor.engines.plan import ReadUnit
from auditor.engines.settings import RELEASES, of_blocks, of_changes, of_files, of_releases
from auditor.engines.zones import Zones, given_for
from parsers.checkpoints import read_server_properties
from parsers.files import read_source
from parsers.provenance import Origin
from parsers.request_log import read_request_log
from parsers.tables import BrokerEvent, BrokerSetting, Refusal, from_arrow
from parsers.tables.requests import Fetch
from rules.assemble import Fact, RootClaims
from rules.history import Moment, collapse
from rules.settings import Setting, settings_of


def read_logs(unit: ReadUnit) -> Iterator[Fact]:
    """One fact for every partition that the unit's files speak of, and one for what could not be read."""
    refusals: list[Refusal] = []
    settings: list[Setting] = []
    spoken: dict[tuple[str, int], list[Moment]] = {}
    begun: list[Moment] = []
    for place, topic_id, moment in _statements(unit, settings, refusals, begun):
        spoken.setdefault(place, []).append(replace(moment, topic_id=topic_id))
    zones = Zones(unit.log_timezones)
    for (topic, partition), moments in spoken.items():
        yield _fact(unit, topic, partition, zones.of_moments([*begun, *collapse(moments)]))
    if settings:
        yield replace(_fact(unit, None, None, ()), settings=zones.of_settings(settings_of(settings).statements))
    if refusals:
        unread = RootClaims(refusals=tuple(unread_file(refusal) for refusal in refusals))
        yield _fact(unit, None, None, (), unread)


def _fact(
    unit: ReadUnit,
    topic: str | None,
    partition: int | None,
    moments: tuple[Moment, ...],
    root: RootClaims | None = None,
) -> Fact:
    return Fact(
        cluster_id=unit.cluster_id,
        topic=topic,
        partition=partition,
        topic_id=None,
        broker=unit.broker,
        log_dir=unit.log_dir,
        path=None,
        state="current",
        order=unit.order,
        root=root,
        moments=moments,
    )


def _statements(
    unit: ReadUnit, settings: list[Setting], refusals: list[Refusal], begun: list[Moment]
) -> Iterator[Named]:
    names = {name.topic_id: name.topic for name in unit.names}
    if unit.kind == "metadata":
        yield from _metadata(unit, settings, refusals)
        return
    for piece in unit.pieces:
        path, origin = file_of(unit.dump, piece.source), unit.origin(piece.source)
        if unit.kind == "request-log":
            yield from _requests(path, origin, names, refusals, begun)
        elif unit.kind == "server-properties":
            settings.extend(_properties(unit, origin, refusals))
        else:
            patterns = given_for(origin.broker, unit.log_patterns)
            yield from _events(path, origin, patterns, settings, refusals)


def _requests(
    path: Path, origin: Origin, names: dict[str, str], refusals: list[Refusal], begun: list[Moment]
) -> Iterator[Named]:
    log = read_request_log(path, origin)
    refusals.extend(log.refusals)
    kinds = (log.fetch_calls, log.produces, log.epoch_requests, log.offset_requests, log.isr_requests)
    begun += trace_begins((rows[0].time_text for rows in kinds if rows), origin.broker, origin.source)
    yield from of_fetches((row for row in log.fetches(origin) if isinstance(row, Fetch)), names)
    yield from of_requests((*log.produces, *log.epoch_requests, *log.offset_requests, *log.isr_requests), names)
    yield from of_requests(log.request_events, names)


def _properties(unit: ReadUnit, origin: Origin, refusals: list[Refusal]) -> Iterator[Setting]:
    content = read_source(Path(unit.dump), origin)
    if isinstance(content, Refusal):
        refusals.append(content)
        return
    told = read_server_properties(content, origin)
    refusals.extend(told.refusals)
    yield from of_files(told.rows)


def _events(
    path: Path, origin: Origin, patterns: Sequence[str], settings: list[Setting], refusals: list[Refusal]
) -> Iterator[Named]:
    for part in read_broker_log(path, origin, patterns):
        refusals.extend(part.refusals)
        events = from_arrow(spoken_of(part.events, RELEASES), BrokerEvent)
        settings.extend(of_releases(events))
        settings.extend(of_blocks(from_arrow(part.settings, BrokerSetting)))
        yield from of_events(events)


def _metadata(unit: ReadUnit, settings: list[Setting], refusals: list[Refusal]) -> Iterator[Named]:
    history = metadata_history_of(unit, refusals)
    if history is not None:
        settings.extend(of_changes(history.configs))
        yield from of_metadata(history.partitions)
