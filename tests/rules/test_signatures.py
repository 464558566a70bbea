"""Known defects: each shows in its own drawing, under the releases that have it and under no other."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from parsers.provenance import Span
from rules.catalog import BY_ID
from rules.finding import Undecided, Violation
from rules.judging.said import spoken
from rules.settings import KAFKA_VERSION, Setting, settings_of
from rules.signatures import SIGNATURES, UNTOLD, Signature
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from tests.lab.sample_reports import report_on
from tests.replaced import replace
from tests.rules.textbook_goldens import TEXTBOOK

SAMPLES = TEXTBOOK.parent
RELEASE = re.compile(r"^kafka (\d+) (\S+)", re.MULTILINE)


LAWFUL = {
    "KAFKA-7128 the fetch by which it joined is not told": """
        kafka 1 2.0.0
        broker 1 000011|
        broker 2 000011|
        t1 leads 1 epoch 1 at 4 hw 2 isr 1
        t2 fetch 2@2 from 1 hw=2
        t3 isr 1 now 1,2
    """,
    "KAFKA-10706 asked again in each epoch": """
        kafka 2 2.6.0
        broker 1 002|
        broker 2 00| ; epochs 0@0 1@2
        t1 leads 1 epoch 2 at 2 hw 2
        t2 asks 2 of 1 epoch 1 answer 0:2
        t3 asks 2 of 1 epoch 1 answer 0:2
        t4 leads 1 epoch 3 at 2 hw 2
        t5 asks 2 of 1 epoch 1 answer 0:2
    """,
    "KAFKA-10706 fetches in between": """
        kafka 2 2.6.0
        broker 1 002|
        broker 2 00| ; epochs 0@0 1@2
        t1 asks 2 of 1 epoch 1 answer 0:2
        t2 asks 2 of 1 epoch 1 answer 0:2
        t3 fetch 2@2 from 1 hw=2
        t4 asks 2 of 1 epoch 1 answer 0:2
    """,
    "KAFKA-7786 asked again in its epoch": """
        kafka 2 2.1.0
        broker 1 0000|
        broker 2 0000|
        t1 leads 1 epoch 2 at 4 hw 4
        t2 asks 2 of 1 epoch 1 answer -1 error 74
        t3 asks 2 of 1 epoch 2 answer 2:4
        t30000 shrinks 1 from 1,2 to 1 at 4
    """,
    "KAFKA-9672 a reassignment goes on": """
        kafka 1 2.8.1
        broker 1 00|
        broker 2 00|
        t1 leader 1 epoch 0 isr 1,2 of 1,2
        t2 leader 1 epoch 1 isr 1,2 of 1
    """,
    "KAFKA-9769 the broker was started again": """
        kafka 2 2.6.2
        broker 1 0000|
        broker 2 0000|
        broker 3 0000|
        t1 leads 1 epoch 1 at 4 hw 4
        t1 leader 1 epoch 1 isr 1,2,3 told 2
        t2 fetch 3@4 from 1 hw=4
        t30000 shrinks 1 from 1,2,3 to 1,3 at 4
        t50000 loads 2 at 4
        t60000 leader 3 epoch 2 isr 1,3 told 2
    """,
    "KAFKA-9769 it fetched and then lagged": """
        kafka 2 2.6.2
        broker 1 0000|
        broker 2 0000|
        t1 leads 1 epoch 1 at 4 hw 4
        t1 leader 1 epoch 1 isr 1,2 told 2
        t2 fetch 2@4 from 1 hw=4
        t30000 shrinks 1 from 1,2 to 1 at 4
        t60000 leader 1 epoch 2 isr 1 told 2
    """,
    "KAFKA-9654 a follower's fetcher failed": """
        kafka 1 2.4.1
        broker 1 0000|
        broker 1 00| ; future, log-dir d2
        t1 leads 1 epoch 1 at 4 hw 4
        t2 follows 1 epoch 2 at 4 hw 4 from 2
        t3 fails 1
    """,
    "KAFKA-13207 it followed when it cut": """
        kafka 1 2.8.0
        broker 1 0011|
        t1 leads 1 epoch 1 at 4 hw 2
        t4 follows 1 epoch 2 at 4 hw 2 from 2
        t5 truncates 1 to 3
    """,
    "KAFKA-13207 the moved copy was cut": """
        kafka 1 2.8.0
        broker 1 0011|
        broker 1 00| ; future, log-dir d2
        t1 leads 1 epoch 1 at 4 hw 2
        t5 truncates 1 to 3
    """,
    "KAFKA-19474 cut above its high watermark": """
        kafka 2 3.9.1
        broker 2 0011|
        t1 follows 2 epoch 1 at 4 hw 2 from 1
        t2 truncates 2 to 2
    """,
    "KAFKA-7601 the format rose": """
        kafka 1 2.2.0
        broker 1 --0011|
    """,
    "KAFKA-15021 a member of the ISR lags": """
        kafka 1 3.5.1
        broker 1 000000|
        broker 2 000000|
        broker 3 0000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
        t2 fetch 2@4 from 1 hw=0
        t3 fetch 3@4 from 1 hw=0
        t100 fetch 2@6 from 1 hw=4
        t3000 fetch 2@6 from 1 hw=4
    """,
    "KAFKA-15021 the answer was under way": """
        kafka 1 3.5.1
        broker 1 000000|
        broker 2 000000|
        broker 3 0000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
        t2 fetch 2@4 from 1 hw=0
        t3 fetch 3@4 from 1 hw=0
        t10 isr 1 now 1,2
        t100 fetch 2@6 from 1 hw=4
        t200 fetch 2@6 from 1 hw=4
    """,
    "KAFKA-13091 a member of the smaller ISR lags": """
        kafka 1 2.8.2
        broker 1 0000|
        broker 2 0000|
        broker 3 00|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
        t2 fetch 2@2 from 1 hw=0
        t3 fetch 3@2 from 1 hw=0
        t70000 shrinks 1 from 1,2,3 to 1,2 at 4
        t70001 isr 1 now 1,2 version 1
        t140000 fetch 2@2 from 1 hw=2
        t210000 fetch 2@4 from 1 hw=2
    """,
    "KAFKA-15583 nothing was lost": """
        kafka 1 3.6.1
        set min.insync.replicas 2
        broker 1 000000|
        broker 2 0000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 isr 1 now 1
        t4 acks 1 at 5 acks=1
        t3000 serve 4 from 1 hw=6
        t5000 leads 1 epoch 1 at 6 hw 6 isr 1
    """,
    "KAFKA-15583 enough were in sync": """
        kafka 1 3.6.1
        set min.insync.replicas 1
        broker 1 000000|
        broker 2 000011|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 isr 1 now 1
        t4 acks 1 at 5 acks=1
        t3000 serve 4 from 1 hw=6
        t5000 leads 2 epoch 1 at 4 hw 4 isr 2
    """,
    "KAFKA-5634 deleted up to the high watermark": """
        kafka 1 0.11.0.0
        broker 1 @6:00|
        t1 fetch 2@8 from 1 hw=6 start 6
    """,
    "KAFKA-15221 it caught up before it joined": """
        kafka 1 3.5.1
        broker 1 000000|
        broker 2 000000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 fetch 2@6 from 1 hw=0
        t3 fetch 2@6 from 1 hw=6
        t4 isr 1 now 1
        t3000 fetch 2@3 from 1 hw=6
        t3001 fetch 2@6 from 1 hw=6
        t3002 isr 1 now 1,2
    """,
    "KAFKA-15221 no line is here of what let it in": """
        kafka 1 3.5.1
        broker 1 000000|
        broker 2 000000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 fetch 2@6 from 1 hw=0
        t3 fetch 2@6 from 1 hw=6
        t4 isr 1 now 1
        t3000 fetch 2@3 from 1 hw=6
        t9001 isr 1 now 1,2
        t12002 fetch 2@6 from 1 hw=6
    """,
    "KAFKA-15221 what let it in still waited when the role ended": """
        kafka 1 3.5.1
        broker 1 000000|
        broker 2 000000|
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 fetch 2@6 from 1 hw=0
        t3 fetch 2@6 from 1 hw=6
        t4 isr 1 now 1
        t3000 fetch 2@0 from 1 hw=6
        t3001 isr 1 now 1,2
        t3002 fetch 2@6 from 1 hw=0 error 6
    """,
    "KAFKA-14616 it holds the new topic too": """
        kafka 2 3.6.1
        broker 1 00| ; topic-id x
        broker 2 00| ; topic-id x
        broker 2 0000| ; stray, topic-id y
        t1 leader 1 epoch 0 isr 1 of 1,2
    """,
    "KAFKA-14616 the new topic lies elsewhere": """
        kafka 2 3.6.1
        broker 1 00| ; topic-id x
        broker 2 0000| ; stray, topic-id y
        t1 leader 1 epoch 0 isr 1 of 1,3
    """,
    "KAFKA-16234 the replica is moving": """
        kafka 1 3.7.0
        broker 1 0000| ; log-dir d1
        broker 1 00| ; future, log-dir d2
    """,
    "KAFKA-8002 the move goes on": """
        kafka 1 2.1.1
        broker 1 00/00|
        broker 1 000| ; future, log-dir d2
    """,
    "KAFKA-7866 offsets that meet": """
        kafka 1 2.2.0
        broker 1 00000| ; markers
    """,
    "KAFKA-10432 a file that begins in the middle of the next epoch": """
        kafka 1 2.5.0
        broker 1 000111| ; epochs 1@4
        broker 2 000111|
    """,
    "KAFKA-10432 the log began there once": """
        kafka 1 2.5.0
        broker 1 000111| ; epochs 1@3
        broker 2 000111|
        t1 leads 2 epoch 1 at 3 hw 3
        t2 fetch 1@6 from 2 hw=6 start 3
    """,
    "KAFKA-15510 its epoch file was cut with the log start, and knows no epoch before": """
        kafka 2 3.5.1
        broker 1 000011|
        broker 2 000011| ; epochs 1@4
        t1 fetch 2@4 from 1 hw=4 last -1
    """,
    "KAFKA-10778 damage in the place of a record": """
        kafka 1 2.7.2
        broker 1 00#00|
        broker 2 00000|
    """,
}
"""What releases with the defect may show without having met it."""


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


@pytest.mark.parametrize("case", LAWFUL)
def test_what_resembles_a_defect_is_lawful(case: str) -> None:
    assert case.split(maxsplit=1)[0] in {row.defect for row in SIGNATURES}
    assert named(LAWFUL[case]) == []


KNOWN = (
    *(769, 851, 858, 1211, 1647, 2143, 2334, 3978, 5634, 6361, 6880, 6975, 7128, 7164, 7395, 7414, 7415, 7601, 7786),
    *(7866, 7897, 8002, 8400, 9137, 9338, 9491, 9654, 9672, 9769, 10101, 10432, 10471, 10706, 10778, 12460, 12996),
    *(13091, 13127, 13141, 13194, 13207, 14616, 14704, 15021, 15046, 15221, 15353, 15510, 15583, 16157, 16234, 16297),
    *(16541, 19474),
)
"""Every defect of replication that the history of Kafka's own code was searched for and that was found there."""


