"""A broker that writes all its logs to one place, as a console does, tells the same as one that keeps them apart."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from parsers.request_log import holds_requests
from tests.lab.sample_histories import SAMPLES
from tests.lab.sample_reports import report_on

TIME = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ")
LOGS = ("server.log", "controller.log", "state-change.log", "kafka-request.log")


def told(report: AuditReport) -> list[tuple[str, int, tuple[int, ...], int | None, int | None, str]]:
    return [(f.rule, f.severity, f.brokers, f.start_offset, f.end_offset, f.message) for f in report.violations]


def in_one_place(logs: Path) -> None:
    """All entries of a broker's logs by time, each with its further lines, in its server.log."""
    entries: list[tuple[str, int, str]] = []
    for file in (logs / name for name in LOGS if (logs / name).exists()):
        for line in file.read_text(errors="surrogateescape").splitlines(keepends=True):
            begins = TIME.match(line)
            if begins:
                entries.append((begins[1], len(entries), line))
            elif entries:
                entries[-1] = (*entries[-1][:2], entries[-1][2] + line)
        file.unlink()
    (logs / "server.log").write_text("".join(text for *_, text in sorted(entries)), errors="surrogateescape")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["unclean_4x", "lost_pages_hw"])
def test_logs_in_one_place_tell_the_same(case: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / case / "dump", tmp_path / "dump")
    for logs in sorted((tmp_path / "dump").glob("*/logs")):
        in_one_place(logs)
    report = audit(tmp_path / "dump", AuditConfig(engine="local"))
    assert told(report) == told(report_on(SAMPLES / case))
    assert report.refusals == ()


def test_logs_of_several_brokers_in_one_folder_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    """A log of requests does not name its broker; the others that bear its number do."""
    dump = tmp_path / "dump"
    shutil.copytree(SAMPLES / "unclean_4x" / "dump", dump)
    (dump / "logs").mkdir()
    for file in sorted(dump.glob("broker-*/logs/*.log")):
        broker = file.parent.parent.name.removeprefix("broker-")
        file.rename(dump / "logs" / f"{file.stem}-{broker}.log")
    report = audit(dump, AuditConfig(engine="local"))
    assert told(report) == told(report_on(SAMPLES / "unclean_4x"))
    assert report.refusals == ()


def test_a_log_without_requests_is_no_request_log(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("[2026-11-21 22:00:00,000] INFO started (kafka.server.KafkaServer)\n" * 50_000)
    assert not holds_requests(log)
    with log.open("a") as file:
        file.write("[2026-11-21 22:00:01,000] DEBUG Completed request:RequestHeader(...) (kafka.request.logger)\n")
    assert holds_requests(log)
    assert not holds_requests(tmp_path / "nothing.log")
