"""`audit --dry-run` says what an audit would read, and reads none of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from command import run
from dumps_at_hand import SAMPLES, copied

from auditor.audit import prepare
from auditor.config import AuditConfig
from auditor.dry_run import amounts
from auditor.dumps import gather


def test_every_byte_that_an_audit_reads_is_told_by_its_kind() -> None:
    dump = SAMPLES / "unclean_4x" / "dump"
    prepared = prepare(gather([dump]), AuditConfig(engine="local"))
    told = {each.kind: each for each in amounts(prepared)}
    assert sum(each.bytes for each in told.values()) == prepared.bytes
    logs = list(dump.glob("*/logs/kafka-request.log"))
    assert (told["request logs"].files, told["request logs"].bytes) == (
        len(logs), sum(log.stat().st_size for log in logs),
    )  # fmt: skip
    segments = list(dump.glob("*/data/pay-*/*.log"))
    assert told["segments"].bytes >= sum(segment.stat().st_size for segment in segments)


def test_an_archive_is_looked_into(tmp_path: Path) -> None:
    dump = copied("bit_rot_payload", tmp_path / "dump")
    packed = shutil.make_archive(str(tmp_path / "packed"), "gztar", dump)
    told = run("audit", packed, "--dry-run", "--engine", "local")
    assert (told.code, told.err) == (0, "")
    assert told.out == run("audit", str(dump), "--dry-run", "--engine", "local").out


def test_the_contents_of_segments_and_request_logs_do_not_matter(tmp_path: Path) -> None:
    dump = copied("unclean_4x", tmp_path / "dump", logs=True)
    before = run("audit", str(dump), "--dry-run", "--engine", "local")
    for segment in dump.glob("*/data/pay-*/*.log"):
        segment.write_bytes(b"x" * segment.stat().st_size)
    after = run("audit", str(dump), "--dry-run", "--engine", "local")
    assert (before.code, before.err) == (0, "")
    assert before.out == after.out
    assert "7 replicas of 2 partitions on 4 brokers, at level full." in before.out
    assert "in one process." in before.out


def test_only_what_is_selected_is_counted() -> None:
    dump = str(SAMPLES / "clean_mixed" / "dump")
    whole = run("audit", dump, "--dry-run", "--engine", "local").out
    part = run("audit", dump, "--dry-run", "--engine", "local", "--topic", "short").out
    assert "replicas of 2 partitions" not in whole
    assert whole != part
    assert "on Spark with" in run("audit", dump, "--dry-run").out
