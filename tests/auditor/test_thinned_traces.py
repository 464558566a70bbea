"""Recordings whose request logs are thinned as if they were busy: the same is found."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.engines.witnesses import thinned_traces as traces
from auditor.report.model import AuditReport
from rules.finding import Finding
from rules.history import trace_ends
from rules.narrow.landmarks import landmarks
from tests.lab.effort import fast_if
from tests.lab.sample_reports import report_on

SAMPLES = Path(__file__).parents[2] / "sample_logs"
CASES = ["unclean_4x", "unclean_rejoined", "acks_one_lost", "lost_pages_hw", "fast_failover_kip279", "clean_mixed"]


def found(report: AuditReport) -> set[tuple[object, ...]]:
    """What was found, where from at the earliest, and how severe it is.

    An answer that is left out is told as possible; the last batch's own end may not be told any more.
    """
    return {(f.rule, f.severity, f.topic, f.partition, f.brokers, earliest(f)) for f in report.findings}


def earliest(finding: Finding) -> object:
    """Where what was found begins, with what it says is possible."""
    return finding.values().get("perhaps_from", finding.start_offset)


def furthest(report: AuditReport) -> dict[tuple[object, ...], int]:
    """Where what was found ends."""
    ends: dict[tuple[object, ...], int] = {}
    for f in report.findings:
        key = (f.rule, f.topic, f.partition, f.brokers)
        ends[key] = max(ends.get(key, -1), f.end_offset or 0)
    return ends


def possible(report: AuditReport) -> dict[tuple[object, ...], tuple[int, int]]:
    """From where on, at most, records were acknowledged and lost, and how far, by each such finding."""
    told = [f for f in report.violations if f.rule == "ACK001" and "perhaps_from" in f.values()]
    return {
        (f.topic, f.partition, f.values()["epoch"]): (int(str(f.values()["perhaps_from"])), f.end_offset or 0)
        for f in told
    }


@pytest.mark.parametrize("case", fast_if(lambda case: case == "acks_one_lost", CASES))
def test_thinned_recordings_show_the_same(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_on(SAMPLES / case)
    left_out: list[int] = []

    def thinly(fetches: pl.DataFrame, produces: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        kept, sent = landmarks(fetches, produces)
        left_out.append(kept["left_out"].sum() + sent["left_out"].sum())
        return kept, sent

    monkeypatch.setattr(traces, "WHOLE", 0)
    monkeypatch.setattr(trace_ends, "WHOLE", 0)
    monkeypatch.setattr(traces, "landmarks", thinly)
    thinned = audit(SAMPLES / case / "dump", AuditConfig(engine="local"))
    assert sum(left_out) > 10
    assert found(thinned) == found(whole)
    ends, fewer = furthest(whole), furthest(thinned)
    assert all(end <= ends[key] for key, end in fewer.items())
    widest = possible(thinned)
    assert widest.keys() == possible(whole).keys()
    assert all(widest[where][0] <= start for where, (start, _) in possible(whole).items())
