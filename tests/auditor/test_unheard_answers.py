"""A broker that finds no open connection for an answer logs the request twice: nobody heard that answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.auditor.dumps_at_hand import audited, copied

LOST = re.compile(r'.*"PRODUCE".*"baseOffset":(?:50|60),.*"totalTimeMs":(?P<total>[0-9.]+),')


@pytest.mark.parametrize(("longer", "acknowledged"), [(0.2, []), (0.0, [(50, 70)])])
def test_a_request_that_is_logged_twice_is_no_acknowledgement(
    longer: float, acknowledged: list[tuple[int, int]], tmp_path: Path
) -> None:
    """The second line takes longer, as the answer is sent in vain; one that an appender wrote twice does not."""
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    requests = dump / "broker-1/logs/kafka-request.log"
    lines: list[str] = []
    for line in requests.read_text().splitlines():
        lines.append(line)
        if (lost := LOST.match(line)) is not None:
            took = f'"totalTimeMs":{float(lost["total"]) + longer:.3f},'
            lines.append(line.replace(f'"totalTimeMs":{lost["total"]},', took))
    requests.write_text("\n".join(lines) + "\n")
    found = [f for f in audited(dump).violations if f.rule == "ACK001"]
    assert [(f.start_offset, f.end_offset) for f in found] == acknowledged


@pytest.mark.parametrize("gone", [("kafka-request",), ("kafka-request", "state-change")], ids=["requests", "roles too"])
def test_what_a_leader_wrote_and_cut_is_never_clean_where_nothing_tells_what_it_answered(
    gone: tuple[str, ...], tmp_path: Path
) -> None:
    """Its server.log tells the cut, and by the answer that called for it the epoch of what went."""
    dump = copied("acks_one_lost", tmp_path / "dump", logs=True)
    for log in (found for name in gone for found in dump.rglob(f"{name}.log")):
        log.unlink()
    report = audited(dump)
    (asked,) = [f for f in report.findings if f.blocking]
    assert (report.verdict, report.violations) == ("unknown", ())
    assert (asked.rule, asked.brokers, asked.start_offset, asked.end_offset) == ("ACK001", (1,), 50, 70)
    assert asked.values()["missing"] == "broker 1's request log, or the logs of the producers"
