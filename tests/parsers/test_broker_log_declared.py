"""Layouts, clocks and file names: what the reader of logs is told by, apart from the lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.broker_log import LayoutError, Reading, parse_layout, wall_clock
from parsers.provenance import Origin
from tests.lab.whole_logs import parse_events

MESSAGE = "[Log partition=t-0, dir=/d] Truncating to offset 100"


@pytest.mark.parametrize(
    ("pattern", "line", "time", "level", "logger"),
    [
        (
            "[%d] %p %m (%c)%n",
            f"[2026-11-21 05:25:18,155] INFO {MESSAGE} (kafka.log.Log)",
            "2026-11-21 05:25:18,155",
            "INFO",
            "kafka.log.Log",
        ),
        (
            "%d{ISO8601} %-5p [%t] %c{1}:%L - %m%n",
            f"2026-11-21 05:25:18,155 INFO  [ReplicaFetcherThread-0-2] Log:66 - {MESSAGE}",
            "2026-11-21 05:25:18,155",
            "INFO",
            "Log",
        ),
        (
            "%d{yyyy-MM-dd'T'HH:mm:ss.SSSZ} %p <%c> %m%n",
            f"2026-11-21T05:25:18.155+0100 WARN <kafka.log.Log> {MESSAGE}",
            "2026-11-21T05:25:18.155+0100",
            "WARN",
            "kafka.log.Log",
        ),
        (
            "[%date{ISO8601}] %5level %msg (%logger{36})%n%ex",
            f"[2026-11-21 05:25:18,155]  WARN {MESSAGE} (k.l.Log)",
            "2026-11-21 05:25:18,155",
            "WARN",
            "k.l.Log",
        ),
        (
            "%p %d{DATE} %m [%t]%n",
            f"INFO 21 Nov 2026 05:25:18,155 {MESSAGE} [main]",
            "21 Nov 2026 05:25:18,155",
            "INFO",
            None,
        ),
        (
            "[%d] %p %m (%c:%L)%n",
            f"[2026-11-21 05:25:18,155] INFO {MESSAGE} (kafka.log.Log:66)",
            "2026-11-21 05:25:18,155",
            "INFO",
            "kafka.log.Log",
        ),
        ("%r [%t] %p %m%n", f"4711 [main] INFO {MESSAGE}", None, "INFO", None),
    ],
)
def test_layouts_are_read_as_log4j_writes_them(
    pattern: str, line: str, time: str | None, level: str, logger: str | None
) -> None:
    reading = Reading(origin=Origin(source="s"), layout=parse_layout(pattern))
    data = (line + "\n\tat a.stack(Trace.java:1)\n" + line + "\n").encode()
    rows = parse_events(data, reading).rows
    assert [(row.offset, row.topic, row.time_text, row.level, row.logger) for row in rows] == [
        (100, "t", time, level, logger)
    ] * 2
    assert [data[row.span_start : row.span_end] for row in rows] == [line.encode()] * 2


TOLD_TWICE = ["%d %d %m", "[%p] %p %m%n", "%d %c - %c %m", "%d %m (%c) (%c)%n"]


@pytest.mark.parametrize(
    "pattern", ["%d %p", "%d %m %m", "%t%c %p %m%n", "%d %m%c", "%m%n", "%d %Q %m", *TOLD_TWICE]
)
def test_layouts_whose_parts_cannot_be_told_are_refused(pattern: str) -> None:
    with pytest.raises(LayoutError):
        parse_layout(pattern)


def test_a_width_is_no_format_of_a_date() -> None:
    assert parse_layout("%-5dx %p %m%n").head == parse_layout("%dx %p %m%n").head


def test_wall_clocks_are_read_without_a_zone() -> None:
    assert wall_clock("1970-01-02 00:00:00,007") == 86_400_007
    assert wall_clock("1970-01-02T00:00:00.5+0200") == 86_400_500
    assert wall_clock("1970-01-02 00:00:00") == 86_400_000


@pytest.mark.parametrize(
    "text", ["", "05:25:18,155", "2026-02-30 00:00:00,000", "2026-11-21 25:00:00,000", "yesterday"]
)
def test_what_is_no_date_is_no_time(text: str) -> None:
    assert wall_clock(text) is None


@given(st.text(max_size=40))
def test_wall_clock_never_raises(text: str) -> None:
    assert wall_clock(text) is None or isinstance(wall_clock(text), int)


@given(st.datetimes())
def test_wall_clocks_keep_their_order(moment: object) -> None:
    text = str(moment)
    assert (wall_clock(text) is None) == (wall_clock(text[:19]) is None)
    assert (wall_clock(text) or 0) - (wall_clock(text[:19]) or 0) in range(1000)
