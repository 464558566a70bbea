"""A timeline as a JSON document: the same rows, with the reasons of every bound and the address of every event."""

from __future__ import annotations

from rules.protocol.watermarks import ExpectedHighWatermark
from rules.timeline.rows import Cell, LastStable, Timeline, TimelineRow

FORMAT = "tidemark-timeline/1"
MEANING = (
    "Log ends and high watermarks are what a replica must have held after the event, between two bounds. They are"
    " recomputed without any told high watermark. What an answer tells was read before it, so it may be lower."
)
"""What the fields of the document mean."""


def timeline_document(drawn: Timeline) -> dict[str, object]:
    """The document."""
    return {
        "format": FORMAT,
        "description": MEANING,
        "topic": drawn.topic,
        "partition": drawn.partition,
        "brokers": list(drawn.brokers),
        "clocks": [
            {
                "clock": c.clock,
                "reference": c.reference,
                "milliseconds": c.milliseconds,
                "atLeast": c.least,
                "atMost": c.most,
                "bounds": c.bounds,
            }
            for c in drawn.clocks
        ],
        "missing": [
            {"evidence": m.evidence, "leavesOpen": m.leaves_open, "epochs": list(m.epochs)} for m in drawn.missing
        ],
        "rows": [_row(row) for row in drawn.rows],
    }


def _row(row: TimelineRow) -> dict[str, object]:
    moment = row.moment
    return {
        "time": row.time,
        "earlierThanAbove": row.back,
        "clock": moment.clock,
        "clockTime": moment.clock_time,
        "lastClockTime": None if moment.last_time is None else moment.last_time - (moment.set_back or 0),
        "kind": moment.kind,
        "text": row.text,
        "count": moment.count,
        "epoch": moment.epoch,
        "term": moment.term,
        "error": moment.error,
        "doubtful": moment.doubtful,
        "replicas": [_cell(cell) for cell in row.cells],
        "remoteLogEnds": [{"broker": r.broker, "low": r.low, "high": r.high} for r in row.remotes],
        "lastStableOffset": None if row.last_stable is None else _stable(row.last_stable),
        "source": moment.span.source,
        "start": moment.span.start,
        "end": moment.span.end,
    }


def _stable(last: LastStable) -> dict[str, object]:
    return {**_interval(last.expected), "told": last.observed, "outside": last.outside}


def _cell(cell: Cell) -> dict[str, object]:
    return {
        "broker": cell.broker,
        "leads": cell.leads,
        "epoch": cell.epoch,
        "logEndOffset": _interval(cell.log_end),
        "highWatermark": _interval(cell.high_watermark),
        "toldLogEndOffset": cell.told_log_end,
        "toldHighWatermark": cell.told_high_watermark,
        "outside": cell.outside,
    }


def _interval(expected: ExpectedHighWatermark) -> dict[str, object]:
    return {
        "low": expected.interval.low,
        "high": expected.interval.high,
        "lowBecause": expected.low.because if expected.low else None,
        "highBecause": expected.high.because if expected.high else None,
    }
