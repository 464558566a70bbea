"""A replica of which no segment is here: where its log ends is unknown on every page; nobody is told to elect it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditor.report.advice.advice_files import may_follow
from auditor.report.advice.advice_json import document as advised
from auditor.report.advice.advice_text import text
from auditor.report.html.page import render as page
from auditor.report.json import document
from auditor.report.model import AuditReport
from auditor.report.sheet import Sheet
from auditor.report.terminal.replica_lines import replica_table
from tests.auditor.dumps_at_hand import audited, copied
from tests.rules.broken_dumps import Yard, position, wrote

SEGMENT = (".log", ".index", ".timeindex", ".txnindex")


def without_segments(to: Path, brokers: str) -> AuditReport:
    """Partition 0 of a real topic on three brokers, whose segments were not copied from some of them."""
    dump = copied("clean_4x", to, logs=True)
    for file in dump.glob(f"broker-[{brokers}]/data/orders-0/*"):
        if file.suffix in SEGMENT:
            file.unlink()
    return audited(dump, topic=("orders",), partition=(0,))


@pytest.fixture(scope="module")
def one_missing(tmp_path_factory: pytest.TempPathFactory) -> AuditReport:
    return without_segments(tmp_path_factory.mktemp("one") / "dump", "2")


def test_where_nothing_is_here_the_log_end_is_unknown(one_missing: AuditReport) -> None:
    rows = list(replica_table(one_missing.replicas, Sheet(columns=200, colour=False)))
    (row,) = (row.split() for row in rows if row.startswith("orders-0") and row.split()[1] == "2")
    assert row[2:4] == ["unknown", "unknown"]
    replicas = json.loads(json.dumps(document(one_missing)))["replicas"]
    assert {replica["broker"]: replica["logEndOffset"] for replica in replicas} == {1: 458, 2: None, 3: 458}
    assert "LEO unknown" in page(one_missing)


def test_a_barred_replica_stands_last_and_costs_what_is_said_of_it(one_missing: AuditReport) -> None:
    words = " ".join(text(one_missing.advice, verdict=one_missing.verdict).split())
    (placed,) = one_missing.advice
    assert [candidate.broker for candidate in placed.advice.candidates] == [3, 1, 2]
    assert "Third choice: broker 2. Its epochs and its log end offset are not known" in words
    assert words.count("loses no committed or acknowledged record that any copy here holds") == 2
    assert words.count("loses no") == 2
    (partition,) = json.loads(advised(one_missing.advice))["partitions"]
    assert [file["broker"] for file in partition["reassignments"]] == [3, 1]


def test_where_no_copy_is_here_nobody_could_lead_and_no_command_is_given(tmp_path: Path) -> None:
    report = without_segments(tmp_path / "dump", "123")
    words = " ".join(text(report.advice, verdict=report.verdict).split())
    assert "could lead" not in words
    assert "loses no" not in words
    assert "kafka-leader-election" not in words
    assert "No command is given. Each election is a NO-GO" in words
    (partition,) = json.loads(advised(report.advice))["partitions"]
    assert partition["reassignments"] == []


def test_a_longer_log_that_is_damaged_stands_behind_a_sound_one(tmp_path: Path) -> None:
    """Nobody was told of what broker 1 has more, so that nothing is lost when broker 2 leads."""
    yard = Yard(tmp_path)
    log = wrote(0, 0, 40)
    longer = yard.broker(1, log, hw=20)
    yard.broker(2, [batch for batch in log if batch.end <= 20], hw=20)
    segment = next(longer.glob("*.log"))
    content = bytearray(segment.read_bytes())
    content[position(log, 30) + 70] ^= 1
    segment.write_bytes(content)
    (placed,) = yard.report().advice
    first, second = placed.advice.candidates
    assert (first.broker, first.damage, second.broker) == (2, (), 1)
    assert second.damage == ("1 batch fails its checksum",)
    assert may_follow(placed.advice, 2)
    assert not may_follow(placed.advice, 1)
