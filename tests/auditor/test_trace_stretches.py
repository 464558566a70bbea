"""A request log cut into stretches, or rotated into files, gives the report that it gives whole."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from auditor.audit import audit, prepare
from auditor.config import AuditConfig
from auditor.dumps import gather
from auditor.engines.plan import trace_stretches as plan_traces
from auditor.report.json import render
from tests.lab.effort import fast_if
from tests.lab.sample_reports import report_on

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
CASES = ("clean_1_1", "unclean_4x", "recreated_topic", "lost_pages_hw")


@pytest.mark.parametrize("case", fast_if("clean_1_1".__ne__, CASES))
def test_tiny_stretches_give_the_same_report(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = SAMPLES / case / "dump"
    monkeypatch.setattr(plan_traces, "TRACE_BYTES", 3 << 10 if case != "clean_1_1" else 100 << 10)
    config = AuditConfig(engine="local")
    stretches = [unit for unit in prepare(gather(dump), config).units if unit.kind == "request-log"]
    assert len(stretches) > 20
    assert render(audit(dump, config)) == render(report_on(SAMPLES / case))


def rotated(log: Path) -> None:
    """Five files as log4j leaves them: two by date, of which one is packed, two by number, and the one written now."""
    lines = log.read_bytes().splitlines(keepends=True)
    size = len(lines) // 5 + 1
    parts = [b"".join(lines[start : start + size]) for start in range(0, len(lines), size)]
    names = ("kafka-request.log.2026-11-21-04.gz", "kafka-request.log.2026-11-21-05", "kafka-request.log.2",
             "kafka-request.log.1", "kafka-request.log")  # fmt: skip
    for name, part in zip(names, parts, strict=False):
        log.with_name(name).write_bytes(gzip.compress(part) if name.endswith(".gz") else part)


@pytest.mark.parametrize("case", ["unclean_4x", "lost_pages_hw"])
def test_a_rotated_log_goes_on_with_its_sessions(case: str, tmp_path: Path) -> None:
    dump = shutil.copytree(SAMPLES / case / "dump", tmp_path / "dump")
    logs = [log for log in dump.rglob("kafka-request.log") if log.read_bytes().count(b"\n") > 10]
    for log in logs:
        rotated(log)
    chains = [unit for unit in prepare(gather(dump), AuditConfig()).units if unit.kind == "request-log"]
    in_order = [unit.pieces[0].source.rpartition("/")[2].removeprefix("kafka-request.log") for unit in chains]
    assert in_order[:5] == [".2026-11-21-04.gz", ".2026-11-21-05", ".2", ".1", ""]
    reports = audit(dump, AuditConfig(engine="local")), report_on(SAMPLES / case)
    told, whole = (json.loads(render(report))["findings"] for report in reports)
    assert len(whole) > 2
    assert [said(finding) for finding in told] == [said(finding) for finding in whole]


def said(finding: dict[str, object]) -> tuple[object, ...]:
    return tuple(finding[name] for name in ("rule", "severity", "topic", "partition", "message", "confidence"))
