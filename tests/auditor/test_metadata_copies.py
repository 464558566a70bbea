"""The metadata log of which some copies are damaged, all are, or none was brought."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from tests.conftest import SAMPLE_LOGS
from tests.lab.sample_reports import report_on

CASE = SAMPLE_LOGS / "compaction_race"
LOG = "__cluster_metadata-0/00000000000000000000.log"
ISR_CHANGE = 1861
"""A byte of the batch by which a broker left the ISR."""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASE / "dump", tmp_path / "dump"))


def told(report: AuditReport) -> list[tuple[str, int, str]]:
    return [(f.rule, f.severity, f.message) for f in report.findings if f.topic == "kv" and f.verdict == "violated"]


def damage(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(bytes(content))


def test_a_copy_of_which_nothing_is_left_does_not_matter(dump: Path) -> None:
    damage(dump / "controller-100/data" / LOG, ISR_CHANGE)
    (dump / "broker-1/data" / LOG).write_bytes(b"")
    (dump / "broker-2/data" / LOG).write_bytes(bytes(5_000))
    assert told(audit(dump, AuditConfig(engine="local"))) == told(report_on(CASE))


def test_one_copy_makes_up_for_what_another_lacks(dump: Path) -> None:
    damage(dump / "controller-100/data" / LOG, ISR_CHANGE)
    for broker in (1, 2, 3):
        damage(dump / f"broker-{broker}/data" / LOG, ISR_CHANGE - 900)
    assert told(audit(dump, AuditConfig(engine="local"))) == told(report_on(CASE))


@pytest.mark.parametrize("brought", [True, False])
def test_without_the_changes_of_the_isr_no_high_watermark_is_too_high(dump: Path, brought: bool) -> None:
    for path in list(dump.rglob(LOG)):
        if brought:
            damage(path, ISR_CHANGE)
        else:
            path.unlink()
    report = audit(dump, AuditConfig(engine="local"))
    assert set(told(report)) <= set(told(report_on(CASE)))
    assert any(r.kind == "damage" and "offset 19" in r.expected for r in report.refusals) is brought
