"""Known defects: each shows in its own drawing, under the releases that have it and under no other."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

import pytest

from parsers.provenance import Span
from rules.catalog import BY_ID
from rules.differences import with_differences
from rules.finding import Undecided, Violation
from rules.settings import KAFKA_VERSION, Setting, settings_of
from rules.signatures import SIGNATURES, Signature
from rules.sketch import read_sketch
from tests.lab.sample_reports import report_on
from tests.rules.textbook_goldens import TEXTBOOK

SAMPLES = TEXTBOOK.parent
NEED_THE_RELEASE = {"KAFKA-13091"}
"""Whom a leader counts depends on its release: without it the replay proves nothing here."""
RELEASE = re.compile(r"^kafka (\d+) (\S+)", re.MULTILINE)


def named(drawing: str) -> list[Violation]:
    evidence = with_differences(read_sketch(dedent(drawing)).evidence)
    return [said for said in BY_ID["BUG001"].check(evidence) if isinstance(said, Violation)]


def by_defect(signature: Signature) -> str:
    return signature.defect


@pytest.mark.parametrize("signature", SIGNATURES, ids=by_defect)
def test_a_defect_shows_in_its_drawing_and_is_the_only_one(signature: Signature) -> None:
    said = named(signature.drawing)
    assert [v.facts["defect"] for v in said] == [signature.defect]
    assert (said[0].confidence, said[0].severity) == (signature.confidence, signature.severity)
    assert said[0].exhibits
    assert said[0].brokers


@pytest.mark.parametrize("signature", SIGNATURES, ids=by_defect)
def test_a_release_without_the_defect_does_not_have_it(signature: Signature) -> None:
    if signature.spoken_below is not None:
        assert named(re.sub(r"ibp \S+", f"ibp {signature.spoken_below}", dedent(signature.drawing))) == []
        return
    for _, before in signature.releases:
        fixed = RELEASE.sub(rf"kafka \1 {'.'.join(map(str, before))}", dedent(signature.drawing))
        assert signature.defect not in [v.facts["defect"] for v in named(fixed)]


@pytest.mark.parametrize("signature", SIGNATURES, ids=by_defect)
def test_of_an_unknown_release_it_is_undecided(signature: Signature) -> None:
    unknown = "\n".join(line for line in dedent(signature.drawing).splitlines() if not line.startswith("kafka "))
    said = tuple(BY_ID["BUG001"].check(with_differences(read_sketch(dedent(unknown)).evidence)))
    assert not any(isinstance(answer, Violation) for answer in said)
    asked = [answer for answer in said if isinstance(answer, Undecided) and signature.defect in answer.reason]
    decided_without = signature.spoken_below is not None or signature.defect in NEED_THE_RELEASE
    assert len(asked) == (0 if decided_without else 1)
    assert all("release" in answer.missing and not answer.blocking for answer in asked)


@pytest.mark.parametrize(
    ("case", "defects"),
    [
        ("fast_failover_kip101", {"KAFKA-6361"}),
        pytest.param("clean_2_8", {"KAFKA-14704"}, marks=pytest.mark.slow),
        pytest.param("clean_4x", set(), marks=pytest.mark.slow),
    ],
)
def test_recordings_show_the_defects_of_their_release(case: str, defects: set[str]) -> None:
    found = [f for f in report_on(SAMPLES / case).violations if f.rule == "BUG001"]
    assert {f.values()["defect"] for f in found} == defects


def test_what_a_broker_ran_then_counts_after_an_upgrade() -> None:
    (signature,) = (row for row in SIGNATURES if row.defect == "KAFKA-14704")
    evidence = read_sketch(RELEASE.sub(r"kafka \1 3.9.1", dedent(signature.drawing))).evidence
    span = Span(source="server.log", start=0, end=1)
    told = [
        Setting(name=KAFKA_VERSION, value=value, origin="log", broker=2, since=since, clock="broker 2", span=span)
        for value, since in (("3.3.2", 0), ("3.9.1", 900_000))
    ]
    (said,) = BY_ID["BUG001"].check(replace(evidence, settings=settings_of(told)))
    assert isinstance(said, Violation)
    assert (said.facts["defect"], said.facts["release"]) == ("KAFKA-14704", "3.3.2")


@pytest.mark.parametrize(("held", "named_it"), [("00000000022222", 1), ("@8:022222", 1), ("@9:22222", 0)])
def test_an_epoch_that_retention_may_have_deleted_is_none_that_the_leader_lacked(held: str, named_it: int) -> None:
    drawing = f"""
        kafka 2 1.1.1
        broker 1 {held}|
        broker 2 00000111122222|
        t1 asks 2 of 1 epoch 1 answer 9
    """
    assert [v.facts["defect"] for v in named(drawing)] == ["KAFKA-6361"] * named_it


@pytest.mark.parametrize(("start", "named_it"), [(9, False), (8, True), (5, True)])
def test_an_answer_without_its_epoch_is_a_defect_only_where_it_cuts_less_than_one_with_it(
    start: int, named_it: bool
) -> None:
    drawing = f"""
        kafka 2 1.1.1
        broker 1 00000000022222|
        broker 2 00000000022222|
        t1 leads 1 epoch 1 at {start} hw {start}
        t2 asks 2 of 1 epoch 1 answer 9
    """
    said = named(drawing)
    assert [v.facts["defect"] for v in said] == ["KAFKA-6361"] * named_it
    assert not any("never" in BY_ID["BUG001"].message.format_map(v.facts) for v in said)
