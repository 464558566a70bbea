"""The replay is no echo: every high watermark in the logs' bytes is made false, and what is recomputed stays."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from rules.evidence import METADATA_TOPIC, PartitionEvidence
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, evidence_of, histories

CASES = ("fast_failover_kip101", "lost_pages_hw", "unclean_4x", "unclean_rejoined")
FAST = ("fast_failover_kip101", "unclean_4x")
"""One text request log, one in JSON."""

TOLD = re.compile(rb"(?i)(high_?watermark\"?[=:] ?|high watermark )(\d+)")
"""In request logs of both layouts, and in the words of brokers' logs."""


def falsified(case: str, folder: Path) -> Path:
    """A copy in which all digits of every high watermark in a log are ones: no byte of another statement moves."""
    dump = folder / "dump"
    shutil.copytree(SAMPLES / case / "dump", dump)
    changed = 0
    for log in dump.glob("*/logs/*"):
        text, count = TOLD.subn(lambda told: told[1] + b"1" * len(told[2]), log.read_bytes())
        log.write_bytes(text)
        changed += count
    assert changed > 10
    return dump


def recomputed(evidence: PartitionEvidence) -> list[object]:
    """What each leader's answers must have held, and each replica at both ends of its role."""
    replay = evidence.replayed
    return [
        *((t.moment.clock, t.moment.time, t.moment.broker, t.expected) for t in replay.told_watermarks if t.by_leader),
        *((course.lead.leader, course.lead.epochs, course.start, course.end) for course in replay.courses),
    ]


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, CASES))
def test_falsified_high_watermarks_in_logs_change_nothing_that_is_recomputed(case: str, tmp_path: Path) -> None:
    lied_to = evidence_of(falsified(case, tmp_path))
    for partition, evidence in histories(case).items():
        if evidence.topic != METADATA_TOPIC:
            assert recomputed(lied_to[partition]) == recomputed(evidence)
    assert {"above", "below"} & {told.standing for found in lied_to.values() for told in found.replayed.told_watermarks}
