"""The metadata log of a real cluster and its snapshots: copies that agree, and copies of which one was changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import google_crc32c
import pytest

from auditor.report.summary.actions import actions
from parsers.metadata_log.checking import differences
from parsers.metadata_log.image import MetadataImage
from rules.catalog.meta001_metadata_logs_diverge import metadata_logs_diverge
from rules.finding import Finding, Severity, Undecided, question_told
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.auditor.dumps_at_hand import audited
from tests.conftest import SAMPLE_LOGS
from tests.replaced import replace

COPIES = SAMPLE_LOGS / "metadata_snapshots"
BROKER = "broker-1/data/__cluster_metadata-0"
CONTROLLER = "controller-100/data/__cluster_metadata-0"
OLDEST, NEWEST = "00000000000000000022-0000000001.checkpoint", "00000000000000000366-0000000001.checkpoint"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return shutil.copytree(COPIES, tmp_path / "dump")


def found(root: Path) -> list[Finding]:
    return [finding for finding in audited(root).findings if finding.rule == "META001"]


def told(root: Path) -> list[tuple[str, tuple[int, ...], int | None]]:
    return [(Severity(f.severity).label, f.brokers, f.end_offset) for f in found(root) if f.verdict == "violated"]


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change what batches of a file hold, and give them the checksums of what they hold then."""
    content, out, place = path.read_bytes(), bytearray(), 0
    while place < len(content):
        end = place + 12 + int.from_bytes(content[place + 8 : place + 12], "big")
        head, body = content[place : place + 17], change(content[place + 21 : end])
        out += head + google_crc32c.value(body).to_bytes(4, "big") + body
        place = end
    assert len(out) == len(content)
    path.write_bytes(bytes(out))


def test_copies_of_a_healthy_cluster_agree(dump: Path) -> None:
    assert found(dump) == []


def test_a_snapshot_that_says_something_else_than_its_log(dump: Path) -> None:
    rewrite(dump / BROKER / NEWEST, lambda body: body.replace(b"pay", b"pax"))
    assert told(dump) == [("critical", (1,), 366)]
    (finding,) = found(dump)
    said = "Node 1's snapshot at offset 366 contradicts node 100's log before that offset. "
    assert finding.message.startswith(said)
    assert "is topic 'pay' in the log, and topic 'pax' in the snapshot" in finding.message
    assert [exhibit.span.source for exhibit in finding.exhibits] == [f"{BROKER}/{NEWEST}"]


def test_no_node_whose_metadata_is_in_doubt_is_free_to_start(dump: Path) -> None:
    """The audit says to change nothing yet, and so does the advice, of that node alone."""
    whole = {gate.action: gate.going for placed in audited(dump).advice for gate in placed.advice.gates}
    rewrite(dump / BROKER / NEWEST, lambda body: body.replace(b"pay", b"pax"))
    report = audited(dump)
    (asked,) = (action.text for action in actions(report) if action.findings)
    assert asked.startswith("Change nothing yet. Find out which nodes hold the true metadata")
    told = {gate.action: gate for placed in report.advice for gate in placed.advice.gates}
    assert told["restart broker 1"].going == "unknown"
    assert told["restart broker 1"].first == "find out which nodes hold the true metadata"
    assert told["restart broker 100"].going == whole.get("restart broker 100", "go") == "go"


def test_a_snapshot_of_another_epoch_than_its_log(dump: Path) -> None:
    path = dump / BROKER / NEWEST
    path.rename(path.with_name(NEWEST.replace("-0000000001", "-0000000007")))
    assert told(dump) == [("critical", (1,), 366)]
    assert "is of epoch 7, but the log's last record before it is of epoch 1" in found(dump)[0].message


def test_a_snapshot_cut_short(dump: Path) -> None:
    path = dump / BROKER / OLDEST
    path.write_bytes(path.read_bytes()[:-100])
    assert told(dump) == [("medium", (1,), 22)]


def test_a_snapshot_whose_checksum_fails_is_torn(dump: Path) -> None:
    path = dump / CONTROLLER / "00000000000000000408-0000000001.checkpoint"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(bytes(content))
    assert told(dump) == [("medium", (100,), 408)]


