"""A drawing reads back into evidence that shows the same, and on which the same rules fire."""

from __future__ import annotations

import pytest

from parsers.tables import RecordRow
from rules.catalog import RULES
from rules.evidence import PartitionEvidence
from rules.finding import Finding
from rules.judging.judge import judge
from rules.rule import Rule
from rules.sketch.drawn_window import draw
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences

pytestmark = pytest.mark.slow

PAGES = [(rule, name) for rule in RULES for name in ("violated", "upheld")]
SAID_ELSEWHERE = ("ids ", "t1 ", "t2 ", "t3 ", "group ", "home ", "partitions ", "snapshot ")
"""Lines about what logs, groups and snapshots say: a drawing shows what lies in the partition's own folders."""


def is_drawn(rule: Rule, text: str) -> bool:
    """Whether a drawing shows all that a sketch says: neither keys of records nor producers of batches are drawn."""
    keyed = RecordRow in rule.needs and "cleaner" in text
    produced = "{" in text
    return not keyed and not produced and not any(mark in text for mark in SAID_ELSEWHERE)


def drawn(evidence: PartitionEvidence, start: int | None, end: int | None) -> PartitionEvidence:
    return read_sketch(draw(with_differences(evidence), (), start, end)).evidence


def found(evidence: PartitionEvidence) -> set[tuple[str, int, int | None, int | None]]:
    return {(f.rule, f.severity, f.start_offset, f.end_offset) for f in violations(evidence)}


def violations(evidence: PartitionEvidence) -> list[Finding]:
    return [finding for finding in judge(evidence, RULES).findings if finding.verdict == "violated"]


@pytest.mark.parametrize(("rule", "page"), PAGES, ids=lambda value: getattr(value, "id", value))
def test_the_drawing_of_a_whole_page_is_judged_alike(rule: Rule, page: str) -> None:
    text = getattr(rule.page, page)
    if not is_drawn(rule, text):
        return
    evidence = read_sketch(text).evidence
    assert found(drawn(evidence, 0, 1 << 40)) == found(evidence)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_window_that_a_finding_shows_still_fires(rule: Rule) -> None:
    if not is_drawn(rule, rule.page.violated):
        return
    own = [finding for finding in violations(read_sketch(rule.page.violated).evidence) if finding.rule == rule.id]
    for finding in own:
        again = violations(read_sketch(finding.sketch).evidence)
        assert any(other.rule == rule.id and other.severity == finding.severity for other in again), finding.sketch


WINDOWS = {
    "plain": "broker 1 @5:00000|22222\nbroker 2 @5:00000|11",
    "runs and long epochs": "broker 1 0x500 [12]x300|\nbroker 2 0x500 [12]x290 |[12]x10",
    "runs side by side": "broker 1 0x500 1x300|\nbroker 2 0x500 1x290 |1x10",
    "same epoch, other content": "broker 1 00 1a1a 1|\nbroker 2 00 1b1b 1|\nbroker 3 00 1a1a 1|",
    "damage, holes, bad checksums": "broker 1 00##00|\nbroker 2 00.000|\nbroker 3 0000(00)!|\nbroker 4 0!00000|",
    "log starts": "broker 1 0000<000|\nbroker 2 @4:<000|",
    "offsets that go back": "broker 1 0000 @2:1111|\nbroker 2 000011|",
    "old formats": "broker 1 --00|\nbroker 2 ----|",
    "old formats, other content": "broker 1 --a--a-|\nbroker 2 --b--b-|",
    "tails": "broker 1 000|~ ; recovery 9\nbroker 2 000|_\nbroker 3 0000|",
    "empty logs": "broker 1 @7:<|\nbroker 2 0000000|",
    "claims": "broker 1 0000 ; hw 9, unclean, recovery 2\nbroker 2 0000|0 ; cleaner 3, epochs 0@0 1@9",
    "epoch files": "broker 1 0011| ; epochs missing\nbroker 2 0011| ; epochs empty\nbroker 3 0011| ; epochs 1@3",
    "live": "live\nbroker 1 0000|11 ; unclean\nbroker 2 0000| ; unclean",
    "no watermark": "broker 1 0011\nbroker 2 0012",
    "incarnations": "broker 1 00| ; topic-id a\nbroker 2 11| ; topic-id b",
    "metadata": "topic __cluster_metadata\nbroker 9 0001 ; voters 9\nbroker 1 000 ; voters 9",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_whole_drawing_gives_the_evidence_back(name: str) -> None:
    evidence = with_differences(read_sketch(WINDOWS[name]).evidence)
    again = with_differences(drawn(evidence, 0, 1 << 40))
    assert shown(again) == shown(evidence)


def shown(evidence: PartitionEvidence) -> list[object]:
    """What of evidence a drawing must keep."""
    replicas = [
        (
            replica.broker, replica.log_start_offset, replica.log_end_offset, replica.high_watermark, replica.log_chain,
            replica.file_chain, replica.epoch_file.state, replica.clean_shutdown is None, replica.voters,
            replica.recovery_point, replica.cleaner_offset, [(g.expected, g.found) for g in replica.log.gaps],
            [(g.expected, g.found) for g in replica.log.overlaps],
            [(f.base_offset, f.end_offset) for f in replica.log.checksum_faults],
            [(u.kind, u.expected_offset, u.next_offset) for u in replica.log.unread if u.kind != "damage"],
            replica.log.magics,
        )
        for replica in evidence.replicas
    ]  # fmt: skip
    differences = [(d.left.broker, d.right.broker, d.start_offset, d.end_offset) for d in evidence.differences]
    return [evidence.topic, evidence.copied_live, evidence.compacted, *replicas, differences]


def test_a_window_shows_its_offsets_and_says_how_far_the_log_goes() -> None:
    evidence = read_sketch("broker 1 0x100|22222x50\nbroker 2 0x100|1x20").evidence
    text = draw(with_differences(evidence), (), 100, 104)
    assert text.splitlines() == [
        "broker 1* @95:00000 |222222222 ; hw 100, leo 154",
        "broker 2  @95:00000 |111111111 ; hw 100, leo 120",
    ]


def test_letters_tell_contents_of_one_epoch_apart() -> None:
    evidence = read_sketch("broker 1 01a1|\nbroker 2 01b1|\nbroker 3 01a1|").evidence
    lines = draw(with_differences(evidence), (), 1, 2).splitlines()
    assert ["1a" in line for line in lines] == [True, False, True]
    assert "1b" in lines[1]


def test_a_wide_window_stays_narrow_on_the_screen() -> None:
    cells = "".join(f"[{epoch}]x7" for epoch in range(200))
    text = draw(read_sketch(f"broker 1 {cells}|").evidence, (), 0, 1400)
    assert len(text) < 600
    assert read_sketch(text).evidence.current[0].log_end_offset == 1400
