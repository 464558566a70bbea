"""Every mutant of a recorded sample is found where its bytes were changed; its lawful twin is not."""

from __future__ import annotations

from typing import Final

import pytest

from rules.finding import Severity
from tests.lab.effort import fast_if
from tests.mutants.mutant import Mutant, found, judged, said
from tests.mutants.registry import MUTANTS

FAST: Final = ("EPOCH001", "EPOCH006", "HW003", "LOG003")
EVERY: Final = fast_if(lambda mutant: mutant.rule in FAST, MUTANTS)
BY_RULE = pytest.mark.parametrize("mutant", EVERY, ids=lambda mutant: mutant.rule)


@BY_RULE
def test_a_mutant_is_found_where_it_was_changed(mutant: Mutant) -> None:
    assert said(judged(mutant.sample, mutant.change, mutant.level), mutant.rule) == mutant.said


@BY_RULE
def test_its_lawful_twin_is_not(mutant: Mutant) -> None:
    """What is told for information accuses nobody, unless the rule says no more of its mutant."""
    findings = found(judged(mutant.sample, mutant.lawful, mutant.level), mutant.rule)
    accuses = any(severity != Severity.INFO.label for severity, *_ in mutant.said)
    assert [f.message for f in findings if f.severity > Severity.INFO or not accuses] == [], mutant.because


@BY_RULE
def test_the_rule_is_asked_in_the_lawful_twin(mutant: Mutant) -> None:
    """A rule that could not decide would be silent too."""
    coverage = judged(mutant.sample, mutant.lawful, mutant.level).coverage
    assert [point.reason for point in coverage.undecided if point.rule == mutant.rule] == []


def test_a_foreign_key_is_told_with_its_place() -> None:
    """Findings of a topic have no range: the place of the first key stands among their facts."""
    (mutant,) = (mutant for mutant in MUTANTS if mutant.rule == "PLACE001")
    (finding,) = found(judged(mutant.sample, mutant.change, mutant.level), mutant.rule)
    told = finding.values()
    assert (told["partition"], told["offset"], told["apart"], told["keys"]) == (2, 136, 4, 60)
