"""Which samples and scripts show each rule, found by audits: `python -m tests.twins` writes the table anew.

A recorded sample is a real cluster's remains. A script is run by `simulate`, and what its brokers left is audited. Of a
mutant exact bytes of a recorded sample were changed (`tests/mutants`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from auditor.audit import audit
from auditor.config import AuditConfig
from auditor.simulation.script_file import read_script
from auditor.simulation.written_dump import write_dump
from rules.catalog import RULES
from rules.simulator.run_rows import run
from tests.lab.sample_reports import report_on
from tests.mutants.registry import MUTANTS, NOT_RECORDED

ROOT: Final = Path(__file__).resolve().parents[1]
SAMPLES: Final = ROOT / "sample_logs"
TABLE: Final = ROOT / "auditor" / "shown_by.json"
HEALTHY: Final = ("clean_1_1", "clean_2_8", "clean_4x", "clean_mixed")
NOTED: Final[Mapping[str, frozenset[str]]] = {
    "clean_1_1": frozenset({"EPOCH007"}), "clean_2_8": frozenset({"BUG001", "EPOCH007"}),
}  # fmt: skip
"""What is noted of a healthy cluster: an epoch without a record, a known defect of its release."""
Shown = dict[str, dict[str, list[str]]]
"""By rule: samples, scripts, the samples of which mutants are, lawful twins, and why no recording shows it."""


def recorded() -> list[str]:
    """The recorded samples."""
    return sorted(path.parent.name for path in SAMPLES.glob("*/dump"))


def scripts() -> list[str]:
    """The scripts, by their place among the textbook's."""
    book = SAMPLES / "textbook"
    return sorted(path.relative_to(book).with_suffix("").as_posix() for path in book.rglob("*.yaml"))


def found_in_sample(name: str) -> frozenset[str]:
    """The rules that find something in a recorded sample."""
    return frozenset(finding.rule for finding in report_on(SAMPLES / name).violations)


@cache
def found_in_script(name: str) -> frozenset[str]:
    """The rules that find something in what the brokers of a script left."""
    with tempfile.TemporaryDirectory() as place:
        dump = Path(place) / "dump"
        write_dump(run(read_script(SAMPLES / "textbook" / f"{name}.yaml")), dump)
        return frozenset(finding.rule for finding in audit(dump, AuditConfig(engine="local")).violations)


def table() -> Shown:
    """By rule, what shows it."""
    samples, played = recorded(), scripts()
    by_sample: Mapping[str, frozenset[str]] = {name: found_in_sample(name) for name in samples}
    by_script: Mapping[str, frozenset[str]] = {name: found_in_script(name) for name in played}
    return {
        rule.id: {
            "samples": _naming(rule.id, by_sample), "scripts": _naming(rule.id, by_script), **without_audits(rule.id),
        }
        for rule in RULES
    }  # fmt: skip


def without_audits(rule: str) -> dict[str, list[str]]:
    """What the registry of mutants says of a rule; a healthy cluster is the lawful twin where there is none."""
    lawful = [mutant.because for mutant in MUTANTS if mutant.rule == rule]
    return {
        "mutants": list(dict.fromkeys(mutant.sample for mutant in MUTANTS if mutant.rule == rule)),
        "lawful": lawful or [name for name in HEALTHY if rule not in NOTED.get(name, ())],
        "notRecorded": [reason for reason, rules in NOT_RECORDED.items() if rule in rules],
    }


def _naming(rule: str, found: Mapping[str, Iterable[str]]) -> list[str]:
    return [name for name, rules in found.items() if rule in rules]


def stored() -> Shown:
    """The table as the program carries it."""
    told: Shown = json.loads(TABLE.read_text(encoding="utf-8"))
    return told


if __name__ == "__main__":
    TABLE.write_text(json.dumps(table(), indent=1) + "\n", encoding="utf-8")
