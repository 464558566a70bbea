"""A timeline as a JSON document: the same rows, with the reasons of every bound and the address of every event."""

from __future__ import annotations

from auditor.document_fields import Json, fields
from rules.protocol.watermarks import ExpectedHighWatermark
from rules.timeline.rows import Cell, LastStable, Timeline, TimelineRow

FORMAT = "tidemark-timeline/1"
MEANING = (
    "Log ends and high watermarks are what a replica must have held after the event, between two bounds. They are"
    " recomputed without any told high watermark. What an answer tells was read before it, so it may be lower."
)
"""What the fields of the document mean."""


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
