"""A log that was shortened while its broker was the only one in sync: nothing else would stop it from leading again."""

from __future__ import annotations

import pytest

from rules.advice import Advice, advise
from rules.catalog import BY_ID, RULES
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation
from rules.judging.judge import judge
from rules.sketch.notation import read_sketch
from tests.replaced import replace

NEW = "kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\n"
LED = """
t1 leader 1 epoch 0 isr 1,2 of 1,2
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t2 fetch 2@10 from 1 hw=10
t3 acks 1 at 9 acks=all
t4 leader 1 epoch 0 isr 1 of 1,2
"""
SHORTENED = NEW + "broker 1 0000|\nbroker 2 0000000000|\n" + LED
ALONE = "t5 leader -1 epoch 1 isr 1 of 1,2\n"
LOADED = ALONE + "t5 loads 1 at 4\nt6 follows 1 epoch 1 at 4 hw 0 from -1\n"
Said = list[tuple[tuple[int, ...], int | None, int | None, Severity | None]]


def live(drawing: str) -> PartitionEvidence:
    return replace(read_sketch(drawing).evidence, copied_live=True)


def violations(rule: str, drawing: str) -> Said:
    said = BY_ID[rule].check(live(drawing))
    found = (one for one in said if isinstance(one, Violation))
    return [(one.brokers, one.start_offset, one.end_offset, one.severity) for one in found]


def undecided(rule: str, drawing: str) -> list[bool]:
    return [one.blocking for one in BY_ID[rule].check(live(drawing)) if isinstance(one, Undecided)]


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (LOADED, [((1,), 4, 10, None)]),
        ("t5 loads 1 at 10\nt6 follows 1 epoch 1 at 10 hw 0 from -1", []),
        # Above its high watermark a crash may take what was not flushed.
        ("t4 acks 1 at 12 acks=1\n" + LOADED.replace("at 4", "at 10"), [((1,), 10, 13, Severity.INFO)]),
        # An answer for all replicas and the watermark with which it began to lead tell what was committed.
        ("t4 acks 1 at 12 acks=all\n" + LOADED.replace("at 4", "at 10"), [((1,), 10, 13, None)]),
        ("t4 leads 1 epoch 1 at 12 hw 12 isr 1\n" + LOADED.replace("epoch 1", "epoch 2"), [((1,), 4, 12, None)]),
        # It was cut, moved away and back, or followed a leader in between.
        ("t5 truncates 1 to 4\nt6 loads 1 at 4\nt7 follows 1 epoch 1 at 4 hw 4 from 2", []),
        ("t5 deletes 1\nt6 begins 1\nt7 loads 1 at 4\nt8 follows 1 epoch 1 at 4 hw 4 from 2", []),
        ("t5 follows 1 epoch 1 at 10 hw 10 from 2\nt6 loads 1 at 4\nt7 follows 1 epoch 2 at 4 hw 4 from 2", []),
        # On a new disk, by its own line.
        ("t5 begins 1\nt5 loads 1 at 0\nt6 follows 1 epoch 1 at 0 hw 0 from 2", []),
    ],
)
def test_a_leader_that_told_more_than_it_loads_has_lost_it(history: str, said: Said) -> None:
    assert violations("LEO001", SHORTENED + history) == said


OLD = """
kafka 1 2.5.1 ibp 2.5
kafka 2 2.5.1 ibp 2.5
broker 1 0000|
broker 2 0000000000|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 1 epoch 1 at 10 hw 10
t5 loads 1 at 4
t9 leads 2 epoch 2 at 10 hw 10
"""


@pytest.mark.parametrize(("epoch", "said"), [(2, [((1,), 4, 10, None)]), (3, [])])
def test_an_epoch_that_nobody_names_may_have_made_it_cut_its_log(epoch: int, said: Said) -> None:
    """Old releases do not log whom a broker follows: it may have followed in epoch 2 before it loads its log."""
    drawing = OLD.replace("2 epoch 2", f"2 epoch {epoch}")
    assert violations("LEO001", drawing) == said
    assert undecided("LEO001", drawing) == [False] * (not said)


