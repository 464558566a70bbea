"""What a person is told to do can be done from top to bottom, and every page of a dump tells the same numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from dumps_at_hand import SAMPLES

from auditor.report.advice.advice_text import text
from auditor.report.model import AuditReport, PlacedAdvice, told_gates
from auditor.report.postmortem.document import render as postmortem
from auditor.report.summary import summary
from auditor.report.terminal import render
from tests.lab.effort import fast_if
from tests.lab.sample_reports import is_typical, report_on

CASES = sorted(path.parent for path in SAMPLES.glob("*/dump"))
every_sample = pytest.mark.parametrize("case", fast_if(is_typical, CASES), ids=lambda case: case.name)
VERBS = re.compile(r"(restart|elect)")


def flat(words: str) -> str:
    return " ".join(words.split())


def spoken_of(placed: PlacedAdvice) -> Iterator[tuple[str, str, str]]:
    """Each action, each broker and the word on it, as a person reads them."""
    for gate in told_gates(placed.advice):
        head, _, brokers = gate.action.partition(" broker ")
        for verb in VERBS.findall(head) if brokers else ():
            yield from ((verb, broker, gate.going) for broker in re.findall(r"\d+", brokers))


def steps(placed: PlacedAdvice) -> list[str]:
    lines = [line.strip() for line in text([placed]).partition("Step by step")[2].splitlines()]
    return [line.partition(". ")[2] for line in lines if re.match(r"\d+\. ", line)]


@every_sample
def test_nothing_may_be_done_and_may_not(case: Path) -> None:
    for placed in report_on(case).advice:
        words = defaultdict(set)
        for verb, broker, going in spoken_of(placed):
            words[verb, broker].add(going)
        assert {who: said for who, said in words.items() if len(said) > 1} == {}, placed.topic


@every_sample
def test_no_step_needs_what_an_earlier_one_destroyed(case: Path) -> None:
    """Copies come before the first start, stop, move or election, and a folder is moved of a stopped broker."""
    for placed in report_on(case).advice:
        told = steps(placed)
        copies = [place for place, step in enumerate(told) if step.startswith(("Copy ", "Save "))]
        others = [place for place, step in enumerate(told) if re.search(r"(?i)\b(start|stop|move|elect|put)\b", step)]
        assert max(copies, default=-1) < min(others, default=len(told)), told
        for place, step in enumerate(told):
            if found := re.search(r"(?i)\bon broker (\d+), move the folder", step):
                stopped = re.compile(rf"Stop broker {found[1]}\b|leave brokers? [^.]*\b{found[1]}\b[^.]* stopped")
                assert any(map(stopped.search, told[: place + 1])), told
                assert any("lect broker" in each for each in told[:place]), told


@every_sample
def test_no_step_does_what_is_a_no_go_without_what_comes_first(case: Path) -> None:
    """Whoever is elected may be, or what the gate asks for first is a step above, or in a folder copied there."""
    for placed in report_on(case).advice:
        told = steps(placed)
        elected = re.search(r"lect broker (\d+)", " ".join(told))
        if elected:
            gate = next(g for g in placed.advice.gates if g.action == f"elect broker {elected[1]}")
            above = told[: next(n for n, each in enumerate(told) if "lect broker" in each)]
            first = re.sub("^copy offset", "Save offset", gate.first).casefold()
            saved = any(step.casefold().startswith((f"{first}.", f"{first}: copy ")) for step in above)
            assert gate.going != "no-go" or saved or folders_copied(gate.first, placed, above), told


def folders_copied(first: str, placed: PlacedAdvice, above: list[str]) -> bool:
    """Whether every broker's folder is copied of which some offsets are to be copied."""
    brokers = re.findall(r"from broker (\d+)", first)
    folder = rf"[^(]*\b{re.escape(placed.topic)}-{placed.partition}\b"
    copies = [rf"^Copy broker {broker}'s folders? {folder}" for broker in brokers]
    return bool(copies) and all(any(re.search(copy, step) for step in above) for copy in copies)


def pages(report: AuditReport) -> dict[str, str]:
    lost = summary(report).lost
    return {
        "audit": flat(render(report, columns=80)),
        "advise": flat(text(report.advice, lost=lost)),
        "postmortem": flat(postmortem(report)),
    }


@every_sample
def test_what_is_lost_in_all_is_the_same_number_everywhere(case: Path) -> None:
    report = report_on(case)
    lost = summary(report).lost
    if lost is None or not lost.for_good:
        assert not any(re.search(r"LOST(?: in all)?: \d", page) for page in pages(report).values())
        return
    number = re.compile(rf"\b{lost.offsets if lost.records is None else lost.records} (?:committed )?(?:record|offset)")
    assert {name: bool(number.search(page)) for name, page in pages(report).items()} == {
        "audit": True, "advise": True, "postmortem": True,
    }  # fmt: skip


def test_the_samples_have_steps_to_check() -> None:
    """Of these each has some that are more than an election."""
    cases = ("lost_pages_hw", "compaction_race", "fast_failover_kip101")
    assert all(len(steps(placed)) > 2 for case in cases for placed in report_on(SAMPLES / case).advice)
