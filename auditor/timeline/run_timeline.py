"""`tidemark timeline`: one partition's history as rows, what each replica must have held beside what was told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from auditor.archives import at_hand
from auditor.audit import prepare
from auditor.config import AuditConfig, ConfigError, merge
from auditor.document_fields import Json, fields
from auditor.dumps import gather
from auditor.engines.epoch_files import epochs_in
from auditor.engines.named_statements import heard
from auditor.engines.plan.units import OF_ONE_PARTITION
from auditor.engines.progress import Progress
from auditor.engines.reading import UnitReader
from auditor.engines.settle import settle
from auditor.engines.witnesses.broker_settings import informed
from auditor.outlet import deliver, require_one_of, require_writable, terminal_width
from auditor.progress_bar import watched
from auditor.timeline.text import timeline_text
from auditor.timeline.window import Window, window_of
from rules.evidence import Level, PartitionEvidence
from rules.loss.incurred import Loss
from rules.narrow.assemble import assemble, owned
from rules.narrow.facts import Fact, Surroundings
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.timeline.rows import Cell, LastStable, Timeline, TimelineRow, timeline_of

AS_IT_STANDS: Final = AuditConfig()
UNWATCHED: Final = Progress()
FORMATS: Final = ("terminal", "json", "svg", "html")
FORMAT = "tidemark-timeline/1"
MEANING = (
    "Log ends and high watermarks are what a replica must have held after the event, between two bounds. They are"
    " recomputed without any told high watermark. What an answer tells was read before it, so it may be lower."
)
"""What the fields of the document mean."""


def run_timeline(dumps: Sequence[Path], config: AuditConfig, asked: Excerpt) -> None:
    """Draw the history of one partition where it was asked for."""
    with at_hand(dumps, quiet=config.quiet) as here:
        require_writable(config, gather(here.folders, here.archives))
        with watched(quiet=config.quiet) as progress:
            text = timeline(here.folders, asked, config, progress, columns=terminal_width(config))
        deliver(text, config)


class Excerpt(Struct, frozen=True, kw_only=True):
    """The partition, and the stretch of its history; null for all of it."""

    topic: str
    partition: int
    since: str | None = None
    until: str | None = None
    offsets: str | None = None


def timeline(
    dump: Path | Sequence[Path],
    asked: Excerpt,
    config: AuditConfig = AS_IT_STANDS,
    progress: Progress = UNWATCHED,
    *,
    columns: int | None = None,
) -> str:
    """The history of one partition in the format that the settings name, for a page of so many columns."""
    require_one_of(config, FORMATS)
    billed = config.shown_format == "terminal"
    held = _gathered(dump, asked.topic, asked.partition, config, progress, billed=billed)
    whole = timeline_of(_evidence(held))
    window = window_of(whole, asked.since, asked.until, asked.offsets)
    if billed:
        return timeline_text(window.shows(whole), config.log_timezone, _lost(held, config.level), width=columns)
    return _rendered(whole, window, config)


def _rendered(whole: Timeline, window: Window, config: AuditConfig) -> str:
    if config.shown_format in ("svg", "html"):
        from auditor.report.html.timeline_page import render_page, render_svg
        from auditor.timeline.picture import page_of

        page = page_of(whole, window, config.log_timezone)
        return render_svg(page) if config.shown_format == "svg" else render_page(page)
    return _json(window.shows(whole))


class GatheredFacts(Struct, frozen=True, kw_only=True):
    """What a dump holds about one partition: its facts with headers believed, and for a bill as an audit reads them."""

    dump: str
    believed: Sequence[Fact]
    verified: Sequence[Fact]
    around: Surroundings


def evidence_of(
    dump: Path | Sequence[Path], topic: str, partition: int, config: AuditConfig = AS_IT_STANDS
) -> PartitionEvidence:
    """Everything that the dump holds about one partition; headers are believed, not verified."""
    return _evidence(_gathered(dump, topic, partition, config, UNWATCHED, billed=False))


def _evidence(held: GatheredFacts) -> PartitionEvidence:
    return assemble(owned(held.believed, held.around), held.around, partial(epochs_in, held.dump))


def _lost(held: GatheredFacts, level: Level) -> tuple[Loss, ...]:
    """The losses that an audit of the partition bills."""
    cluster = held.believed[0].cluster_id
    verdicts = settle(held.verified, {cluster: replace(held.around, level=level)}, held.dump)
    return tuple(loss for verdict in verdicts for loss in verdict.losses if loss.matters)


def _gathered(
    dump: Path | Sequence[Path], topic: str, partition: int, config: AuditConfig, progress: Progress, *, billed: bool
) -> GatheredFacts:
    given = gather(dump)
    only: dict[str, object] = {"topic": (topic,), "exclude_topic": (), "partition": (partition,)}
    asked = merge(config, {**only, "level": "quick", "engine": "local"})
    prepared = prepare(given, asked)
    progress.total(prepared.bytes, prepared.replicas)
    gathered: list[Fact] = []
    verified: list[Fact] = []
    reader = UnitReader()
    of_clusters: list[Fact] = []
    for unit in prepared.units:
        facts = [*reader.read(unit, "quick")]
        of_clusters += [fact for fact in facts if fact.of_the_cluster]
        own = [f for f in facts if not f.of_the_cluster and _is_of(f, topic, partition)]
        gathered += own
        if billed:
            verified += reader.read(unit, config.level) if own and unit.kind in OF_ONE_PARTITION else own
        progress.advance(unit.bytes)
    heard_of = heard(prepared.units, of_clusters, asked.selection)
    named = [fact for fact in heard_of.named(gathered) if fact.topic == topic]
    cluster = _one_cluster(named, str(given.root), f"{topic}-{partition}")
    around = informed(prepared.surroundings, of_clusters)[cluster]
    whole = [fact for fact in heard_of.named(verified) if fact.topic == topic and fact.cluster_id == cluster]
    return GatheredFacts(
        dump=prepared.units[0].dump if prepared.units else "", believed=named, verified=whole, around=around
    )


def _is_of(fact: Fact, topic: str, partition: int) -> bool:
    return fact.partition == partition and (fact.topic == topic or fact.topic is None)


def _one_cluster(facts: Sequence[Fact], root: str, name: str) -> str | None:
    """The cluster of the partition that is asked for."""
    clusters = dict.fromkeys(fact.cluster_id for fact in facts)
    if not clusters:
        raise ConfigError(f"{root}: nothing speaks of {name}")
    if len(clusters) > 1:
        names = ", ".join(sorted(map(str, clusters)))
        raise ConfigError(f"{root}: {name} is a partition of several clusters ({names}): name one's folder")
    return next(iter(clusters))


def _json(drawn: Timeline) -> str:
    document: Mapping[str, object] = timeline_document(drawn)
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def timeline_document(drawn: Timeline) -> Json:
    """The document."""
    return {
        "format": FORMAT,
        "description": MEANING,
        **fields(drawn, "topic partition brokers"),
        "clocks": [
            fields(clock, "clock reference milliseconds least=atLeast most=atMost bounds") for clock in drawn.clocks
        ],
        "missing": [fields(missing, "evidence leaves_open epochs") for missing in drawn.missing],
        "rows": [_row(row) for row in drawn.rows],
    }


def _row(row: TimelineRow) -> Json:
    moment = row.moment
    return {
        "time": row.time,
        "earlierThanAbove": row.back,
        **fields(moment, "clock clock_time"),
        "lastClockTime": None if moment.last_time is None else moment.last_time - (moment.set_back or 0),
        "kind": moment.kind,
        "text": row.text,
        **fields(moment, "count epoch term error doubtful"),
        "replicas": [_cell(cell) for cell in row.cells],
        "remoteLogEnds": [fields(end, "broker low high") for end in row.remotes],
        "lastStableOffset": None if row.last_stable is None else _stable(row.last_stable),
        **fields(moment.span, "source start end"),
    }


def _stable(last: LastStable) -> Json:
    return {**_interval(last.expected), "told": last.observed, "outside": last.outside}


def _cell(cell: Cell) -> Json:
    return {
        **fields(cell, "broker leads epoch"),
        "logEndOffset": _interval(cell.log_end),
        "highWatermark": _interval(cell.high_watermark),
        **fields(cell, "told_log_end=toldLogEndOffset told_high_watermark outside"),
    }


def _interval(expected: ExpectedHighWatermark) -> Json:
    return {
        **fields(expected.interval, "low high"),
        "lowBecause": expected.low.because if expected.low else None,
        "highBecause": expected.high.because if expected.high else None,
    }
