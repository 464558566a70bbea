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
        (None, "unknown", "Its log lacks offsets 80–99, which it had. It is not known who leads"),
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
    assert told["restart broker 1"][0] == ("no-go" if leads == 3 else "go")


@pytest.mark.parametrize(
    ("recovery", "because"),
    [(100, "Its log end offset is 80 here, below its recovery point 100."), (80, "If no other broker leads then,")],
)
def test_a_log_that_ends_too_early_leaves_its_restart_open(recovery: int, because: str, tmp_path: Path) -> None:
    yard = Yard(tmp_path)
    yard.broker(1, LOG, clean=False)
    yard.broker(2, [one for one in LOG if one.base != 30], clean=False)
    yard.broker(3, LOG[:-2], hw=80, recovery=recovery, clean=False)
    going, why = gates(yard.report())["restart broker 3"]
    assert going == "unknown"
    assert because in why


SCRIPT = """
title: A course of events
about: As the events say.
brokers: [{brokers}]
version: "{version}"
{protocol}
topic: {{unclean.leader.election.enable: true}}
events: [{events}]
"""
OLD = 'inter-broker-protocol: "0.10.2"'
COMMITTED_ALONE = (
    "produce 1 a(3), fetch 2, fetch 2, produce 1 b1, produce 1 b2, wait 31s, check, crash 1, elect 2 unclean"
)
HELD_AGAIN = (
    "produce 1 r1, produce 1 r2, produce 1 r3, fetch 2, fetch 3, fetch 2, fetch 3, crash 2, lose 2 to 1, restart 2,"
    " crash 1, elect 2 unclean, produce 2 r4(5), fetch 3, fetch 3, shrink 3, produce 2 r5(2) acks=1, checkpoint 2,"
    " crash 2, elect 3 unclean, produce 3 r7(3) acks=1, restart 1, restart 2, fetch 1, fetch 2, fetch 1, fetch 2"
)


def simulated(
    to: Path, events: str, *, version: str = "1.1.1", protocol: str = OLD, brokers: str = "1, 2"
) -> AuditReport:
    script = to / "script.yaml"
    script.write_text(
        SCRIPT.format(brokers=brokers, version=version, protocol=protocol, events=events), encoding="utf-8"
    )
    write_dump(run(read_script(script)), to / "dump")
    return audited(to / "dump")


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


@pytest.mark.parametrize(("version", "protocol"), [("3.9.1", ""), ("1.1.1", OLD)])
def test_a_leader_that_has_written_nothing_yet_cuts_who_has_more(version: str, protocol: str, tmp_path: Path) -> None:
    """Broker 2 leads epoch 1 with a shorter log; no record of that epoch shows it, with epochs or without."""
    report = simulated(tmp_path, COMMITTED_ALONE, version=version, protocol=protocol)
    told = gates(report)
    assert told["restart broker 1"][1].startswith("destroys the last copy of offsets 3–4")
    assert {told[action][0] for action in ("restart broker 1", "elect broker 2")} == {"no-go"}
    (loss,) = (loss for placed in report.histories for loss in placed.losses if loss.matters)
    assert [(copy.broker, copy.start_offset, copy.end_offset) for copy in loss.survivors] == [(1, 3, 5)]


def test_without_epochs_what_the_leader_holds_may_be_what_was_lost(tmp_path: Path) -> None:
    """Broker 2 led without r1 to r3, which broker 3 and broker 1 hold when broker 3 leads after it."""
    report = simulated(tmp_path, HELD_AGAIN, brokers="1, 2, 3")
    first = next(loss for placed in report.histories for loss in placed.losses if loss.epoch == 0)
    assert (first.start_offset, first.end_offset, first.unread, first.for_good) == (0, 3, (3,), False)
    assert {copy.broker for copy in first.survivors} == {1, 3}
