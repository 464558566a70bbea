"""A log in which a broker starts in another cluster is not this cluster's: it is named, and judges nobody."""

from __future__ import annotations

from pathlib import Path

from auditor.report.model import AuditReport, RefusalLine
from tests.auditor.dumps_at_hand import SAMPLES, audited, copied

OWN, OTHER = b"SP9M5FPMSuaeKS0waJUevA", b"svF5qxJ5SfagZCl2jXj5yQ"
CUT = SAMPLES / "lives_without_ids" / "dump" / "broker-2" / "logs" / "server.log"
"""Broker 2 of another cluster, which has a topic `same` too, cuts its log below its high watermark."""


def rotated(to: Path, lines: bytes) -> AuditReport:
    dump = copied("clean_2_8", to, logs=True)
    (dump / "broker-2" / "logs" / "server.log.1").write_bytes(lines)
    return audited(dump)


def poured(report: AuditReport) -> list[RefusalLine]:
    return [refusal for refusal in report.refusals if refusal.kind == "ambiguous"]


def test_what_a_broker_of_another_cluster_cut_is_not_held_against_this_one(tmp_path: Path) -> None:
    report = rotated(tmp_path / "dump", CUT.read_bytes())
    assert (report.verdict, [f.rule for f in report.violations if f.severity > 0]) == ("unknown", [])
    assert [(r.path, r.found) for r in poured(report)] == [
        ("broker-2/logs/server.log.1", f"lines of cluster {OTHER.decode()}")
    ]


def test_the_same_lines_of_this_cluster_are_judged(tmp_path: Path) -> None:
    report = rotated(tmp_path / "dump", CUT.read_bytes().replace(OTHER, OWN))
    assert "TRUNC001" in {finding.rule for finding in report.violations}
    assert poured(report) == []


def test_a_broker_of_kraft_names_the_cluster_in_which_it_starts(tmp_path: Path) -> None:
    dump, in_cluster = copied("unclean_4x", tmp_path / "dump", logs=True), b" of broker 1 in cluster "
    log = dump / "broker-1" / "logs" / "server.log"
    before, found, behind = log.read_bytes().partition(in_cluster)
    log.write_bytes(before + found + OTHER + b" " + behind.partition(b" ")[2])
    assert found
    assert [refusal.path for refusal in poured(audited(dump))] == ["broker-1/logs/server.log"]