def test_three_snapshots_of_a_copy_are_read(dump: Path) -> None:
    """The oldest and the two newest: what another one says nobody starts from any more."""
    rewrite(dump / BROKER / "00000000000000000266-0000000001.checkpoint", lambda body: body.replace(b"pay", b"pax"))
    assert found(dump) == []
    (point,) = (each for each in audited(dump).coverage.undecided if each.rule == "META001")
    left_out = "the audit did not compare 19 snapshots of node 1 (00000000000000000034-0000000001."
    assert point.reason.startswith(left_out)
    assert " and 16 more) and 11 snapshots of node 100 (" in point.reason
    assert point.reason.endswith("Of each node, it takes the oldest snapshot and the two newest ones")
    asked = question_told(point.reason, point.missing)
    assert "ones. Audit a copy of this dump that holds only three snapshots of each node." in asked
    assert not point.blocking


def test_where_all_snapshots_are_read_nothing_is_left_out(dump: Path) -> None:
    for folder in (dump / BROKER, dump / CONTROLLER):
        for path in sorted(folder.glob("*.checkpoint"))[1:-2]:
            path.unlink()
    assert [each.reason for each in audited(dump).coverage.undecided if each.rule == "META001"] == []


def test_a_record_that_two_logs_hold_differently_in_one_epoch(dump: Path) -> None:
    """The broker's log and the controller's overlap from offset 153 on; the time of each batch becomes another one."""
    rewrite(dump / CONTROLLER / "00000000000000000172.log", lambda body: body[:13] + bytes([body[13] ^ 1]) + body[14:])
    logs = [each for each in found(dump) if "metadata logs of nodes 1 and 100" in each.message]
    assert logs != []
    assert {(each.brokers, each.severity) for each in logs} == {((1, 100), Severity.CRITICAL)}


QUORUM = "topic __cluster_metadata\n"
LOGS = {
    "a majority holds the other": ("broker 7 0022 ; voters 7 8 9\nbroker 8 0022 ; voters 7 8 9\nbroker 9 001", 0),
    "no majority is here": ("broker 7 0022 ; voters 7 8 9\nbroker 9 001 ; voters 7 8 9", 1),
    "nobody tells the voters": ("broker 7 0022\nbroker 8 0022\nbroker 9 001", 2),
}


@pytest.mark.parametrize("name", LOGS)
def test_ends_of_logs_are_lawful_where_a_majority_went_on(name: str) -> None:
    drawing, open_points = LOGS[name]
    said = [*metadata_logs_diverge.check(with_differences(read_sketch(QUORUM + drawing).evidence))]
    assert [type(each) for each in said] == [Undecided] * open_points


def test_one_epoch_needs_no_snapshot() -> None:
    drawing = QUORUM + "broker 7 002a2a ; voters 7 8 9\nbroker 8 002b2b ; voters 7 8 9"
    (said,) = metadata_logs_diverge.check(with_differences(read_sketch(drawing).evidence))
    assert (said.start_offset, said.end_offset) == (2, 4)


def test_a_snapshot_beyond_a_log_that_may_be_cut_is_left_open() -> None:
    evidence = read_sketch(QUORUM + "broker 7 0011\nsnapshot 9 at 4 epoch 2 is differs").evidence
    (seen,) = evidence.metadata_snapshots
    of_another = replace(seen, log_epoch=1, log_broker=7)
    (said,) = metadata_logs_diverge.check(replace(evidence, metadata_snapshots=(of_another,)))
    assert isinstance(said, Undecided)
    own = replace(seen, broker=7, end_offset=5, standing="alike")
    (said,) = metadata_logs_diverge.check(replace(evidence, metadata_snapshots=(of_another, own)))
    assert not isinstance(said, Undecided)


def test_settings_of_topics_that_are_gone_count_nowhere() -> None:
    log, snapshot = MetadataImage(), MetadataImage()
    log.configs[2, "gone", "retention.ms"] = "1"
    log.configs[4, "", "min.insync.replicas"] = "2"
    (found,) = differences(log, snapshot)
    assert found == "setting min.insync.replicas of all brokers in the log is not that in the snapshot"