def test_every_defect_is_told_or_said_not_to_be() -> None:
    told, untold = [row.defect for row in SIGNATURES], [row.defect for row in UNTOLD]
    assert sorted([*told, *untold]) == sorted(f"KAFKA-{number}" for number in KNOWN)
    assert all(row.because and row.title for row in UNTOLD)
    assert all(f"- {defect}, " in BY_ID["BUG001"].reach for defect in (*told, *untold))


@pytest.mark.parametrize("signature", SIGNATURES, ids=by_defect)
def test_of_an_unknown_release_it_is_undecided(signature: Signature) -> None:
    unknown = "\n".join(line for line in dedent(signature.drawing).splitlines() if not line.startswith("kafka "))
    said = tuple(BY_ID["BUG001"].check(with_differences(read_sketch(dedent(unknown)).evidence)))
    assert not any(isinstance(answer, Violation) for answer in said)
    asked = [answer for answer in said if isinstance(answer, Undecided) and signature.defect in answer.reason]
    assert len(asked) == (0 if signature.spoken_below is not None else 1)
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
    assert not any("never" in BY_ID["BUG001"].message.format_map(spoken(v)) for v in said)


@pytest.mark.parametrize(
    ("release", "defects"),
    [("", {"KAFKA-10432", "KAFKA-16541"}), ("2.5.0", {"KAFKA-10432"}), ("3.7.0", {"KAFKA-16541"}), ("3.9.1", set())],
)
def test_missing_epochs_are_laid_to_defects_that_the_broker_may_have(release: str, defects: set[str]) -> None:
    ran = f"kafka 1 {release}\n" if release else ""
    drawn = read_sketch(f"{ran}broker 1 0001122| ; epochs 1@3\nbroker 2 0001122|").evidence
    said = [str(v.facts["signature"]) for v in BY_ID["EPOCH003"].check(drawn) if isinstance(v, Violation)]
    assert len(said) == 2
    assert {name for words in said for name in re.findall(r"KAFKA-\d+", words)} == defects


@pytest.mark.parametrize(("before", "named_it"), [("", 1), ("t0 leader 1 epoch 0 isr 1,2,3 told 2", 0)])
def test_a_follower_of_the_same_leader_goes_on_in_its_session(before: str, named_it: int) -> None:
    """An idle partition is not named again in a fetch session while its leader stays the same."""
    drawing = f"""
        kafka 2 2.6.2
        broker 1 0000|
        broker 2 0000|
        broker 3 0000|
        {before}
        t1 leads 1 epoch 1 at 4 hw 4
        t1 leader 1 epoch 1 isr 1,2,3 told 2
        t2 fetch 3@4 from 1 hw=4
        t30000 shrinks 1 from 1,2,3 to 1,3 at 4
        t60000 leader 3 epoch 2 isr 1,3 told 2
    """
    assert [v.facts["defect"] for v in named(drawing)] == ["KAFKA-9769"] * named_it
