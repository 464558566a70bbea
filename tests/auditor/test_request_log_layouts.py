"""Request logs of another layout say what they say in Kafka's own, where the layout is named."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from auditor.config import AuditConfig
from auditor.timeline import evidence_of
from parsers.provenance import Origin
from parsers.request_log import sessions_after
from parsers.request_log.layout import layout_among, layout_of
from tests.lab.whole_logs import RequestLog, read_request_log
from tests.replaced import replace

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
DUMP = SAMPLES / "fast_failover_kip101" / "dump"
LOG = DUMP / "broker-1" / "logs" / "kafka-request.log"
HEAD = re.compile(rb"(?m)^\[([0-9-]+ [0-9:,]+)\] ([A-Z]+) (.*?) \(([\w.$]+)\)$")
PATTERNS = {
    "%d{yyyy-MM-dd HH:mm:ss,SSS} | %-5p | %c | %m%n": rb"\1 | \2 | \4 | \3",
    "%d{ISO8601} %-5p [%t] %c{1}: %m%n": rb"\1 \2 [data-plane-kafka-request-handler-1] logger$: \3",
    "[%d{yyyy-MM-dd HH:mm:ss,SSS}] %p [%d{HH}] %m (%c)%n": rb"[\1] \2 [05] \3 (\4)",
}
ORIGIN = Origin(source="kafka-request.log", broker=1)


def relaid(text: bytes, pattern: str) -> bytes:
    return HEAD.sub(PATTERNS[pattern], text)


def said(log: RequestLog) -> list[object]:
    rows = (*log.produces, *log.epoch_requests, *log.isr_requests, *log.offset_requests, *log.request_events)
    fetches = [replace(row, span_start=0, span_end=0) for row in log.fetches(ORIGIN)]
    return [*fetches, *(replace(row, span_start=0, span_end=0) for row in rows)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_named_layout_says_what_the_default_one_does(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / LOG.name
    path.write_bytes(relaid(LOG.read_bytes(), pattern))
    own, other = read_request_log(LOG, ORIGIN), read_request_log(path, ORIGIN, patterns=("%p %m%n", pattern))
    assert len(own.fetch_calls) == 31
    assert not other.refusals
    assert said(other) == said(own)
    assert sessions_after(path, ORIGIN, patterns=(pattern,)) == sessions_after(LOG, ORIGIN)
    assert read_request_log(path, ORIGIN).refusals or "[%d" in pattern


def test_the_layout_by_which_requests_begin_is_taken() -> None:
    lines = LOG.read_bytes().splitlines()[:20]
    assert layout_among(PATTERNS, lines) == layout_of()
    for pattern in PATTERNS:
        assert layout_among(PATTERNS, [relaid(line, pattern) for line in lines]) == layout_of(pattern)


def test_an_audit_reads_requests_of_the_broker_whose_layout_is_named(tmp_path: Path) -> None:
    dump, pattern = tmp_path / "dump", next(iter(PATTERNS))
    shutil.copytree(DUMP, dump)
    for path in dump.glob("broker-1/logs/*.log"):
        path.write_bytes(relaid(path.read_bytes(), pattern))
    plain = evidence_of(DUMP, "ff", 0)
    named = evidence_of(dump, "ff", 0, AuditConfig(log_pattern=(f"1={pattern}",)))

    def told(moments: object) -> list[tuple[object, ...]]:
        return [(m.clock, m.kind, m.time, m.term, m.offset, getattr(m, "high_watermark", None)) for m in moments]  # type: ignore[attr-defined]

    assert told(named.moments) == told(plain.moments)
    assert len(told(evidence_of(dump, "ff", 0).moments)) < len(told(plain.moments))
