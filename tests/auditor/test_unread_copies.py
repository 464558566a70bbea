"""Folders that are in a dump and were not read: nobody calls their disks absent, or says that nothing stands there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dumps_at_hand import ROOT, audited, copied

from auditor.report.advice.advice_json import document
from auditor.report.advice.advice_text import text
from auditor.report.model import AuditReport
from auditor.report.summary import summary

SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/advice.schema.json").read_text(encoding="utf-8"))
DAMAGED = b"neither the header nor the checksum of a snapshot of producers"
TWICE = "broker-1/data/pay-0 and broker-1/data2/pay-0"


def one_replica_twice(dump: Path) -> None:
    """The second log dir holds another replica too, so that the two are no copies of each other."""
    second = dump / "broker-1" / "data2"
    shutil.copytree(dump / "broker-1" / "data" / "pay-0", second / "pay-0")
    shutil.copytree(dump / "broker-1" / "data" / "pay-0", second / "other-0")
    (second / "other-0" / "partition.metadata").unlink()


def one_log_dir_twice(dump: Path) -> None:
    shutil.copytree(dump / "broker-1" / "data", dump / "broker-1" / "data2")


def nobodys(dump: Path) -> None:
    """Broker 1's log dir where no file and no folder tells its number."""
    (dump / "broker-1" / "data" / "meta.properties").unlink()
    shutil.move(dump / "broker-1" / "data", dump / "disk")


def led_out(dump: Path) -> None:
    """A link in the place of the disk."""
    shutil.move(dump / "broker-1" / "data", dump.parent / "far")
    (dump / "broker-1" / "data").symlink_to(dump.parent / "far")


def report_on(tmp_path: Path, harm: Callable[[Path], None]) -> AuditReport:
    dump = copied("unclean_4x", tmp_path / "dump", logs=True)
    harm(dump)
    return audited(dump, topic=("pay",))


@pytest.mark.parametrize(
    ("harm", "said", "screened"),
    [
        (one_replica_twice, f"Its replica was not read: {TWICE} claim to be the same one.", f"Not read: {TWICE} claim"),
        (one_log_dir_twice, f"Its replica was not read: {TWICE} claim to be the same one.", "Not read: broker-1"),
        (
            nobodys,
            "Its copy is not in this dump, or is disk/pay-0: nothing tells whose that is, and it was not read.",
            "Not read: disk, for want of meta.properties with the broker's id, or --log-dir BROKER=disk",
        ),
        (
            led_out,
            "Its copy is not in this dump, or is in broker-1/data, which could not be read.",
            "Not read: broker-1/data, for want of a path inside the dump; found a link to ",
        ),
    ],
)
def test_what_was_not_read_is_not_called_absent(
    harm: Callable[[Path], None], said: str, screened: str, tmp_path: Path
) -> None:
    report = report_on(tmp_path, harm)
    told = " ".join(text(report.advice).split())
    assert f"UNKNOWN Restarting broker 1 cannot be judged. {said} What it holds" in told
    assert "Broker 1 is assigned, not in this dump, and" not in told
    lost = summary(report).lost
    assert lost is not None
    assert "No broker in this dump still has them." not in f"{told} {lost.copies}"
    assert any(each.words.startswith(screened) for each in summary(report).unseen)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(document(report.advice)))


def test_a_copy_that_is_left_out_of_the_dump_opens_the_gate(tmp_path: Path) -> None:
    report = report_on(tmp_path, one_log_dir_twice)
    (placed,) = report.advice
    assert (placed.advice.absent, report.coverage.files_unread) == ((), 0)
    (copy,) = placed.advice.unread
    assert (copy.broker, copy.because) == (1, "claimed twice")
    assert not placed.advice.settled
    assert "First, leave all but one of them out of the dump." in text(report.advice)
    shutil.rmtree(tmp_path / "dump" / "broker-1" / "data2")
    (whole,) = audited(tmp_path / "dump", topic=("pay",)).advice
    assert (whole.advice.unread, whole.advice.settled) == ((), True)


def test_a_disk_that_is_not_here_is_still_called_absent(tmp_path: Path) -> None:
    report = report_on(tmp_path, lambda dump: shutil.rmtree(dump / "broker-1" / "data"))
    (placed,) = report.advice
    assert (placed.advice.absent, placed.advice.unread) == ((1,), ())
    told = " ".join(text(report.advice).split())
    assert "Restarting broker 1 cannot be judged. Its copy is not in this dump. What it holds" in told
    assert "No broker in this dump still has them." in told


def test_a_damaged_snapshot_of_producers_is_no_silent_one(tmp_path: Path) -> None:
    dump = copied("clean_mixed", tmp_path / "dump", logs=True)
    harmed = sorted(dump.glob("broker-1/data/*/*.snapshot"))
    for snapshot in harmed:
        snapshot.write_bytes(DAMAGED)
    report = audited(dump)
    newest = {max(path for path in harmed if path.parent == folder) for folder in {path.parent for path in harmed}}
    assert {str(dump / refused.path) for refused in report.refusals} >= {str(path) for path in newest}
    assert report.verdict == "unknown"