def test_a_leader_that_loads_nothing_may_be_on_a_new_disk() -> None:
    history = "t5 loads 1 at 0\nt6 follows 1 epoch 1 at 0 hw 0 from 2"
    assert violations("LEO001", SHORTENED + history) == []
    assert undecided("LEO001", SHORTENED + history) == [True]


FOLLOWED = NEW + """
broker 1 0000000000|
broker 2 0000|
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
{decided}
t20 fetch 2@10 from 1 hw=10
{later}
t40 loads 2 at 4
t41 leads 2 epoch 1 at 4 hw 4
"""


@pytest.mark.parametrize(
    ("decided", "later", "said"),
    [
        # Every new follower decides for its high watermark of 0, and says that nothing was cut.
        ("t2 cuts 2 to 0 by hw\nt2 keeps 2 at 0", "", [((2,), 4, 10, None)]),
        # It died before it took a role, and loads once more: what it had lost, and what it lost since.
        ("", "t30 loads 2 at 4", [((2,), 4, 10, None)]),
        ("", "t30 loads 2 at 7", [((2,), 7, 10, None), ((2,), 4, 7, None)]),
        ("t2 cuts 2 to 0 by hw", "", []),
        ("t2 cuts 2 to 0 by hw\nt2 truncates 2 to 0", "", []),
        ("", "t30 cuts 2 to 4 by hw\nt30 truncates 2 to 4", []),
    ],
)
def test_a_decision_that_cut_nothing_explains_no_lost_page(decided: str, later: str, said: Said) -> None:
    assert violations("LEO001", FOLLOWED.format(decided=decided, later=later)) == said


def test_a_cut_of_an_older_epoch_explains_no_page_that_was_lost_since() -> None:
    older = "t0 leads 1 epoch 0 at 0 hw 0\nt0 follows 2 epoch 0 at 0 hw 0 from 1\nt0 truncates 2 to 2\n"
    drawing = FOLLOWED.format(decided="", later="").replace("epoch 1", "epoch 2").replace("epoch 0", "epoch 1")
    assert violations("LEO001", drawing.replace("t1 leads", older + "t1 leads", 1)) == [((2,), 4, 10, None)]


UNTOLD = NEW + """
broker 1 000033|
broker 2 000033|
broker 3 000033|
t1 leader 1 epoch 0 isr 1,2,3 of 1,2,3
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t1 follows 3 epoch 0 at 0 hw 0 from 1
t20 fetch 2@10 from 1 hw=10
t20 fetch 3@10 from 1 hw=10
t30 leader 3 epoch 1 isr 2,3
t31 leader -1 epoch 2 isr 2
t40 loads 2 at 4
t41 follows 2 epoch 2 at 4 hw 4 from -1
t42 leader 2 epoch 3 isr 2
t43 leads 2 epoch 3 at 4 hw 4
t50 loads 3 at 10
t51 follows 3 epoch 3 at 10 hw 10 from 2
{asked}
"""
"""Of epoch 1 nobody tells where it opened: whether broker 2 was made to cut its log then."""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("t52 fetch 3@10 from 2 hw=6 epoch 3 last 0 diverges 0:4", [((2,), 4, 10, None)]),
        ("t52 fetch 3@10 from 2 hw=6 epoch 3 last 1 diverges 0:4", []),
        ("t52 fetch 3@10 from 2 hw=6 epoch 3 last -1", []),
        ("t52 fetch 3@9 from 2 hw=6 epoch 3 last 0 diverges 0:4", []),
        ("t52 fetch 1@10 from 2 hw=6 epoch 3 last 0 diverges 0:4", []),
        ("", []),
    ],
)
def test_who_still_has_what_an_epoch_of_its_own_would_have_cut_never_had_it_cut(asked: str, said: Said) -> None:
    """Broker 3 asks behind records of epoch 0: it held them all when it led epoch 1, if it did."""
    assert violations("LEO001", UNTOLD.format(asked=asked)) == said


