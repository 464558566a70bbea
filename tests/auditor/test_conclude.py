"""What a report concludes: clean only where enough was read, unknown where something that matters was not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES, audited, copied, told, violations
from hypothesis import given
from hypothesis import strategies as st

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.distinct import asked_once, distinct
from auditor.report import terminal
from auditor.report.postmortem import document as postmortem
from auditor.report.summary.folded_findings import folded
from auditor.report.summary.perhaps import perhaps_words
from parsers.provenance import Span
from rules.finding import Exhibit, Finding, named_facts
from tests.replaced import replace

CLEAN = "bit_rot_payload"
"""Of its brokers 1 and 2 nothing is wrong with; only what those hold is copied."""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    whole = copied(CLEAN, tmp_path / "dump")
    for path in whole.iterdir():
        if path.name not in ("broker-1", "broker-2"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return whole


def segment(dump: Path) -> Path:
    return dump / "broker-1/data/d-0/00000000000000000000.log"


def test_the_untouched_copy_is_clean(dump: Path) -> None:
    report = told(dump, partial=True)
    assert (report["verdict"], report["exitCode"], report["coverage"]["ratio"]) == ("clean", 0, 1)
    assert report["coverage"]["replicasSeen"] == len(report["replicas"]) == 4
    assert report["coverage"]["bytesSeen"] == sum(path.stat().st_size for path in dump.rglob("*.log"))
    times = [report["coverage"][name] for name in ("firstTimestamp", "lastTimestamp")]
    assert 1_700_000_000_000 < times[0] < times[1]


@pytest.mark.parametrize(
    ("name", "verdict"), [("logs/kafka-request.log", "unknown"), ("logs/server.log.3", "unknown"), ("pipe", "clean")]
)
def test_a_log_of_a_broker_that_is_no_file_leaves_the_verdict_open(dump: Path, name: str, verdict: str) -> None:
    place = dump / "broker-1" / name
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)
    report = audited(dump, partial=True)
    assert [(line.found, line.blocking) for line in report.refusals] == [("a FIFO", verdict == "unknown")]
    assert report.verdict == verdict
    assert "lawful" not in terminal.render(report, columns=200, verbose=True)


@pytest.mark.parametrize("special", ["folder", "fifo", "link out"])
def test_a_segment_that_cannot_be_read_leaves_the_verdict_open(dump: Path, special: str) -> None:
    segment(dump).unlink()
    if special == "folder":
        segment(dump).mkdir()
    elif special == "fifo":
        os.mkfifo(segment(dump))
    else:
        segment(dump).symlink_to("/etc/hostname")
    report = told(dump, partial=True)
    assert report["verdict"] != "clean"
    assert report["exitCode"] in (1, 3)


def test_two_folders_that_claim_one_replica_are_refused_and_counted_as_unread(dump: Path) -> None:
    (dump / "copy").mkdir()
    shutil.copytree(dump / "broker-1/data", dump / "copy/broker-1")
    (dump / "copy/broker-1/d-0/00000000000000000000.log").write_bytes(segment(dump).read_bytes() * 2)
    report = told(dump, partial=True)
    assert report["verdict"] == "unknown"
    assert {refusal["kind"] for refusal in report["refusals"]} == {"ambiguous"}
    assert {replica["broker"] for replica in report["replicas"]} == {2}
    assert report["coverage"]["missingReplicas"] == []
    assert 0 < report["coverage"]["ratio"] < 0.5


def test_a_folder_with_checkpoints_and_no_replica_is_unknown(dump: Path) -> None:
    for broker in (1, 2):
        for folder in (dump / f"broker-{broker}/data").iterdir():
            shutil.rmtree(folder) if folder.is_dir() else None
    report = told(dump, partial=True)
    assert (report["verdict"], report["exitCode"]) == ("unknown", 3)
    assert report["coverage"]["replicasSeen"] == 0
    assert report["coverage"]["replicasMissing"] >= 2


def test_a_replica_that_checkpoints_name_and_the_copy_lacks_is_named(dump: Path) -> None:
    shutil.rmtree(dump / "broker-2/data/d-0")
    coverage = told(dump, partial=True)["coverage"]
    away = {(each["topic"], each["broker"]) for each in coverage["assignedElsewhere"]}
    assert ("d", 3) in away, "the disk of broker 3 is not in this dump"
    assert coverage["replicasMissing"] == 1 + coverage["replicasAssignedElsewhere"]
    assert coverage["replicasSeen"] == 3
    (named,) = coverage["missingReplicas"]
    assert (named["topic"], named["partition"], named["broker"], named["heldBy"]) == ("d", 0, 2, [1])
    words = "d-0 of broker 2 (replicas here: of broker 1)"
    report = audit(dump, AuditConfig(engine="local"))
    assert words in " ".join(terminal.render(report, columns=200, verbose=True, colour=False).split())
    assert words in postmortem.render(report).replace("\\", "")


def test_a_malformed_checkpoint_leaves_the_verdict_open(dump: Path) -> None:
    (dump / "broker-1/data/replication-offset-checkpoint").write_text("0\n1\nd 0 one-hundred\n")
    report = told(dump, partial=True)
    assert report["verdict"] == "unknown"
    assert [refusal["path"] for refusal in report["refusals"]] == ["broker-1/data/replication-offset-checkpoint"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("meta.properties", b"\x00" * 200),
        ("meta.properties", b""),
        ("meta.properties", None),
        ("replication-offset-checkpoint", b"\x00" * 200),
        ("d-0/leader-epoch-checkpoint", None),
    ],
)
def test_coverage_is_not_whole_where_a_file_beside_the_segments_cannot_be_read(
    name: str, content: bytes | None, dump: Path
) -> None:
    whole = told(dump, partial=True)["coverage"]
    file = dump / "broker-1/data" / name
    file.unlink()
    file.mkdir() if content is None else file.write_bytes(content)
    report = audit(dump, AuditConfig(engine="local", partial=True))
    coverage = report.coverage
    unread = len(content or b"x")
    assert (coverage.bytes_seen, coverage.bytes_read) == (whole["bytesSeen"] + unread, whole["bytesRead"])
    assert (report.verdict != "clean", coverage.files_unread, coverage.ratio < 1) == (True, 1, True)
    assert "; 100% of" not in terminal.render(report, columns=200)
    assert "100% of" not in postmortem.render(report)


def test_what_cannot_be_read_of_other_topics_does_not_matter(dump: Path) -> None:
    other = dump / "broker-1/data/other-0"
    other.mkdir()
    (other / "partition.metadata").write_text("version: 0\ntopic_id: nonsense\n")
    (other / "00000000000000000000.log").write_bytes(b"\x01" * 500)
    assert told(dump, partial=True)["verdict"] != "clean"
    chosen = told(dump, partial=True, topic=["d"])
    assert (chosen["verdict"], chosen["refusals"], chosen["coverage"]["ratio"]) == ("clean", [], 1)


def test_a_socket_beside_the_log_dirs_does_not_matter_and_one_among_them_does(dump: Path) -> None:
    os.mkfifo(dump / "broker-1/pipe")
    report = told(dump, partial=True)
    assert report["verdict"] == "clean"
    assert [refusal["blocking"] for refusal in report["refusals"]] == [False]
    os.mkfifo(dump / "broker-1/data/pipe")
    assert told(dump, partial=True)["verdict"] == "unknown"


def test_coverage_below_the_minimum_is_no_clean_bill(dump: Path) -> None:
    content = segment(dump).read_bytes()
    segment(dump).write_bytes(content + content[:100])
    usual = told(dump, partial=True, fail_on="critical")
    assert (usual["verdict"], usual["coverage"]["bytesRefused"]) == ("clean", 100)
    assert 0.9 < usual["coverage"]["ratio"] < 1
    assert told(dump, partial=True, fail_on="critical", min_coverage=0.9)["verdict"] == "clean"
    strict = told(dump, partial=True, fail_on="critical", min_coverage=1.0)
    assert (strict["verdict"], strict["exitCode"]) == ("unknown", 3)


def test_findings_outrank_doubt_and_severity_is_asked_for(dump: Path) -> None:
    content = bytearray(segment(dump).read_bytes())
    content[3930] ^= 1
    segment(dump).write_bytes(content)
    (dump / "broker-2/data/replication-offset-checkpoint").write_text("nonsense")
    assert [found[0] for found in violations(told(dump, partial=True))] == ["SEG001"]
    assert told(dump, partial=True)["verdict"] == "findings"
    assert told(dump, partial=True, fail_on="critical")["verdict"] == "unknown"
    assert told(dump, partial=True, fail_on="critical", exit_zero=True)["exitCode"] == 0


def test_one_dead_disk_is_one_incident(dump: Path) -> None:
    for number in range(1, 6):
        for broker in (1, 2):
            shutil.copytree(dump / f"broker-{broker}/data/d-0", dump / f"broker-{broker}/data/e-{number}")
        damaged = dump / f"broker-1/data/e-{number}/00000000000000000000.log"
        content = bytearray(damaged.read_bytes())
        content[1000 + 500 * number] ^= 0xFF
        damaged.write_bytes(content)
    for metadata in dump.glob("broker-*/data/e-*/partition.metadata"):
        metadata.unlink()
    report = audited(dump, partial=True, topic=("e",))
    assert len(report.violations) >= 5
    disks = [incident for incident in report.incidents if incident.scope == "broker"]
    assert [(incident.brokers, incident.partitions) for incident in disks] == [((1,), 5)]
    assert "broker-1/data" in disks[0].title
    assert len(report.incidents) == 1


FINDING = Finding(
    rule="SEG001", severity=2, confidence="certain", verdict="violated", cluster_id=None, topic="t", topic_id=None,
    partition=0, brokers=(1,), start_offset=0, end_offset=1, message="m", exhibits=(), facts=(),
)  # fmt: skip


def test_findings_with_one_fingerprint_are_told_apart() -> None:
    where = [(Exhibit(span=Span(source=name, start=0, end=1), role="x"),) for name in ("a", "b", "c")]
    findings = [replace(FINDING, exhibits=exhibits) for exhibits in where]
    told_apart = distinct([*findings, findings[0]])
    assert len(told_apart) == 3
    assert len({finding.id for finding in told_apart}) == 3
    assert told_apart[0] == findings[0]


def test_a_question_of_several_partitions_names_them_and_not_the_whole_dump() -> None:
    asked = replace(FINDING, verdict="undecided", blocking=True, start_offset=None, message="Undecided: it is open.")
    questions = [replace(asked, partition=partition) for partition in range(3)]
    assert [*perhaps_words(folded(asked_once(questions)))] == ["t-0 to t-2: it is open."]
    assert [*perhaps_words(folded(asked_once(questions[:1])))] == ["t-0: it is open."]


def test_questions_alike_but_for_their_numbers_say_whose_the_numbers_are() -> None:
    asked = replace(FINDING, verdict="undecided", blocking=True, message="Undecided: broker 1 has record 7.")
    other = replace(asked, partition=4, message="Undecided: broker 1 has record 9.")
    assert [*perhaps_words(folded([asked, other]))] == ["t-0, t-4, first in t-0: broker 1 has record 7."]
    assert [*perhaps_words(folded([other, asked]))] == ["t-0, t-4, first in t-4: broker 1 has record 9."]
    assert [*perhaps_words(folded([asked, replace(asked, partition=4)]))] == ["t-0, t-4: broker 1 has record 7."]


def test_ids_that_begin_alike_are_told_in_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fingerprints that share 8 digits are too rare to be found here, so a short beginning stands in for 8."""
    monkeypatch.setattr("auditor.distinct.SHORTEST", 2)
    findings = [replace(FINDING, facts=named_facts({"subject": str(number)})) for number in range(400)]
    named = distinct(findings)
    assert len({finding.id for finding in named}) == 400
    assert {len(finding.id) for finding in named} != {4}
    assert all(f"F-{finding.fingerprint}".startswith(finding.id) for finding in named)


