"""A computation that goes on for too long, or fails, leaves its question open by name; nothing else comes of it."""

from collections.abc import Callable, Iterator

import pytest

from rules.catalog import RULES
from rules.evidence import PartitionEvidence
from rules.finding import Undecided, Violation
from rules.judging.judge import judge
from rules.protocol.steps import Budget, StepLimit, TooManySteps, budgeted
from rules.sketch.notation import read_sketch
from tests.lab.sketches import ANEW
from tests.replaced import replace

GAPPED = "broker 1 0..0|0\nbroker 2 0000|0\n"


def turns(count: int, most: int, work: str = "a walk") -> int:
    """How many of its turns a loop makes."""
    bound = StepLimit(most, work)
    for _ in range(count):
        bound.step()
    return count


def test_a_loop_ends_within_what_its_input_allows() -> None:
    assert turns(7, 7) == 7
    with pytest.raises(TooManySteps, match="a walk did not end within the 7 steps"):
        turns(8, 7)


def test_all_loops_for_a_partition_draw_on_one_budget() -> None:
    with budgeted(Budget(10)):
        turns(6, 100)
        with pytest.raises(TooManySteps, match="a second walk went beyond the 10 steps"):
            turns(6, 100, "a second walk")
    assert turns(11, 100) == 11


def judged_by(check: Callable[[PartitionEvidence], Iterator[Violation | Undecided]]) -> tuple[list[str], list[str]]:
    """What SEG005 and another rule, whose check this is, say of a log with a hole: what is found, what is left open."""
    rules = [rule for rule in RULES if rule.id in ("SEG005", "HW001")]
    mine = [replace(rule, check=check) if rule.id == "HW001" else rule for rule in rules]
    findings = judge(read_sketch(GAPPED).evidence, mine, Budget(100)).findings
    found = [f.rule for f in findings if f.verdict == "violated"]
    return found, [f.message for f in findings if f.verdict == "undecided" and f.blocking]


def test_a_rule_beyond_the_budget_is_left_open_by_name() -> None:
    def endless(_evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
        turns(1000, 1000, "looking for a leader")
        yield from ()

    found, left_open = judged_by(endless)
    assert found == ["SEG005"]
    (message,) = left_open
    assert message.startswith("Undecided: the rule gave up: looking for a leader went beyond the 100 steps that")


def test_a_rule_that_fails_is_left_open_and_never_repeats_what_it_read() -> None:
    def failing(_evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
        raise ValueError("a secret key")
        yield

    found, left_open = judged_by(failing)
    assert found == ["SEG005"]
    assert [("ValueError in failing:" in message, "secret" in message) for message in left_open] == [(True, False)]


def test_out_of_memory_is_no_opinion_of_a_rule() -> None:
    def out_of_memory(_evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
        raise MemoryError
        yield

    with pytest.raises(MemoryError):
        judged_by(out_of_memory)


def test_a_replay_beyond_the_budget_leaves_open_what_is_asked_of_it() -> None:
    evidence = read_sketch(ANEW).evidence
    assert not any("gave up" in f.message for f in judge(evidence, RULES).findings)
    findings = judge(evidence, RULES, Budget(3)).findings
    open_rules = {f.rule for f in findings if "gave up" in f.message}
    assert open_rules
    assert all(f.blocking for f in findings if f.rule in open_rules)