def test_it_may_have_been_cut_and_have_fetched_anew_in_an_epoch_of_which_nobody_tells() -> None:
    asked = "t52 fetch 3@10 from 2 hw=6 epoch 3 last 0 diverges 0:4"
    untold = UNTOLD.replace("t31 leader -1 epoch 2 isr 2\n", "").replace("follows 2 epoch 2", "follows 2 epoch 1")
    assert violations("LEO001", untold.format(asked=asked)) == []


WENT_ON = NEW + """
broker 1 000000000000|
broker 2 000000000000|
t1 leader 1 epoch 0 isr 1,2 of 1,2
t1 leads 1 epoch 0 at 0 hw 0
t1 follows 2 epoch 0 at 0 hw 0 from 1
t20000 fetch 2@10 from 1 hw=10
{between}
t40000 loads 2 at 4
t41000 follows 2 epoch 0 at 4 hw 4 from 1
{next}
t60000 fetch 2@12 from 1 hw=12
t90000 leads 2 epoch 1 at 12 hw 12
t90001 follows 1 epoch 1 at 12 hw 12 from 2
t90002 fetch 1@12 from 2 hw=12 epoch 1
"""
"""Broker 1 follows before it fetches: the clocks stand so close that broker 2 asked for 10 before it loaded its log."""
LESSER = "t41000 fetch 2@4 from 1 hw=12"
BOTH: Said = [((2,), 4, 10, None), ((2,), 8, 11, None)]


@pytest.mark.parametrize(
    ("between", "behind", "said"),
    [
        ("", LESSER, [((2,), 4, 10, None)]),
        # The first fetches after the loading are not here.
        ("", LESSER.replace("2@4", "2@7"), [((2,), 4, 10, None)]),
        ("", LESSER + "\nt80000 loads 2 at 12\nt81000 follows 2 epoch 0 at 12 hw 12 from 1", [((2,), 4, 10, None)]),
        ("", LESSER + "\nt50000 fetch 2@11 from 1 hw=12\nt52000 loads 2 at 8\nt53000 fetch 2@8 from 1 hw=12", BOTH),
        # It never asked for less: by clocks that stand apart a fetch from after the loading seems to come before it.
        ("", "", []),
        # It asked for less before the loading, or for less than was loaded, or as its leader had told it.
        ("t30000 fetch 2@4 from 1 hw=10", "", []),
        ("", LESSER.replace("2@4", "2@3"), []),
        ("", "t41000 fetch 2@10 from 1 hw=12 diverges 0:4\n" + LESSER, []),
        ("t30000 truncates 2 to 4", LESSER, []),
    ],
)
def test_a_follower_that_went_on_in_its_epoch_has_lost_what_it_asks_for_again(
    between: str, behind: str, said: Said
) -> None:
    assert violations("LEO001", WENT_ON.format(between=between, next=behind)) == said


@pytest.mark.parametrize(
    ("opened", "said", "asked"),
    [
        # A cut for epoch 1 would have left what that epoch opened with.
        (10, [((1,), 4, 10, None)], [False]),
        (12, [((1,), 4, 12, None)], []),
        (4, [], [False]),
        (None, [], [False]),
    ],
)
def test_what_a_cut_that_is_not_told_would_have_left_was_lost_by_something_else(
    opened: int | None, said: Said, asked: list[bool]
) -> None:
    leads = "" if opened is None else f"t5 leads 2 epoch 1 at {opened} hw 4\n"
    between = f"t3 acks 1 at 11 acks=all\nt5 leader 2 epoch 1 isr 2 of 1,2\n{leads}"
    after = "t6 leader 2 epoch 2 isr 2 of 1,2\nt6 leads 2 epoch 2 at 12 hw 4\nt7 loads 1 at 4\n"
    after += "t8 follows 1 epoch 2 at 4 hw 4 from 2\n"
    assert violations("LEO001", SHORTENED + between + after) == said
    assert undecided("LEO001", SHORTENED + between + after) == asked


