"""Acknowledged records that a broker may hold still, of whose log nothing is here, and that may have led since."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from tests.auditor.dumps_at_hand import audited, copied

LOGS = ("server.log", "state-change.log", "controller.log", "kafka-request.log")
DATED = re.compile(rb"\[\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d)")


def without_segments(dump: Path, broker: int) -> None:
    """As where the log dir was copied without its largest files."""
    for segment in (dump / f"broker-{broker}/data").rglob("*.log"):
        segment.unlink()


def without_disk(dump: Path, broker: int) -> None:
    """As where a broker's logs were collected alone."""
    for file in sorted((dump / f"broker-{broker}/data").rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()


def until(dump: Path, brokers: tuple[int, ...], time: bytes) -> None:
    """Leave of all logs of some brokers what they had told by then."""
    for log in (dump / f"broker-{broker}/logs" / name for broker in brokers for name in LOGS):
        lines = log.read_bytes().splitlines(keepends=True)
        ends = (n for n, line in enumerate(lines) if (dated := DATED.match(line)) and dated[1] >= time)
        log.write_bytes(b"".join(lines[: next(ends, len(lines))]))


def certain(report: AuditReport) -> set[tuple[str, int | None]]:
    return {(f.rule, f.start_offset) for f in report.violations if f.rule == "ACK001" and f.confidence == "certain"}


@pytest.mark.parametrize("without", [without_segments, without_disk])
def test_who_wrote_records_may_have_led_since_with_them(
    without: Callable[[Path, int], None], tmp_path: Path
) -> None:
    """Broker 2 wrote records of epoch 1, and leads in epoch 3 with them, of which these logs tell no more."""
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    until(dump, (1, 2), b"05:29:20")
    without(dump, 2)
    report = audited(dump)
    (loss,) = [each for history in report.histories for each in history.losses if each.epoch == 1]
    assert (loss.restored, loss.unread, certain(report)) == (False, (2,), set())
    (asked,) = [f for f in report.findings if f.rule == "ACK001" and f.verdict == "undecided"]
    assert "but broker 2 had them and may have led since: no log here tells who led last" in asked.message


def test_who_wrote_records_and_stopped_before_led_no_more(tmp_path: Path) -> None:
    """Broker 1's own log reaches its clean shutdown, after which broker 2 led without broker 1's records of epoch 0."""
    dump = copied("fast_failover_kip101", tmp_path / "dump", logs=True)
    without_segments(dump, 1)
    report = audited(dump)
    (loss,) = [each for history in report.histories for each in history.losses if each.epoch == 0]
    assert (loss.restored, loss.unread, certain(report)) == (False, (), {("ACK001", 10)})
