"""A simulated end written to disk is audited like any dump: what diverged is found at its offsets, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.audit import audit
from auditor.config import AuditConfig, ConfigError
from auditor.simulate import read_script, simulate
from auditor.simulation_dump import write_dump
from rules.finding import Severity
from rules.simulator.outcome import LINEUP, Outcome, compare, outcome
from rules.simulator.timeline import run
from tests.rules.textbook_goldens import TEXTBOOK, scripts

Bad = list[tuple[str, int | None, int | None]]
DAMAGE: dict[tuple[str, str], Bad] = {
    ("divergence", "HW truncation"): [("LOG001", 1, 2)],
    ("divergence-lost-pages", "HW truncation"): [("LOG001", 1, 2)],
    ("divergence-unclean", "HW truncation"): [("LOG001", 1, 2)],
    ("loss-return-written", "HW truncation"): [("LOG001", 1, 2)],
    ("loss-return", "HW truncation"): [("HW001", 1, 2)],
    ("kip279-20", "KIP-101"): [("LOG001", 11, 21)],
    ("kip279-25", "KIP-101"): [("TRUNC005", 11, 21), ("SEG005", 11, 21)],
}
"""What an audit of the end state finds above info, by script and generation; of all others nothing."""
CASES = [(script.stem, column.name) for script in scripts() for column in LINEUP]
QUICK = [
    *DAMAGE,
    ("divergence", "KIP-101"),
    ("kip279-20", "KIP-279"),
    ("kip279-25", "truncate-on-fetch"),
    ("sets", "KIP-101"),
]


def ended(name: str, generation: str) -> Outcome:
    column = next(column for column in LINEUP if column.name == generation)
    return compare(read_script(TEXTBOOK / f"{name}.yaml"), (column,))[0]


def damage(end: Outcome, folder: Path) -> Bad:
    write_dump(end.run.end, folder)
    report = audit(folder, AuditConfig(engine="local"))
    return [(f.rule, f.start_offset, f.end_offset) for f in report.violations if f.severity > Severity.INFO]


@pytest.mark.parametrize(("name", "generation"), QUICK)
def test_audit_finds_what_the_run_left(name: str, generation: str, tmp_path: Path) -> None:
    assert damage(ended(name, generation), tmp_path / "dump") == DAMAGE.get((name, generation), [])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "generation"), CASES)
def test_audit_agrees_on_every_script_and_generation(name: str, generation: str, tmp_path: Path) -> None:
    assert damage(ended(name, generation), tmp_path / "dump") == DAMAGE.get((name, generation), [])


def test_the_counterfactual_of_the_dump_is_what_the_simulator_ran(tmp_path: Path) -> None:
    """From the disks of KIP-101 the audit tells what its successors would have cut; the simulator cuts just that."""
    write_dump(ended("kip279-20", "KIP-101").run.end, tmp_path)
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


def test_a_dump_is_never_written_over_something(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    end = outcome(run(read_script(TEXTBOOK / "visible.yaml")))
    with pytest.raises(ConfigError, match="empty"):
        write_dump(end.run.end, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_one_dump_holds_one_version(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one version"):
        simulate(TEXTBOOK / "visible.yaml", side_by_side=True, dump=tmp_path / "dump")
