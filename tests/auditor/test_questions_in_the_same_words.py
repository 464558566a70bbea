"""What many rules ask in the same words is told once; who writes again what, where two logs may be let lead."""

from __future__ import annotations

from collections import Counter

from dumps_at_hand import SAMPLES

from auditor.report.model import AuditReport
from auditor.report.postmortem.document import render as render_postmortem
from auditor.report.terminal import render
from rules.catalog import RULES
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.lab.sample_reports import report_on
from tests.lab.sketches import ANEW
from tests.replaced import replace


def reported() -> AuditReport:
    """A report of one partition whose leader epochs began anew."""
    verdict = judge(read_sketch(ANEW).evidence, RULES)
    report = report_on(SAMPLES / "fast_failover_kip101")
    return replace(report, findings=verdict.findings, incidents=(), histories=())


def test_open_questions_of_several_rules_in_the_same_words_are_told_once() -> None:
    report = reported()
    asked = [finding for finding in report.findings if finding.verdict == "undecided"]
    ((message, rules),) = Counter(finding.message for finding in asked).most_common(1)
    assert rules > 3
    lines = render(report, columns=100, verbose=True).splitlines()
    assert sum(message[:60] in line for line in lines) == 1
    assert [line.split("  ")[1] for line in lines if line.startswith("UNDECIDED")] == [
        ", ".join(finding.rule for finding in asked)
    ]
    words = " ".join(lines).replace(",", " ").split()
    assert all(words.count(finding.id) == 1 for finding in asked)


def test_producers_are_told_which_offsets_to_write_again_and_when() -> None:
    lines = [line for line in render_postmortem(reported()).splitlines() if "roducers must" in line]
    ids = {f.brokers[0]: f.id for f in reported().findings if f.rule == "ACK001" and f.verdict == "violated"}
    told = {
        1: "offsets 6–7: If broker 3 is let lead, producers must write the records of epoch 2 again that broker 1",
        3: "offset 6: If broker 1 or 2 is let lead, producers must write the records of epoch 4 again that broker 3",
    }
    said = [line.split(" ", 2)[2] for line in lines]
    assert said == [f"{told[broker]} acknowledged. {ids[broker]}" for broker in (1, 3)]
