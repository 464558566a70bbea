"""A simulated run written to disk is audited like any dump: what the script did is found where it did it, no more."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.report.model import AuditReport
from auditor.simulation.journal_rows import FIRST_TIMESTAMP
from auditor.simulation.run_simulate import simulate
from auditor.simulation.script_file import read_script, script_of
from auditor.simulation.written_dump import write_dump
from auditor.timeline import evidence_of
from rules.finding import Severity
from rules.settings import MIN_IN_SYNC, UNCLEAN
from rules.simulator.notes import TookFetch, TookProduce
from rules.simulator.run_outcome import LINEUP, Outcome, compare, outcome
from rules.simulator.run_rows import run
from rules.timeline.rows import timeline_of
from tests.lab.sample_histories import evidence_of as every_partition
from tests.rules.textbook_goldens import TEXTBOOK, scripts

pytestmark = pytest.mark.slow

Bad = list[tuple[str, int | None, int | None]]
REUSED: Final = ("CONS003", 1, 2)
LOST: Bad = [("LEAD001", 1, 2), ("ACK001", 1, 2), ("TRUNC001", 1, 2), REUSED]
LOST_TO_UNCLEAN: Bad = [*LOST, ("ACK002", 1, 2)]
DAMAGE: dict[tuple[str, str], Bad] = {
    ("two-rounds-3", "KIP-101"): [],
    ("election-triggers", "truncate-on-fetch"): [],
    ("sets", "KIP-101"): [],
    ("divergence", "HW truncation"): [("LOG001", 1, 2)],
    ("divergence", "KIP-101"): LOST,
    ("divergence", "truncate-on-fetch"): LOST,
    ("divergence-unclean", "KIP-320"): LOST_TO_UNCLEAN,
    ("divergence-unclean", "truncate-on-fetch"): [("LEAD002", None, None), *LOST_TO_UNCLEAN],
    ("kip279-15", "KIP-101"): [("ACK001", 11, 16), ("BUG001", None, 21), ("TRUNC002", 11, 16)],
    ("kip279-20", "KIP-101"): [("ACK001", 11, 21), ("BUG001", None, 21), ("TRUNC002", 11, 21), ("LOG001", 11, 21)],
    ("kip279-25", "KIP-101"): [
        ("ACK001", 11, 12), ("BUG001", None, 21), ("TRUNC002", 11, 21), ("TRUNC005", 11, 21), ("SEG005", 11, 21),
    ],
    ("kip279-20", "truncate-on-fetch"): [("ACK001", 11, 21)],
    ("loss", "KIP-279"): [],
}  # fmt: skip
"""What an audit of a run finds of medium severity or above, by script and generation."""
CASES = [(script.stem, column.name) for script in scripts() for column in LINEUP]
FOUND = [s for s in sorted(TEXTBOOK.glob("found/*.yaml")) if not s.stem.endswith("-0.10.2.2")]
"""Shortest runs to each broken law; brokers before 1.0 print nothing that proves a loss."""
BY_HAND = ("counted-set-proposed", "counted-set-time")
"""Scripts that shrink the ISR without waiting for the lag that would justify it: ISR002 says so."""


def ended(name: str, generation: str) -> Outcome:
    column = next(column for column in LINEUP if column.name == generation)
    return compare(read_script(TEXTBOOK / f"{name}.yaml"), (column,))[0]


def damage(end: Outcome, folder: Path) -> Bad:
    write_dump(end.run, folder)
    return bad_of(audit(folder, AuditConfig(engine="local")))


def bad_of(report: AuditReport) -> Bad:
    assert report.refusals == ()
    return [(f.rule, f.start_offset, f.end_offset) for f in report.violations if f.severity >= Severity.MEDIUM]


@pytest.mark.parametrize(("name", "generation"), DAMAGE)
def test_audit_finds_what_the_run_did(name: str, generation: str, tmp_path: Path) -> None:
    found = damage(ended(name, generation), tmp_path / "dump")
    assert sorted(found, key=str) == sorted(DAMAGE[name, generation], key=str)


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        (
            "loss", "1.1.1",
            [("LEAD001", 1, 2), ("BUG001", 1, 2), ("TRUNC003", 1, 2), ("ACK001", 1, 2), ("LOG001", 1, 2), REUSED],
        ),
        ("divergence", "1.1.1", [("LEAD001", 1, 2), ("TRUNC003", 1, 2), ("ACK001", 1, 2), ("LOG001", 1, 2), REUSED]),
        (
            "loss-return-written", "2.6.3",
            [
                ("LEAD001", 1, 2), ("BUG001", 1, 2), ("TRUNC003", 1, 2), ("TRUNC003", 1, 2), ("ACK001", 1, 2),
                ("LOG001", 1, 2), REUSED,
            ],
        ),
    ],
)
def test_an_old_protocol_on_a_newer_binary_is_told_by_its_logs(
    name: str, version: str, expected: Bad, tmp_path: Path
) -> None:
    """Brokers that speak 0.10.2 cut by their high watermark, and print what proves the loss."""
    end = outcome(run(read_script(TEXTBOOK / f"{name}.yaml"), version, "0.10.2"))
    assert sorted(damage(end, tmp_path / "dump"), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("delete-records", []),
        ("retention", []),
        ("eligible", [("ACK001", 1, 2)]),
        (
            "eligible-lost-pages",
            [("LEAD001", 1, 2), ("LEAD002", None, None), ("LEO001", 1, 2), ("ACK001", 1, 2), ("ACK002", 1, 2), REUSED],
        ),
    ],
)
def test_log_starts_and_eligible_leaders_are_told_from_losses(name: str, expected: Bad, tmp_path: Path) -> None:
    """What was deleted is no loss; an eligible leader is a clean one, the last leader known an unclean one."""
    found = damage(outcome(run(read_script(TEXTBOOK / f"{name}.yaml"))), tmp_path / "dump")
    assert sorted(found, key=str) == sorted(expected, key=str)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "generation"), CASES)
def test_audit_agrees_on_every_script_and_generation(name: str, generation: str, tmp_path: Path) -> None:
    """What nothing happened to is clean; what was acknowledged and lost, or differs, is found where it lies."""
    end = ended(name, generation)
    write_dump(end.run, tmp_path / "dump")
    report = audit(tmp_path / "dump", AuditConfig(engine="local"))
    found = bad_of(report)
    harmed = bool(end.lost or end.partings or end.unread) or end.leader is None  # nobody leads who could show a loss
    if not harmed:
        assert [bad for bad in found if not (name in BY_HAND and bad[0] == "ISR002")] == []
    if end.lost and generation != "HW truncation":  # brokers before 1.0 print nothing that proves it
        starts = {start for rule, start, _ in found if rule == "ACK001"}
        lost = {sent.required_offset - sent.count for sent in end.lost if sent.acks != "0"}
        assert lost <= starts
        assert unbilled(end, report) == {}


@pytest.mark.parametrize("script", FOUND, ids=lambda script: script.stem)
def test_the_bill_of_every_found_run_names_what_it_lost(script: Path, tmp_path: Path) -> None:
    end = outcome(run(read_script(script)))
    write_dump(end.run, tmp_path / "dump")
    assert unbilled(end, audit(tmp_path / "dump", AuditConfig(engine="local"))) == {}


def unbilled(end: Outcome, report: AuditReport) -> dict[str, set[int]]:
    """Offsets that were acknowledged and lost, and that no loss names which the log that leads has not made good.

    An answer names the first record of a batch: where no log holds the batch any more, nothing tells the others.
    """
    losses = [loss for history in report.histories for loss in history.losses if not loss.restored]
    billed = {offset for loss in losses for offset in range(loss.start_offset, loss.end_offset)}
    standing = {batch.name for broker in end.run.end.brokers for batch in broker.log.batches}
    missing = {}
    for sent in end.lost:
        first = sent.required_offset - sent.count
        last = sent.required_offset if sent.name in standing else first + 1
        missing[sent.name] = set(range(first, last)) - billed
    return {name: offsets for name, offsets in missing.items() if offsets}


def test_a_bill_of_which_no_log_holds_the_batch_says_that_it_may_have_held_more(tmp_path: Path) -> None:
    write_dump(ended("kip279-25", "KIP-101").run, tmp_path)
    (history,) = audit(tmp_path, AuditConfig(engine="local")).histories
    restored, gone = history.losses
    assert (restored.epoch, restored.start_offset, restored.end_offset, restored.restored) == (1, 11, 21, True)
    assert (gone.epoch, gone.start_offset, gone.end_offset, gone.restored) == (2, 11, 12, False)
    assert gone.because == "the last batch answered to a producer begins at 11, and nothing tells of more in it"


def test_the_counterfactual_of_the_dump_is_what_the_simulator_ran(tmp_path: Path) -> None:
    """From the disks of KIP-101 the audit tells what its successors would have cut; the simulator cuts just that."""
    write_dump(ended("kip279-20", "KIP-101").run, tmp_path)
    told_by_disks = audit(tmp_path, AuditConfig(engine="local")).counterfactuals
    table = next(placed.table for placed in told_by_disks if placed.table.follower == 2)
    told = {answer.rule: answer.cut_to for answer in table.outcomes}
    for generation, rule in (
        ("KIP-279", "kip-279"),
        ("KIP-320", "kip-279"),
        ("truncate-on-fetch", "truncate-on-fetch"),
    ):
        (cut,) = (cut for cut in ended("kip279-20", generation).cuts if cut.removed)
        assert told[rule] == cut.to_offset == 11


HEALTHY = {
    "brokers": [1, 2, 3],
    "topic": {"min.insync.replicas": 2},
    "events": [
        line
        for number in range(1, 6)
        for line in (f"produce 1 m{number}", "fetch 2", "fetch 3", "wait 1s", "fetch 2", "fetch 3")
    ],
}


@pytest.mark.parametrize("version", ["1.1.1", "2.3.1", "2.6.3", "2.8.2", "3.2.0", "3.9.1", "4.3.0"])
def test_the_timeline_of_the_dump_is_that_of_the_run(version: str, tmp_path: Path) -> None:
    """Where everything is told each leader's row holds the run's log end and high watermark, most of them exactly."""
    finished = run(script_of(HEALTHY, "healthy"), version)
    write_dump(finished, tmp_path / "dump")
    assert damage(outcome(finished), tmp_path / "again") == []
    silent = (TookFetch, TookProduce)
    told = (state for state in finished.states for said in state.notes if not isinstance(said, silent))
    after = {
        FIRST_TIMESTAMP + state.time_ms - finished.states[0].time_ms + number: state
        for number, state in enumerate(told, start=1)
    }
    drawn = timeline_of(evidence_of(tmp_path / "dump", "simulated", 0))
    rows = [row for row in drawn.rows if row.moment.kind == "fetched" and row.moment.clock == "broker 1"]
    exact = 0
    for row in rows:
        leader = after[row.moment.time or 0].brokers[0]
        cell = next(cell for cell in row.cells if cell.broker == 1)
        low, high = cell.high_watermark.interval.low, cell.high_watermark.interval.high
        assert low is not None
        assert low <= leader.high_watermark <= (leader.high_watermark if high is None else high)
        assert not cell.outside
        exact += low == high
        asker = next(cell for cell in row.cells if cell.broker == row.moment.broker)
        assert asker.log_end.interval.low == asker.log_end.interval.high == row.moment.offset
    assert len(rows) >= 10
    assert exact >= len(rows) // 3


CHANGED = """
brokers: [1, 2]
topic: {min.insync.replicas: 2}
events:
- configure min.insync.replicas=1
- crash 2
- configure unclean.leader.election.enable=true
- restart 2
"""


@pytest.mark.parametrize("version", ["0.11.0.3", "1.1.1", "2.6.3", "3.4.0", "4.3.0"])
def test_settings_that_change_are_read_back_as_each_broker_took_them_over(version: str, tmp_path: Path) -> None:
    """Who was away takes over, when it starts, what was changed meanwhile."""
    script = tmp_path / "changed.yaml"
    script.write_text(f'{CHANGED}version: "{version}"\n', encoding="utf-8")
    write_dump(run(read_script(script)), tmp_path / "dump")
    told = every_partition(tmp_path / "dump")["simulated", 0].settings.statements
    taken = [(s.clock, s.name, s.value) for s in told if s.origin == "applied" and s.value is not None]
    assert taken.count(("broker 1", MIN_IN_SYNC, "1")) == taken.count(("broker 2", MIN_IN_SYNC, "1")) == 1
    assert [taken.count((f"broker {b}", UNCLEAN, "true")) for b in (1, 2)] == [1, 1]
    printed = {s.value for s in told if s.origin == "log" and s.name == MIN_IN_SYNC}
    assert printed == {"2"}
    recorded = [s.value for s in told if s.origin == "metadata" and s.name == MIN_IN_SYNC]
    assert recorded == (["2", "1"] if version in ("3.4.0", "4.3.0") else [])


LEFT_BEHIND: Final = """
title: left behind
brokers: [1, 2]
topic: {min.insync.replicas: 1}
events:
  - produce 1 a
  - fetch 2
  - crash 2
  - fence 2
  - produce 1 b
  - expire 1 below 2
  - restart 2
  - fetch 2
  - fetch 2
"""


@pytest.mark.parametrize("version", ["1.1.1", "3.2.0", "3.9.1"])
def test_a_follower_that_began_again_at_its_leaders_log_start_is_here_whole(version: str, tmp_path: Path) -> None:
    """Its broker loaded the log at 0, and told later that it dropped all of it for the leader's log start."""
    script = tmp_path / "left_behind.yaml"
    script.write_text(f'{LEFT_BEHIND}version: "{version}"\n', encoding="utf-8")
    write_dump(run(read_script(script)), tmp_path / "dump")
    evidence = every_partition(tmp_path / "dump")["simulated", 0]
    resets = [(m.broker, m.offset) for m in evidence.moments if m.kind == "log-reset"]
    assert resets == [(2, 2)]
    assert [replica.unopened for replica in evidence.replicas] == [(), ()]


def test_a_dump_is_never_written_over_something(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    end = outcome(run(read_script(TEXTBOOK / "visible.yaml")))
    with pytest.raises(ConfigError, match="empty"):
        write_dump(end.run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_one_dump_holds_one_version(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one version"):
        simulate(TEXTBOOK / "visible.yaml", side_by_side=True, dump=tmp_path / "dump")
