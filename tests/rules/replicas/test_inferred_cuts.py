"""Cuts that only the disk tells of: segments put aside that neither retention nor the cleaner explains."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.report.model import AuditReport
from rules.catalog import BY_ID
from rules.cut_tables import cut_tables
from rules.evidence import Leftover, PartitionEvidence
from rules.finding import Undecided
from rules.sketch.notation import read_sketch
from tests.lab.sample_histories import SAMPLES
from tests.replaced import replace

CASE = SAMPLES / "clean_4x" / "dump"
SEGMENT = "00000000000000000120.log"


def short_alone(folder: Path, *, put_aside: str, cut_to: int | None = None) -> AuditReport:
    """The disks of a topic of five segments, one of broker 1's put aside for deletion, and no log to tell of it.

    A cut removes the snapshots behind it, and takes the recovery point back at once or at the next stop.
    """
    for broker in ("broker-1", "broker-2", "broker-3"):
        data = CASE / broker / "data"
        shutil.copytree(data / "short-0", folder / broker / "data" / "short-0")
        for file in data.iterdir():
            if file.is_file():
                shutil.copy2(file, folder / broker / "data" / file.name)
    own = folder / "broker-1" / "data" / "short-0"
    (own / put_aside).rename(own / f"{put_aside}.deleted")
    if cut_to is not None:
        (own / "00000000000000000150.snapshot").unlink()
        points = own.parent / "recovery-point-offset-checkpoint"
        points.write_text(points.read_text().replace("short 0 150", f"short 0 {cut_to}"))
    return audit(folder, AuditConfig(engine="local", topic=("short",)))


def test_a_segment_put_aside_beyond_the_log_end_is_a_cut(tmp_path: Path) -> None:
    report = short_alone(tmp_path, put_aside=SEGMENT, cut_to=120)
    (found,) = (finding for finding in report.violations if finding.rule == "TRUNC001")
    assert (found.brokers, found.start_offset, found.end_offset, found.confidence) == ((1,), 120, 150, "likely")
    assert found.exhibits[0].span.source.endswith(f"{SEGMENT}.deleted")
    assert "TRUNC001" in next(f for f in report.violations if f.rule == "HW001").implied_by
    (placed,) = report.counterfactuals
    assert (placed.table.follower, placed.table.start_offset, placed.table.end_offset) == (1, 120, 150)
    assert {row.rule: row.cut_to for row in placed.table.outcomes} == dict.fromkeys(
        ("hw-truncation", "kip-101", "kip-279", "truncate-on-fetch"), 150
    ), "no generation would have cut what the leader holds"


@pytest.mark.parametrize("put_aside", ["00000000000000000000.log"])
def test_what_retention_puts_aside_is_none(put_aside: str, tmp_path: Path) -> None:
    report = short_alone(tmp_path, put_aside=put_aside)
    assert not [finding for finding in report.violations if finding.rule == "TRUNC001"]
    assert report.counterfactuals == ()


def put_aside(drawing: str, held: str) -> PartitionEvidence:
    """The drawing, with a segment put aside by its first broker that holds what another drawing shows."""
    drawn, aside = read_sketch(drawing).evidence, read_sketch(held).evidence.current[0]
    base = aside.segments[0].base_offset
    left = Leftover(base_offset=base, source=f"{base:020d}.log.deleted", size=210, epochs=aside.log.epochs)
    first, *others = drawn.replicas
    return replace(drawn, replicas=(replace(first, leftovers=(left,)), *others))


def test_where_the_log_has_grown_again_nothing_tells_what_was_committed() -> None:
    evidence = put_aside("broker 1 0011|\nbroker 2 0011|", "broker 1 @2:000|")
    (said,) = BY_ID["TRUNC001"].check(evidence)
    assert isinstance(said, Undecided)
    assert (said.start_offset, said.end_offset, said.blocking) == (2, 5, False)
    (table,) = cut_tables(evidence)
    assert {row.rule: row.cut_to for row in table.outcomes} == {"kip-101": 2, "kip-279": 2, "truncate-on-fetch": 2}


@pytest.mark.parametrize(
    ("drawing", "held"),
    [
        ("broker 1 0000|\nbroker 2 0000|", "broker 1 @2:00|"),  # a twin, as a split or a merge leaves it
        ("broker 1 0.11| ; cleaner 4\nbroker 2 0011|", "broker 1 @2:000|"),  # the cleaner's
    ],
)
def test_a_segment_that_the_log_still_holds_is_no_cut(drawing: str, held: str) -> None:
    evidence = put_aside(drawing, held)
    assert [*BY_ID["TRUNC001"].check(evidence), *cut_tables(evidence)] == []


@pytest.mark.parametrize(("snapshots", "said"), [("2 6", [(4, 6)]), ("2 4", [])])
def test_a_producer_snapshot_tells_that_the_log_was_longer(snapshots: str, said: list[tuple[int, int]]) -> None:
    evidence = read_sketch(f"broker 1 0000| ; snapshots {snapshots}\nbroker 2 0000|").evidence
    answers = [answer for answer in BY_ID["TRUNC001"].check(evidence) if isinstance(answer, Undecided)]
    assert [(answer.start_offset, answer.end_offset) for answer in answers] == said
