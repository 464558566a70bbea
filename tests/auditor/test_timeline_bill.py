"""The timeline of a partition names what was lost in it, in the words of its audit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.report.bill import sentence
from auditor.timeline.run_timeline import Excerpt, timeline
from tests.auditor.dumps_at_hand import SAMPLES, audited
from tests.lab.effort import fast_if

CASES = [("unclean_4x", "pay"), ("acks_one_lost", "fire"), ("lost_pages_hw", "t"), ("clean_mixed", "orders")]


def bill(text: str) -> list[str]:
    return [line.removeprefix("LOST: ") for line in text.splitlines() if line.startswith("LOST: ")]


@pytest.mark.parametrize("case", fast_if(lambda case: case[0] == "unclean_4x", CASES))
def test_a_timeline_tells_the_bill_of_the_audit(case: tuple[str, str]) -> None:
    name, topic = case
    dump = SAMPLES / name / "dump"
    report = audited(dump, topic=(topic,), partition=(0,))
    losses = [loss for history in report.histories for loss in history.losses if loss.matters]
    assert bill(timeline(dump, Excerpt(topic=topic, partition=0))) == [sentence(loss, f"{topic}-0") for loss in losses]
    assert bool(losses) == (name != "clean_mixed")


def test_records_that_no_copy_holds_readable_are_read_as_an_audit_reads_them(tmp_path: Path) -> None:
    dump = Path(shutil.copytree(SAMPLES / "unclean_4x/dump", tmp_path / "dump"))
    for log in dump.glob("broker-*/data/pay-0/*.log"):
        content = bytearray(log.read_bytes())
        content[100] ^= 1
        log.write_bytes(bytes(content))
    text = timeline(dump, Excerpt(topic="pay", partition=0))
    report = audited(dump, topic=("pay",), partition=(0,))
    losses = [loss for history in report.histories for loss in history.losses if loss.matters]
    assert bill(text) == [sentence(loss, "pay-0") for loss in losses]
    assert len(losses) > 1
