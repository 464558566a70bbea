"""Advice on logs that end below where they had been, on holes that no copy here fills, on records without epochs."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.report.model import AuditReport
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.simulator.run_rows import run
from tests.auditor.dumps_at_hand import audited, copied
from tests.auditor.test_segments_not_copied import TOPIC, without
from tests.rules.broken_dumps import Yard, wrote
from tests.rules.textbook_goldens import TEXTBOOK

LOG = wrote(0, 0, 60) + wrote(1, 60, 100)
LED = (
    "[2026-11-21 05:20:00,000] INFO [Broker id={0}] Leader t-0 with topic id Some(AAAAAAAAAAAAAAAAAAAAAQ) starts at "
    "leader epoch 1 from offset 60 with partition epoch 3, high watermark 60, ISR [1,2,3], adding replicas [] and "
    "removing replicas [] . Previous leader None and previous leader epoch was 0. (state.change.logger)\n"
)


def gates(report: AuditReport) -> dict[str, tuple[str, str]]:
    (placed,) = [one for one in report.advice if one.topic != "__cluster_metadata"]
    return {gate.action: (gate.going, f"{gate.because} First {gate.first}.") for gate in placed.advice.gates}


def test_a_hole_that_no_copy_here_fills_bars_no_election_as_damage(tmp_path: Path) -> None:
    dump = copied("clean_1_1", tmp_path / "dump")
    told = gates(audited(without(dump, (400,), (1, 2, 3), (".log", ".index", ".timeindex", ".snapshot")), topic=TOPIC))
    assert {told[f"elect broker {broker}"][0] for broker in (1, 2, 3)} == {"unknown"}
    assert "No copy here holds offsets 400–599" in told["elect broker 1"][1]


def test_a_hole_that_others_do_not_have_is_damage(tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.healthy(LOG, 1, 2)
    yard.broker(3, [one for one in LOG if one.base != 30])
    assert gates(yard.report())["elect broker 3"][0] == "no-go"


@pytest.mark.parametrize(
    ("leads", "going", "because"),
    [
        (None, "unknown", "That broker's log lacks offsets 80–99, which it had, and nothing tells who leads"),
        (
            1,
            "go",
            "cuts nothing from its log, as the disks are. Its log lacks offsets 80–99, which it had. It fetches",
        ),
        (
            3,
            "no-go",
            "lets it lead without what it had written. Its log lacks offsets 80–99, which it had. First elect",
        ),
    ],
)
def test_a_start_with_a_log_that_lost_its_end_depends_on_who_leads(
    leads: int | None, going: str, because: str, tmp_path: Path
) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, LOG, clean=leads != 1)
    yard.healthy(LOG, 2)
    yard.broker(3, LOG[:-2], hw=100, recovery=100)
    if leads is not None:
        logs = tmp_path / yard.cluster / f"broker-{leads}/logs"
        logs.mkdir()
        (logs / "state-change.log").write_text(LED.format(leads), encoding="utf-8")
    told = gates(yard.report())
    assert told["restart broker 3"][0] == going
    assert told["restart broker 3"][1].startswith(because) or because in told["restart broker 3"][1]
    assert told["restart broker 1"] == ("go", "cuts nothing from its log, as the disks are. First .")


@pytest.mark.parametrize(
    ("recovery", "because"),
    [(100, "Its log ends at 80 here, below its recovery point 100."), (80, "If nobody else leads then,")],
)
def test_a_log_that_ends_too_early_leaves_its_restart_open(recovery: int, because: str, tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, LOG, clean=False)
    yard.broker(2, [one for one in LOG if one.base != 30], clean=False)
    yard.broker(3, LOG[:-2], hw=80, recovery=recovery, clean=False)
    going, why = gates(yard.report())["restart broker 3"]
    assert going == "unknown"
    assert because in why


def test_the_last_copy_of_lost_records_that_carry_no_epochs_is_kept(tmp_path: Path) -> None:
    """Broker 1 holds m2 and will cut it; its records carry no epoch, so that the bill alone tells what they are."""
    script = tmp_path / "loss.yaml"
    events = (TEXTBOOK / "loss.yaml").read_text(encoding="utf-8")
    script.write_text(events.replace("0.10.2.2", "1.1.1"), encoding="utf-8")
    write_dump(run(read_script(script)), tmp_path / "dump")
    told = gates(audited(tmp_path / "dump"))
    assert "destroys the last copy of offset 1." in told["restart broker 1"][1]
    assert {told[f"{action} broker 1"][0] for action in ("restart", "elect")} == {"no-go"}
    assert (told["restart broker 2"][0], told["elect broker 2"][0]) == ("unknown", "no-go")