STAYED = WENT_ON.replace("t60000 fetch 2@12 from 1 hw=12\n", "").replace("at 12 hw 12", "at 4 hw 4")
"""The same, but broker 2 leads next with no more than it had loaded."""


@pytest.mark.parametrize(
    ("drawing", "behind", "confidence"),
    [
        (STAYED, "", "certain"),
        (WENT_ON, LESSER, "likely"),
        # It may have asked for 10 once more before it cut its log, or lost it once more.
        (STAYED, "t50000 truncates 2 to 4", "likely"),
        (STAYED, "t50000 loads 2 at 4", "likely"),
    ],
)
def test_a_log_that_is_as_long_in_its_next_role_as_when_it_was_loaded_had_more_before(
    drawing: str, behind: str, confidence: str
) -> None:
    said = BY_ID["LEO001"].check(live(drawing.format(between="", next=behind)))
    found = [(one.brokers, one.end_offset, one.confidence) for one in said if isinstance(one, Violation)]
    assert ((2,), 10, confidence) in found


def test_the_only_member_of_the_isr_is_judged_by_its_log_at_rest() -> None:
    assert violations("ISR001", SHORTENED + LOADED) == [((1,), 4, 10, None)]
    assert violations("TRUNC004", SHORTENED + LOADED) == [((2,), 4, 10, Severity.CRITICAL)]


@pytest.mark.parametrize("rule", ["ISR001", "TRUNC004"])
@pytest.mark.parametrize(
    "history",
    [
        # A disk that was copied before the logs: it reached 10 since, or nobody tells.
        ALONE + "t6 follows 1 epoch 1 at 10 hw 10 from -1",
        ALONE,
        # Somebody leads: it appends, and the copies are moments apart.
        "t5 loads 1 at 4\nt6 leader 1 epoch 1 isr 1 of 1,2\nt6 leads 1 epoch 1 at 4 hw 4",
        LOADED + "t7 leads 2 epoch 2 at 10 hw 10",
    ],
)
def test_a_disk_that_may_be_copied_too_early_accuses_nobody(rule: str, history: str) -> None:
    assert violations(rule, SHORTENED + history) == []


def advice_on(drawing: str) -> Advice:
    (told,) = advise(live(drawing))
    return told


def test_advice_bars_the_start_of_who_would_lead_and_cut_the_last_copy() -> None:
    told = advice_on(SHORTENED + LOADED)
    going = {gate.action: (gate.going, gate.first) for gate in told.gates}
    assert going["restart broker 1"] == ("no-go", "copy offsets 4–9 of epoch 0 from broker 2")
    assert going["restart broker 2"] == ("no-go", "copy broker 2's folder t-0 (here: broker-2/t-0)")
    assert going["elect broker 2"][0] == "go"


def test_advice_lets_start_who_lacks_nothing() -> None:
    equal = SHORTENED.replace("broker 1 0000|", "broker 1 0000000000|") + LOADED.replace("at 4", "at 10")
    assert {gate.going for gate in advice_on(equal).gates} == {"go"}


def test_no_defect_is_said_to_follow_from_what_is_information_alone() -> None:
    grown = "t4 acks 1 at 12 acks=1\n" + LOADED.replace("at 4", "at 10")
    lost = "t7 leader 2 epoch 2 isr 2 of 1,2\nt7 leads 2 epoch 2 at 4 hw 4 isr 2\n"
    told = {finding.rule: finding for finding in judge(live(SHORTENED + grown + lost), RULES).findings}
    assert told["LEO001"].severity == Severity.INFO
    assert told["LEAD001"].implied_by == ()
