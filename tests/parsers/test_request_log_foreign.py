"""A file of another format is refused by its first line, not line by line."""

from __future__ import annotations

from pathlib import Path

from parsers.provenance import Origin
from parsers.request_log import NO_LINE
from parsers.tables import Refusal
from tests.lab.whole_logs import read_request_log

LINE = b'{"level":"INFO","msg":"x"}\n'
SHOWN = repr(LINE.decode().rstrip())
REQUEST = b"2026-11-27 10:00:00,000 DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=11)\n"
OTHERS = b"[2026-11-27 10:00:00,000] INFO Something else (kafka.other)\n"


def refused(content: bytes, tmp_path: Path) -> tuple[Refusal, ...]:
    path = tmp_path / "kafka-request.log"
    path.write_bytes(content)
    return read_request_log(path, Origin(source="kafka-request.log")).refusals


def test_a_foreign_log_is_refused_once(tmp_path: Path) -> None:
    (one,) = refused(LINE * 5_000, tmp_path)
    assert (one.span_start, one.span_end, one.kind) == (0, 5_000 * len(LINE) - 1, "malformed")
    assert one.expected == "a line of the layout [%d] %p %m (%c)%n"
    assert one.found == f"{SHOWN} (4999 more lines are refused alike)"


def test_requests_of_an_unknown_layout_are_refused_once(tmp_path: Path) -> None:
    (one,) = refused(REQUEST * 3, tmp_path)
    assert one.expected == "what the layout [%d] %p %m (%c)%n puts before a request"
    assert (one.span_start, one.span_end) == (0, 3 * len(REQUEST) - 1)
    assert one.found.endswith("(2 more lines are refused alike)")


def test_lines_apart_from_each_other_are_refused_apart_and_not_without_bound(tmp_path: Path) -> None:
    first, second = refused(LINE + OTHERS + LINE, tmp_path)
    assert (first.span_end, second.span_start) == (len(LINE) - 1, len(LINE) + len(OTHERS))
    assert first.found == SHOWN
    assert len(refused((LINE + OTHERS) * 500, tmp_path)) == 101


def test_lines_that_are_none_take_no_room_from_requests_that_cannot_be_read(tmp_path: Path) -> None:
    """A file of all logs is full of such lines; the broker's own log reads them."""
    torn = b"[2026-11-27 10:00:00,000] DEBUG Completed request:RequestHeader(apiKey=PRODUCE, (kafka.request.logger)\n"
    before = (LINE + OTHERS) * 150
    *_, request, rest = refused(before + torn, tmp_path)
    assert not request.expected.startswith(NO_LINE)
    assert (request.span_start, request.span_end) == (len(before), len(before + torn) - 1)
    assert rest.expected.startswith(NO_LINE)
    assert rest.span_end < request.span_start
