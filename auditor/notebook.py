"""A dump in a notebook: its tables, a partition's timeline that shows itself, and what an audit finds as DataFrames."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from auditor.audit import audit
from auditor.config import AuditConfig, merge
from auditor.document_fields import camel
from auditor.report.html.timeline_page import render_page, render_svg
from auditor.report.json import finding_document
from auditor.report.model import AuditReport
from auditor.report.plain import plain
from auditor.timeline import evidence_of
from auditor.timeline.picture import page_of
from auditor.timeline.text import name_of, timeline_text
from auditor.timeline.window import Window, window_of
from auditor.timeline.written_times import written
from parsers.spark import DumpTables as Tables
from parsers.spark import open_dump as open_tables
from rules.finding import Finding
from rules.timeline.rows import Cell, Timeline, TimelineRow, timeline_of

FRAME_HEIGHT: Final = 720
FINDINGS: Final = (
    "id string, fingerprint string, rule string, severity string, confidence string, verdict string,"
    " cluster_id string, topic string, partition int, brokers array<int>, start_offset bigint, end_offset bigint,"
    " message string, exhibits array<struct<role: string, source: string, start: bigint, end: bigint>>"
)
OF_FINDINGS: Final = FINDINGS.partition(" exhibits")[0].replace(",", "").split()[::2]
"""Columns that bear the names of a finding's parts."""
REPLICAS: Final = (
    "cluster_id string, topic string, partition int, topic_id string, broker int, log_dir string, path string,"
    " state string, verdict string, log_start_offset bigint, log_end_offset bigint, high_watermark_on_disk bigint,"
    " expected_low bigint, expected_high bigint, batches bigint, records bigint, bytes_seen bigint, bytes_read bigint"
)
OF_REPLICAS: Final = REPLICAS.replace(",", "").split()[6::2]
"""Columns that bear the names of a replica's own fields."""
EVENTS: Final = (
    "event int, time bigint, written string, clock string, kind string, text string, broker int, leads boolean,"
    " leader_epoch int, log_end_low bigint, log_end_high bigint, high_watermark_low bigint,"
    " high_watermark_high bigint, told_high_watermark bigint, outside boolean, source string, start bigint, end bigint"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTimeline:
    """One partition's history: a page where it is shown, a text where it is printed, and rows for questions."""

    spark: SparkSession
    whole: Timeline
    window: Window
    zones: tuple[str, ...] = ()

    def __str__(self) -> str:
        return timeline_text(self.window.shows(self.whole), self.zones)

    def _repr_html_(self) -> str:
        """The page in a frame of its own: its style and its names touch nothing of the notebook's."""
        page = html.escape(render_page(page_of(self.whole, self.window, self.zones)), quote=True)
        name = html.escape(plain(f"Timeline of {name_of(self.whole)}"), quote=True)
        style = f"width:100%;height:{FRAME_HEIGHT}px;border:0"
        return f'<iframe sandbox="" title="{name}" style="{style}" srcdoc="{page}"></iframe>'

    def svg(self) -> str:
        """The picture alone."""
        return render_svg(page_of(self.whole, self.window, self.zones))

    @property
    def rows(self) -> DataFrame:
        """A row for each event and replica: what it must have held after the event, and what was told."""
        shown = self.window.shows(self.whole)
        events = [values for number, row in enumerate(shown.rows) for values in self._values(number, row)]
        return self.spark.createDataFrame(events, EVENTS)

    def _values(self, number: int, row: TimelineRow) -> Iterator[tuple[Any, ...]]:
        moment, span = row.moment, row.moment.span
        head = (number, row.time, written(moment, self.zones), moment.clock, moment.kind, row.text)
        for cell in row.cells:
            yield (*head, *_held(cell), span.source, span.start, span.end)


def _held(cell: Cell) -> tuple[Any, ...]:
    end, watermark = cell.log_end.interval, cell.high_watermark.interval
    bounds = (end.low, end.high, watermark.low, watermark.high)
    return (cell.broker, cell.leads, cell.epoch, *bounds, cell.told_high_watermark, cell.outside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump(Tables):
    """The tables of one dump, and what an audit makes of them."""

    _reports: dict[str, AuditReport] = field(default_factory=dict, init=False, repr=False, compare=False)

    def timeline(
        self,
        topic: str,
        partition: int,
        *,
        since: str | None = None,
        until: str | None = None,
        offsets: str | None = None,
    ) -> PartitionTimeline:
        """The history of one partition, or a stretch of it, as the command of that name tells it."""
        config = self._config
        whole = timeline_of(evidence_of(self._folders, topic, partition, config))
        window = window_of(whole, since, until, offsets)
        return PartitionTimeline(spark=self.spark, whole=whole, window=window, zones=config.log_timezone)

    def report(self, level: str = "full") -> AuditReport:
        """The audit of the dump on this session; it runs once for each level."""
        if level not in self._reports:
            self._reports[level] = audit(self._folders, merge(self._config, {"level": level}))
        return self._reports[level]

    @property
    def findings(self) -> DataFrame:
        """What the audit finds, open questions among them, with the bytes that each finding stands on."""
        return self.spark.createDataFrame([_finding(each) for each in self.report().findings], FINDINGS)

    @property
    def replicas(self) -> DataFrame:
        """Every replica: what it holds, and where its high watermark must have stood."""
        rows = [
            (each.cluster_id, each.topic, each.partition, *(getattr(each.replica, name) for name in OF_REPLICAS))
            for each in self.report().replicas
        ]
        return self.spark.createDataFrame(rows, REPLICAS)

    @property
    def _folders(self) -> list[Path]:
        root = Path(self.request.path)
        return [root / part for part in self.request.parts] or [root]

    @property
    def _config(self) -> AuditConfig:
        """What was told of the dump when it was opened."""
        request = self.request
        return AuditConfig(
            topic=request.topics,
            log_dir=tuple(f"{broker}={path}" for broker, path in request.log_dirs),
            log_pattern=request.log_patterns,
            log_timezone=request.log_timezones,
        )


def open_dump(spark: SparkSession, path: str | Path | Sequence[str | Path], **given: Any) -> Dump:  # noqa: ANN401
    """The tables of a dump and its audits; every other argument is one of `parsers.spark.open_dump`."""
    tables = open_tables(spark, path, **given)
    return Dump(spark=tables.spark, request=tables.request)


def _finding(finding: Finding) -> tuple[Any, ...]:
    document = finding_document(finding)
    places = [(each.role, each.span.source, each.span.start, each.span.end) for each in finding.exhibits]
    return (*(document[camel(name)] for name in OF_FINDINGS), places)
