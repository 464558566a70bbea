"""`tidemark timeline`: one partition's history as rows, what each replica must have held beside what was told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.archives import at_hand
from auditor.audit import prepare
from auditor.config import AuditConfig, ConfigError, merge
from auditor.dumps import gather
from auditor.engines.named_statements import heard
from auditor.engines.reading import UnitReader
from auditor.engines.told.broker_settings import informed
from auditor.outlet import deliver, require_one_of, require_writable
from auditor.timeline.document import timeline_document
from auditor.timeline.text import timeline_text
from auditor.timeline.window import Window, window_of
from rules.evidence import PartitionEvidence
from rules.narrow.assemble import Fact, assemble, owned
from rules.timeline.rows import Timeline, timeline_of

AS_IT_STANDS: Final = AuditConfig()
FORMATS: Final = ("terminal", "json", "svg", "html")


def run_timeline(dumps: Sequence[Path], config: AuditConfig, asked: Asked) -> None:
    """Draw the history of one partition where it was asked for."""
    with at_hand(dumps, quiet=config.quiet) as here:
        require_writable(config, gather(here.folders, here.archives))
        deliver(timeline(here.folders, asked, config), config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The partition, and the stretch of its history; null for all of it."""

    topic: str
    partition: int
    since: str | None = None
    until: str | None = None
    offsets: str | None = None


def timeline(dump: Path | Sequence[Path], asked: Asked, config: AuditConfig = AS_IT_STANDS) -> str:
    """The history of one partition in the format that the settings name."""
    require_one_of(config, FORMATS)
    whole = timeline_of(evidence_of(dump, asked.topic, asked.partition, config))
    return _told(whole, window_of(whole, asked.since, asked.until, asked.offsets), config)


def _told(whole: Timeline, window: Window, config: AuditConfig) -> str:
    if config.shown_format in ("svg", "html"):
        from auditor.report.html.timeline_page import render_page, render_svg
        from auditor.timeline.picture import page_of

        page = page_of(whole, window, config.log_timezone)
        return render_svg(page) if config.shown_format == "svg" else render_page(page)
    shown = window.shows(whole)
    return _json(shown) if config.shown_format == "json" else timeline_text(shown, config.log_timezone)


def evidence_of(
    dump: Path | Sequence[Path], topic: str, partition: int, config: AuditConfig = AS_IT_STANDS
) -> PartitionEvidence:
    """Everything that the dump holds about one partition; headers are believed, not verified."""
    given = gather(dump)
    only: dict[str, object] = {"topic": (topic,), "exclude_topic": (), "partition": (partition,)}
    asked = merge(config, {**only, "level": "quick", "engine": "local"})
    prepared = prepare(given, asked)
    told: list[Fact] = []
    reader = UnitReader()
    of_clusters: list[Fact] = []
    for unit in prepared.units:
        for fact in reader.read(unit, "quick"):
            if fact.of_the_cluster:
                of_clusters.append(fact)
            elif fact.partition == partition and (fact.topic == topic or fact.topic is None):
                told.append(fact)
    facts: dict[str | None, list[Fact]] = {}
    for fact in heard(prepared.units, of_clusters, asked.selection).named(told):
        if fact.topic == topic:
            facts.setdefault(fact.cluster_id, []).append(fact)
    if not facts:
        raise ConfigError(f"{given.root}: nothing speaks of {topic}-{partition}")
    if len(facts) > 1:
        clusters = ", ".join(sorted(map(str, facts)))
        raise ConfigError(
            f"{given.root}: {topic}-{partition} is a partition of several clusters ({clusters}): name one's folder"
        )
    cluster, own = next(iter(facts.items()))
    around = informed(prepared.surroundings, of_clusters)[cluster]
    return assemble(owned(own, around), around)


def _json(drawn: Timeline) -> str:
    document: Mapping[str, object] = timeline_document(drawn)
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"