@given(st.permutations(range(12)))
def test_an_id_does_not_depend_on_the_others_order(order: list[int]) -> None:
    findings = [replace(FINDING, facts=named_facts({"subject": str(number)})) for number in range(12)]
    usual = {finding.fingerprint: finding.id for finding in distinct(findings)}
    assert {finding.fingerprint: finding.id for finding in distinct(findings[place] for place in order)} == usual


def test_replicas_that_vanished_leave_the_verdict_open(tmp_path: Path) -> None:
    dump = copied("migrated", tmp_path / "dump")
    assert told(dump)["verdict"] == "clean"
    shutil.rmtree(dump / "broker-1" / "data" / "pay-0")
    report = told(dump)
    assert [(m["broker"], m["topic"]) for m in report["coverage"]["missingReplicas"]] == [(1, "pay")]
    assert (report["verdict"], report["exitCode"]) == ("unknown", 3)


def test_a_part_that_fails_is_named_and_the_findings_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> Sequence[object]:
        raise ZeroDivisionError

    monkeypatch.setattr("rules.judging.judge.losses", fails)
    report = told(SAMPLES / "fast_failover_kip101" / "dump")
    assert any(rule == "LOG001" for rule, *_ in violations(report))
    (line,) = [line for line in report["coverage"]["undecided"] if line["rule"] == "-"]
    assert line["reason"].startswith("the bill of losses failed: ZeroDivisionError in fails:")
