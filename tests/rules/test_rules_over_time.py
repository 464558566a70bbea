"""Rules over time at exact offsets, beside the lawful histories that look alike."""

from __future__ import annotations

import pytest

from rules.catalog import BY_ID
from rules.chronicle.chronicle import Chronicle
from rules.cut_tables import cut_tables, reconciliations
from rules.evidence import PartitionEvidence
from rules.finding import Severity, Undecided, Violation, capital
from rules.history.statements import statement
from rules.replay.lag import lags
from rules.sketch.notation import read_sketch
from tests.replaced import replace

Said = tuple[tuple[int, ...], int | None, int | None, str]


def evidence(drawing: str) -> PartitionEvidence:
    return read_sketch(drawing).evidence


def violations(rule: str, drawing: str) -> list[Said]:
    said = tuple(BY_ID[rule].check(evidence(drawing)))
    return [(v.brokers, v.start_offset, v.end_offset, v.confidence) for v in said if isinstance(v, Violation)]


HOLE = "broker 1 1x21 3x10|\nbroker 2 1x11 .x10 3x10| ; "


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        (HOLE + "epochs 1@0 2@11 3@21", [((2,), 11, 21, "certain")]),
        (HOLE + "epochs 1@0 3@21\nt1 follows 2 epoch 3 at 26 hw 11\nt2 truncates 2 to 21", [((2,), 11, 21, "certain")]),
        # The peer knew the epoch that vanished, so it gave another answer than the one that makes such a hole.
        ("broker 1 1x11 2x10 3x10|\nbroker 2 1x11 .x10 3x10| ; epochs 1@0 2@11 3@21", [((2,), 11, 21, "likely")]),
        (HOLE + "epochs 1@0 3@21", []),
        (HOLE + "epochs 1@0 2@11 3@21, cleaner 31", []),
    ],
)
def test_a_hole_is_a_cut_only_where_something_tells_of_the_cut(drawing: str, said: list[Said]) -> None:
    assert violations("TRUNC005", drawing) == said


TWO_LEADERS = """
broker 1 0000|
broker 2 0011|
t0 loads 1 at 0
t1 leads 1 epoch 0 at 0 hw 0
t5 leads 2 epoch 1 at 2 hw 2
"""


@pytest.mark.parametrize(
    ("history", "said"),
    [
        # Appended while a follower, by its own answers and by its log.
        ("t4 follows 1 epoch 1 at 2 hw 2 from 2\nt6 acks 1 at 2 acks=1", [((1,), 2, 3, "certain")]),
        ("t4 follows 1 epoch 1 at 3 hw 2 from 2", [((1,), 3, 4, "certain")]),
        # The broker leads again before it answers.
        ("t4 follows 1 epoch 1 at 4 hw 2 from 2\nt6 leads 1 epoch 2 at 4 hw 4\nt7 acks 1 at 4 acks=all", []),
        # Who led epoch 2 is not told: the answer may be of it.
        ("t4 follows 1 epoch 1 at 4 hw 2 from 2\nt7 acks 1 at 4 acks=all\nt8 leads 3 epoch 3 at 4 hw 4", []),
        # An answer of the former term that was sent late.
        ("t4 follows 1 epoch 1 at 4 hw 2 from 2\nt6 acks 1 at 3 acks=all", []),
        # They stood in the next leader's log when it opened its epoch: a start that no line tells took them.
        ("t4 follows 1 epoch 2 at 1 hw 1 from 3\nt6 leads 3 epoch 2 at 4 hw 4", []),
        # It restarted in between: what it holds it copied.
        ("t3 loads 1 at 2\nt4 follows 1 epoch 1 at 2 hw 2 from 2", []),
    ],
)  # fmt: skip
def test_a_deposed_leader_writes_only_what_it_wrote_as_a_follower(history: str, said: list[Said]) -> None:
    assert violations("LEAD004", TWO_LEADERS + history) == said


@pytest.mark.parametrize(("log", "said"), [("0000|", [((1,), 2, 4, "certain")]), ("0a0a0a0a|", [])])
def test_a_log_that_has_no_batch_of_another_proves_nothing_of_a_deposed_leader(log: str, said: list[Said]) -> None:
    """Broker 3's folder may hold another partition's log, in which the same epoch wrote more."""
    drawing = f"""
        broker 1 0011|
        broker 2 0011|
        broker 3 {log}
        t0 loads 1 at 0
        t1 leads 1 epoch 0 at 0 hw 0
        t4 follows 1 epoch 1 at 2 hw 2 from 2
        t5 leads 2 epoch 1 at 2 hw 2
    """
    assert violations("LEAD004", drawing) == said


LED_TWICE = "t1 follows 2 epoch 0 at 0 hw 0 from 1\nt20000 leads 1 epoch 2 at 4 hw 4\n"
FOLLOWED = "t20001 follows 2 epoch 2 at 4 hw 4 from 1\nt20002 fetch 2@4 from 1 hw=4 epoch 2\n"
"""Broker 2 follows before it fetches: broker 1's clock is not so far ahead that an answer may precede the epoch."""


@pytest.mark.parametrize(("latest", "accused"), [(None, 1), (1, 0), (2, 0)])
def test_an_acknowledgement_that_may_be_of_a_later_lead_of_its_broker_is_not_held_against_it(
    latest: int | None, accused: int
) -> None:
    """It waited for all replicas, and may have been given when its leader led again."""
    told = read_sketch(TWO_LEADERS + LED_TWICE + FOLLOWED + "t9000 acks 1 at 3 acks=all").evidence
    moments = tuple(replace(m, latest_term=latest) if m.kind == "produced" else m for m in told.moments)
    found = BY_ID["LEAD004"].check(replace(told, chronicle=Chronicle(moments)))
    assert len([one for one in found if isinstance(one, Violation)]) == accused


@pytest.mark.parametrize(("time", "said"), [(9000, [((1,), 3, 4, "likely")]), (4000, [])])
def test_clocks_tell_that_an_acknowledgement_came_after_the_next_epoch(time: int, said: list[Said]) -> None:
    assert violations("LEAD004", TWO_LEADERS + LED_TWICE + FOLLOWED + f"t{time} acks 1 at 3 acks=all") == said
    assert violations("LEAD004", TWO_LEADERS + LED_TWICE + f"t{time} acks 1 at 3 acks=all") == []


ASSIGNED = "broker 1 00|\nbroker 2 00|\nbroker 3 00|\nt0 leader 1 epoch 0 isr 1,2,3 of 1,2,3\n"


@pytest.mark.parametrize(
    ("election", "leaders"),
    [
        ("t1 leader 3 epoch 1 isr 2,3 of 1,2,3", [(3,)]),
        ("t1 leader 2 epoch 1 isr 2,3 of 1,2,3", []),
        ("t1 leader 3 epoch 1 isr 3,2 of 3,2,1", []),  # a reassignment
        ("t1 leader 1 epoch 1 isr 1,2,3 of 1,2,3", []),  # the incumbent, with a new epoch
        ("t2 leader 3 epoch 1 isr 2,3 of 1,2,3", []),  # a state in between is missing
        ("t1 leader -1 epoch 1 isr 1 of 1,2,3\nt2 leader 1 epoch 2 isr 1 of 1,2,3", []),
        ("t1 leader 3 epoch 1 isr 2,3", []),  # the assignment is not told
    ],
)
def test_an_election_is_unexpected_only_against_the_assignment(election: str, leaders: list[tuple[int, ...]]) -> None:
    assert [said[0] for said in violations("LEAD005", ASSIGNED + election)] == leaders


AWAY = """
t1 fetch 3@2 from 1 hw=0
t10000 shrinks 1 from 1,2,3 to 1,2 at 6
t10001 isr 1 now 1,2 version 1
t20000 fetch 2@6 from 1 hw=2
t21000 fetch 2@6 from 1 hw=2
t22000 follows 1 epoch 1 at 6 hw 2 from 2
"""
ONE_IS_ENOUGH = "set min.insync.replicas 1"
STALLED = """
broker 1 000000|
broker 2 000000|
broker 3 0000|
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@4 from 1 hw=0
t2 acks 1 at 0 acks=all
t3 fetch 2@6 from 1 hw=4
"""


@pytest.mark.parametrize(
    ("history", "said"),
    [
        # It was in sync, and cannot pass for caught up any longer.
        (AWAY + "set replica.lag.time.max.ms 4000", [((1,), 2, 6, "certain")]),
        (AWAY, []),
        # Its own fetch was applied and everyone counted had reached 6.
        ("t4 fetch 2@6 from 1 hw=4\nt5 fetch 2@6 from 1 hw=4\n" + ONE_IS_ENOUGH, [((1,), 4, 6, "certain")]),
        # Nothing would tell if min.insync.replicas was raised since the acknowledgement.
        ("t4 fetch 2@6 from 1 hw=4\nt5 fetch 2@6 from 1 hw=4", []),
        ("t4 fetch 2@6 from 1 hw=6", []),
        # A follower outside the ISR that may pass for caught up.
        ("t1 fetch 3@0 from 1 hw=0\nt4 fetch 2@6 from 1 hw=4\nt5 fetch 2@6 from 1 hw=4\nt6 fetch 3@4 from 1 hw=4", []),
    ],
)
def test_a_high_watermark_is_late_only_against_everyone_counted(history: str, said: list[Said]) -> None:
    assert violations("HW006", "kafka 1 3.9.1" + STALLED + history) == said


CAME_BACK = """
broker 1 00 11 33|
broker 2 00 11 33|
t1 leads 1 epoch 0 at 0 hw 0
t2 leads 1 epoch 1 at 2 hw 2 isr 1
t3 acks 1 at 2 acks=all
t4 leads 2 epoch 2 at 2 hw 2 isr 2
t5 acks 2 at 2 acks=all
t6 leads 1 epoch 3 at 4 hw 4 isr 1
"""


def test_a_leader_that_comes_back_with_its_own_records_lacks_those_of_the_term_between() -> None:
    assert ((1,), 2, 3, "certain") in violations("LEAD001", CAME_BACK)
    # With the records of the term between, nothing is lacking.
    assert all(said[0] != (1,) for said in violations("LEAD001", CAME_BACK.replace("11", "22")))


def test_acknowledged_records_are_missing_where_the_last_leader_does_not_hold_them() -> None:
    assert violations("ACK001", CAME_BACK) == [((2,), 2, 3, "certain")]
    assert violations("ACK001", CAME_BACK.replace("11", "22")) == [((1,), 2, 3, "certain")]


RESTARTED = """
broker 1 0000 33|
broker 2 0000 33|
t1 leads 1 epoch 2 at 4 hw 4 isr 1,2
t2 fetch 2@4 from 1 hw=4
t3 acks 1 at 4 acks=all
t4 fetch 2@6 from 1 hw=6
t5 loads 1 at 4
t6 leads 1 epoch 2 at 4 hw 4 isr 1
t7 leads 1 epoch 3 at 4 hw 4 isr 1
"""


@pytest.mark.parametrize(
    ("next_role", "said"),
    [
        ("t3 leads 1 epoch 1 at 2 hw 2", []),
        # It follows by then: what it told in epoch 0 it had learnt in epoch 0.
        ("t3 follows 1 epoch 1 at 4 hw 2\nt3 leads 2 epoch 1 at 2 hw 2", [((2,), 2, 4, "certain")]),
    ],
)
def test_a_leader_that_goes_on_may_answer_in_the_name_of_its_former_epoch(next_role: str, said: list[Said]) -> None:
    drawing = "broker 1* 0011|\nbroker 2 0011|\nt1 leads 1 epoch 0 at 0 hw 0\n"
    assert violations("LEAD001", drawing + next_role + "\nt4 fetch 2@2 from 1 hw=4 epoch 0") == said


@pytest.mark.parametrize(("begins", "found"), [("t5 begins 1", set()), ("", {"HW003"})])
def test_a_deposed_leader_may_begin_anew_on_a_new_disk(begins: str, found: set[str]) -> None:
    drawing = f"""
        broker 1 0011|
        broker 2* 0011|
        t0 loads 1 at 0
        t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2 fetch 2@2 from 1 hw=0
        t3 fetch 2@2 from 1 hw=2
        {begins}
        t6 follows 1 epoch 1 at 0 hw 0 from 2
        t7 leads 2 epoch 1 at 2 hw 2 isr 2
    """
    assert {rule for rule in ("HW003", "HW004", "LEAD004") if violations(rule, drawing)} == found


def test_an_epoch_without_a_trace_is_harmless_only_where_nobody_was_told_that_it_wrote() -> None:
    drawing = "broker 1 000333|\nbroker 2 000333|\nt1 leads 1 epoch 1 at 3 hw 3\nt5 leads 2 epoch 3 at 3 hw 3"
    fates = [
        [v.facts["fate"] for v in BY_ID["EPOCH007"].check(evidence(drawing + answer)) if isinstance(v, Violation)]
        for answer in ("", "\nt2 acks 1 at 2 acks=all", "\nt2 acks 1 at 3 acks=1")
    ]
    harmless = ". That is harmless if no record was written then"
    written = (
        ". Broker 1 acknowledged records of epoch 1. These records are lost, or on a disk that is not in this dump."
        " ACK001 is the rule that judges whether they are lost. Nothing here tells of records of epoch 2"
    )
    assert fates == [[harmless], [harmless], [written]]


@pytest.mark.parametrize(
    ("log", "opened", "said"),
    [
        ("00001111222", 8, []),
        # Epoch 2 opened below the record that was sent to broker 2 again.
        ("00222222222", 2, [((2,), 2, 4, "certain")]),
    ],
)
def test_a_record_sent_again_to_the_next_leader_is_of_the_epoch_before(log: str, opened: int, said: list[Said]) -> None:
    drawing = f"""
        broker 2 00001111|
        broker 3* {log}|
        t1 leads 1 epoch 0 at 0 hw 0
        t4 leads 2 epoch 1 at 4 hw 2
        t5 acks 2 at 2 acks=all
        t9 leads 3 epoch 2 at {opened} hw {opened}
    """
    assert violations("ACK001", drawing) == said


def test_a_leader_started_again_in_its_own_epoch_is_judged_by_what_it_had_before() -> None:
    assert violations("HW003", RESTARTED) == violations("HW002", RESTARTED) == []
    assert violations("LEAD001", RESTARTED) == [((1,), 4, 6, "certain")]


LAGGING = """
kafka 1 3.9.1
set replica.lag.time.max.ms 10000
broker 1 000000|
broker 2 0000|
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@4 from 1 hw=0
"""
SHRUNK = "\nt99000 acks 1 at 70 acks=1\nt99999 shrinks 1 from 1,2 to 1 at 71"
AWAKE = "".join(f"\nt{time} acks 1 at {time // 1000} acks=1" for time in (54000, 58000, 62000))
EVER_BEHIND = """
t3 acks 1 at 9 acks=1
t15000 fetch 2@10 from 1 hw=4
t15001 acks 1 at 19 acks=1
t29000 fetch 2@20 from 1 hw=10
t29001 acks 1 at 29 acks=1
t43000 fetch 2@30 from 1 hw=20
t43001 acks 1 at 39 acks=1
"""
KEPT = [((1, 2), None, None, "certain")]
DROPPED = [((1, 2), None, None, "likely")]


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ("t3 acks 1 at 5 acks=1\nt50000 acks 1 at 6 acks=1" + AWAKE + SHRUNK, KEPT),
        # It stood still until then, and looks only now.
        ("t3 acks 1 at 5 acks=1\nt50000 acks 1 at 6 acks=1" + SHRUNK, []),
        # Not yet late: the leader looks every five seconds only.
        ("t3 acks 1 at 5 acks=1\nt14000 acks 1 at 6 acks=1" + SHRUNK, []),
        # At the leader's log end it stays for ever.
        ("t50000 fetch 2@4 from 1 hw=4" + SHRUNK, []),
        # It fetches, ever behind, and ever reaches what was the end at its former fetch.
        (EVER_BEHIND + SHRUNK, []),
        # Nothing behind it shows that a change of the ISR would have been told.
        ("t3 acks 1 at 5 acks=1\nt50000 acks 1 at 6 acks=1" + AWAKE, []),
        # The request log is silent for more than a minute: lines of it may be missing.
        ("t3 acks 1 at 5 acks=1\nt130000 acks 1 at 6 acks=1\nt175000 acks 1 at 7 acks=1"
         + SHRUNK.replace("t99", "t199"), []),
        # The leader asked, the controller let it wait.
        ("t3 acks 1 at 5 acks=1\nt16000 shrinks 1 from 1,2 to 1 at 6\nt50000 acks 1 at 6 acks=1" + AWAKE + SHRUNK, []),
        # Its log goes on for more than half a minute, and tells of no further fetch.
        ("t3 shrinks 1 from 1,2 to 1 at 4\nt31000 acks 1 at 4 acks=1", DROPPED),
        ("t3 shrinks 1 from 1,2 to 1 at 4\nt29000 acks 1 at 4 acks=1", []),
        ("t3 acks 1 at 5 acks=1\nt30000 shrinks 1 from 1,2 to 1 at 6", []),
        ("t3 shrinks 1 from 1,2 to 1 at 4\nt9 fetch 2@3 from 1 hw=3", []),  # it had lost its tail meanwhile
    ],
)  # fmt: skip
def test_the_isr_is_held_against_the_lag(history: str, said: list[Said]) -> None:
    assert violations("ISR002", LAGGING + history) == said


UNCLEAN_ELECTION = """
broker 1 0000|
broker 2 0011|
t1 leader 1 epoch 0 isr 1 of 1,2
t2 leader 2 epoch 1 isr 2 of 1,2
"""
LOST_ALONE = """
broker 1 0000|
broker 2 0011|
t1 leads 1 epoch 0 at 0 hw 0 isr 1
t3 acks 1 at 3 acks=all
t4 leads 2 epoch 1 at 2 hw 2 isr 2
"""
LOST_ONLY_COPY = """
broker 1 0011|
t1 leader 1 epoch 0 isr 1 of 1
t1 leads 1 epoch 0 at 0 hw 0
t3 acks 1 at 3 acks=all
t4 leads 1 epoch 1 at 2 hw 2
"""
REFUSED = """
broker 1 0000|
broker 2 0000|
t1 leader 1 epoch 0 isr 1,2 of 1,2
t2 acks 1 at -1 acks=all error 19
"""
DAMAGED = "broker 1 00!0|\nt1 leader 1 epoch 0 isr 1 of 1\n"
CUT_OLD = "broker 1 0000|\nbroker 2 0000|\nt1 loads 2 at 4\nt2 truncates 2 to 3\n"


@pytest.mark.parametrize(
    ("history", "setting", "brokers"),
    [
        (UNCLEAN_ELECTION, "unclean.leader.election.enable true", [(2,)]),
        (UNCLEAN_ELECTION, "unclean.leader.election.enable false", []),
        (LOST_ALONE, "min.insync.replicas 1", [(1,)]),
        (LOST_ALONE, "min.insync.replicas 2", []),
        (LOST_ONLY_COPY, "min.insync.replicas 1", [(1,)]),
        (LOST_ONLY_COPY.replace("of 1\n", "of 1,2\n"), "min.insync.replicas 2", []),
        (DAMAGED, "min.insync.replicas 1", [(1,)]),
        (DAMAGED.replace("!", ""), "min.insync.replicas 1", []),
        (DAMAGED.replace("of 1\n", "of 1,2\n"), "min.insync.replicas 1", []),
        (REFUSED, "min.insync.replicas 3", [(1,)]),
        (REFUSED, "min.insync.replicas 2", []),
        (CUT_OLD, "inter.broker.protocol.version 0.10.2-IV0", [(2,)]),
        (CUT_OLD, "inter.broker.protocol.version 1.1-IV0", []),
    ],
)
def test_a_setting_is_named_only_where_it_allowed_something(
    history: str, setting: str, brokers: list[tuple[int, ...]]
) -> None:
    assert [said[0] for said in violations("CONF001", f"set {setting}\n{history}")] == brokers


def test_a_leader_that_opens_its_epoch_again_with_less_lost_what_it_had_told() -> None:
    again = RESTARTED.replace("t7 leads 1 epoch 3 at 4 hw 4 isr 1", "t7 leads 2 epoch 3 at 5 hw 5 isr 2")
    assert violations("LEAD001", again) == [((1,), 4, 6, "certain")]


REASSIGNED = """
kafka 1 2.8.1
broker 1 00|
broker 2 00|
t1 leader 1 epoch 0 isr 1,2,3 of 1,2
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        # Broker 3's log begins with a restart: it may have been told 4 in epoch 1 itself.
        ("", "", []),
        # It followed in epoch 0 before that, and perhaps in epoch 1: the line of that role may be lost.
        ("t1 follows 3 epoch 0 at 0 hw 0\n", "", []),
        # Of epoch 1 it held nothing, as it had to cut all that epoch 1 did not begin with.
        ("t1 follows 3 epoch 0 at 0 hw 0\n", "\nt10 truncates 3 to 2", [((2,), 2, 4, "certain")]),
        # The first record of epoch 1 it may have held.
        ("t1 follows 3 epoch 0 at 0 hw 0\n", "\nt10 truncates 3 to 3", []),
    ],
)
def test_a_restart_before_the_role_that_a_log_shows_next_may_be_of_the_same_epoch(
    before: str, after: str, said: list[Said]
) -> None:
    drawing = "broker 2* 0011|\nbroker 3 0011|\nt5 leads 2 epoch 1 at 2 hw 2\n"
    loaded = "t8 loads 3 at 4\nt9 follows 3 epoch 1 at 4 hw 4"
    assert violations("LEAD001", drawing + before + loaded + after) == said


def test_the_last_order_of_a_reassignment_may_name_the_old_replicas() -> None:
    assert [said[0] for said in violations("BUG001", REASSIGNED)] == [(1,)]
    assert violations("BUG001", REASSIGNED + "t2 leader 1 epoch 1 isr 1,2 of 1,2\n") == []


@pytest.mark.parametrize(
    ("told", "leaders"), [("leader 2 epoch 0", [(1, 2)]), ("leader 1 epoch 0", []), ("leader 2 epoch 1", [])]
)
def test_what_clients_were_told_counts_among_who_led(told: str, leaders: list[tuple[int, ...]]) -> None:
    drawn = evidence(f"broker 1 00|\nbroker 2 00|\nt1 leads 1 epoch 0 at 0 hw 0\nt2 tells 3 {told}")
    named = replace(drawn, chronicle=Chronicle(tuple(replace(moment, topic_id="x") for moment in drawn.moments)))
    assert [said.brokers for said in BY_ID["EPOCH008"].check(named)] == leaders
    assert not list(BY_ID["EPOCH008"].check(drawn)), "of a topic without an id, a client may be told of an earlier life"


@pytest.mark.parametrize(
    ("second", "verdicts"),
    [
        ("t3 fetch 1@2 from 2 hw=2 epoch 0", ["Undecided"]),
        ("t3 fetch 1@2 from 2 hw=2 epoch 0\nt4 leads 2 epoch 0 at 2 hw 2", ["Violation"]),
        ("t3 leader 2 epoch 0 isr 1,2\nt4 fetch 2@2 from 3 hw=2 epoch 0", ["Violation"]),
        ("t3 fetch 1@2 from 2 hw=2 epoch 0 error 74", []),
    ],
)
def test_a_request_log_in_a_brokers_folder_alone_makes_no_second_leader(second: str, verdicts: list[str]) -> None:
    drawn = evidence(f"broker 1 00|\nbroker 2 00|\nt1 leads 1 epoch 0 at 0 hw 0\n{second}")
    said = list(BY_ID["EPOCH008"].check(drawn))
    assert [type(one).__name__ for one in said] == verdicts
    assert all(one.brokers == (1, 2) for one in said)


BEYOND = "broker 1 0000 ; hw 6\nbroker 2 000000|\nt1 loads 1 at 6\n"


@pytest.mark.parametrize(
    ("release", "cut", "severity"),
    [
        ("2.3.1", "t2 truncates 1 to 4", Severity.LOW),
        ("2.3.1", "t2 truncates 1 to 3", Severity.HIGH),
        ("2.4.1", "t2 truncates 1 to 4", Severity.HIGH),
    ],
)
def test_a_cut_left_the_high_watermark_alone_up_to_2_3(release: str, cut: str, severity: Severity) -> None:
    (said,) = BY_ID["HW001"].check(evidence(f"kafka 1 {release}\n{BEYOND}{cut}"))
    assert isinstance(said, Violation)
    assert (said.severity, said.start_offset, said.end_offset) == (severity, 4, 6)


ROTATED = """
broker 1 0000 2222 3333|
broker 2 0000 2222 3333|
broker 3 0000 2222 3333|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 4 acks=all
t2 fetch 3@8 from 1 hw=8 epoch 0
t9 leads 3 epoch 3 at 6 hw 6
"""


def test_an_opening_that_no_log_tells_is_read_from_the_disks() -> None:
    assert [(b, start) for b, start, _, _ in violations("LEAD001", ROTATED)] == [((), 4)]


def test_answers_are_the_openers_own_and_of_the_term_that_it_told() -> None:
    # Broker 2's role lines begin with epoch 3: what it answered before is of an older term, nobody knows which.
    history = "\nt1 leads 1 epoch 1 at 4 hw 4\nt2 acks 2 at 5 acks=all\nt8 follows 2 epoch 3 at 8 hw 8\n"
    drawing = "broker 1 0000 1111 3333|\nbroker 2 0000 1111 3333|" + history
    assert violations("ACK001", drawing) == violations("LEAD001", drawing) == []


@pytest.mark.parametrize("end", [4, 0])
def test_a_log_that_grew_after_a_start_was_told_a_high_watermark_by_somebody(end: int) -> None:
    drawing = f"kafka 2 2.4.1\nbroker 1 0000|\nbroker 2 0000|\nt1 loads 2 at 0\nt5 loads 2 at {end}\n"
    (told,) = evidence(drawing + "t6 leads 2 epoch 1 at 4 hw 4").replayed.told_watermarks
    assert told.expected.high is not None
    assert (told.expected.high.offset, told.standing) == (4, "inside")


ELECTED = "broker 1 0000|\nbroker 2 0000|\nt0 leader 1 epoch 0 isr 1\nt0 leads 1 epoch 0 at 0 hw 0\n"


@pytest.mark.parametrize(
    ("history", "severity"),
    [
        # Outside the ISR: what was lost, what may have been, and nothing of what is known.
        ("t1 acks 1 at 3 acks=all\nt1 leader 2 epoch 1 isr 2\nt2 leads 2 epoch 1 at 2 hw 2", Severity.HIGH),
        ("t1 acks 1 at 3 acks=1\nt1 leader 2 epoch 1 isr 2\nt2 leads 2 epoch 1 at 2 hw 2", Severity.HIGH),
        ("t1 leader 2 epoch 1 isr 2", Severity.MEDIUM),
        ("t1 leader 2 epoch 1 isr 2\nt2 leads 2 epoch 1 at 4 hw 4", Severity.MEDIUM),
        ("t1 acks 1 at 3 acks=1\nt1 leader 2 epoch 1 isr 2\nt2 leads 2 epoch 1 at 4 hw 4", Severity.MEDIUM),
        # The last known leader, when nobody is left in sync.
        ("t1 leader -1 epoch 1 isr\nt2 leader 1 epoch 2 isr 1", Severity.LOW),
        (
            "t1 acks 1 at 3 acks=1\nt1 leader -1 epoch 1 isr\nt2 leader 1 epoch 2 isr 1\nt3 leads 1 epoch 2 at 4 hw 4",
            Severity.LOW,
        ),
    ],
)
def test_an_unclean_election_is_as_grave_as_its_cost(history: str, severity: Severity) -> None:
    said = [v for v in BY_ID["LEAD002"].check(evidence(ELECTED + history)) if isinstance(v, Violation)]
    assert [v.severity for v in said] == [severity]


@pytest.mark.parametrize(
    ("start", "cost"),
    [
        (0, "broker 2 lacked offsets 2–3, which were written"),
        (3, "broker 2 lacked offset 3, which was written"),
        (4, "broker 2 opened epoch 1 at 2 with all that is known to have been written, but for what had been deleted"),
    ],
)
def test_what_had_been_deleted_is_nothing_that_an_unclean_election_lacked(start: int, cost: str) -> None:
    told = f"t1 acks 1 at 3 acks=1\nt1 fetch 3@4 from 1 hw=2 start={start}\n"
    drawn = f"{ELECTED}{told}t1 leader 2 epoch 1 isr 2\nt2 leads 2 epoch 1 at 2 hw 2\n"
    (said,) = (v for v in BY_ID["LEAD002"].check(evidence(drawn)) if isinstance(v, Violation))
    assert said.facts["cost"] == cost


@pytest.mark.parametrize(
    ("between", "cost"),
    [
        ("t2 leads 3 epoch 1 at 2 hw 2\n", "broker 2 opened epoch 2 at 2 with all that the leader before it had"),
        ("t2 leads 3 epoch 1 at 4 hw 2\n", "broker 2 lacked offsets 2–3, which were written"),
        ("", "it is not known whether broker 2 lacked offsets 2–3, or a leader before it did already"),
    ],
)
def test_an_unclean_election_lacked_only_what_the_leader_before_it_had(between: str, cost: str) -> None:
    begun = ELECTED.replace("0000", "00") + "t1 acks 1 at 3 acks=1\nt2 leader 3 epoch 1 isr 3\n"
    drawn = begun + between + "t3 leader 2 epoch 2 isr 2\nt3 leads 2 epoch 2 at 2 hw 2\n"
    (said,) = (v for v in BY_ID["LEAD002"].check(evidence(drawn)) if isinstance(v, Violation) and v.brokers == (2,))
    assert said.facts["cost"] == cost


BY_WATERMARK = """
broker 1 0000|
broker 2 0000|
t1 leads 1 epoch 0 at 0 hw 0
t2 loads 2 at 4
t3 follows 2 epoch 0 at 4 hw 3 from 1
t4 cuts 2 to 3 by hw
t5 truncates 2 to 3
"""


@pytest.mark.parametrize(
    ("kind", "accused"), [("cut-by-high-watermark", True), ("epoch-answer-unknown", False)]
)
def test_a_follower_that_asked_in_an_epoch_that_its_leader_never_had_is_not_judged_by_what_stands_now(
    kind: str, accused: bool
) -> None:
    drawn = evidence(BY_WATERMARK)
    moments = tuple(replace(m, kind=kind) if m.kind == "cut-by-high-watermark" else m for m in drawn.moments)
    said = list(BY_ID["TRUNC003"].check(replace(drawn, chronicle=Chronicle(moments))))
    assert [isinstance(one, Violation) for one in said] == [accused]


LACKED = "broker 1 00|11\nbroker 2 00|11\nt1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 3 acks=all\n"


@pytest.mark.parametrize(
    ("history", "asked"),
    [
        ("t3 leads 2 epoch 1 at 2 hw 2", [(2,)]),
        ("t3 leads 2 epoch 1 at 4 hw 2", []),
        ("t1 leader 1 epoch 0 isr 1,2\nt2 leader 2 epoch 1 isr 2\nt3 leads 2 epoch 1 at 2 hw 2", []),
    ],
)
def test_whether_a_leader_that_lacked_records_was_in_sync_is_asked_where_nothing_tells(
    history: str, asked: list[tuple[int, ...]]
) -> None:
    said = list(BY_ID["LEAD002"].check(evidence(LACKED + history)))
    assert [u.brokers for u in said if isinstance(u, Undecided) and not u.blocking] == asked
    assert not [v for v in said if isinstance(v, Violation)]


def test_a_clean_election_that_the_controller_recorded_is_not_asked_for() -> None:
    drawn = evidence(LACKED + "t1 leader 1 epoch 0 isr 1,2\nt2 leader 2 epoch 1 isr 2\nt3 leads 2 epoch 1 at 2 hw 2")
    recorded = {"clock": "controller", "previous_isr": (1, 2)}
    moments = tuple(replace(m, **recorded) if m.kind == "leadership" else m for m in drawn.moments)
    assert not list(BY_ID["LEAD002"].check(replace(drawn, chronicle=Chronicle(moments))))


def test_an_unclean_election_names_who_was_eligible_right_before_it() -> None:
    drawn = evidence(ELECTED + "t1 leader -1 epoch 1 isr\nt2 leader 2 epoch 2 isr 2")
    named = "the eligible leader replicas were brokers 1 and 3. "
    for eligible, said in (((1,), "the eligible leader replica was broker 1. "), ((1, 3), named), ((), "")):
        moments = (
            replace(m, elr=eligible if m.epoch == 1 else None) if m.kind == "leadership" else m for m in drawn.moments
        )
        (told,) = BY_ID["LEAD002"].check(replace(drawn, chronicle=Chronicle(tuple(moments))))
        assert isinstance(told, Violation)
        lacked = "it is not known what broker 2 lacked"
        assert str(told.facts["cost"]) == said + (capital(lacked) if said else lacked)
        assert told.facts["outside"] == "while the ISR was empty"


def test_an_acknowledgement_is_lost_by_the_opening_that_had_it_not_though_it_be_of_its_own_epoch() -> None:
    drawn = "broker 1* 00 33|\nt1 leads 1 epoch 2 at 2 hw 2\nt2 acks 1 at 4 acks=all\nt3 leads 1 epoch 3 at 5 hw 5\n"
    drawn += "t4 acks 1 at 5 acks=all\nt5 leads 1 epoch 3 at 2 hw 2\nt6 leads 2 epoch 4 at 4 hw 4\n"
    said = [v.facts["instead"] for v in BY_ID["ACK001"].check(evidence(drawn)) if isinstance(v, Violation)]
    ended = "with log end offset 2 (last offset 1), and so without them"
    assert said == [f"broker 1 then {led} {ended}" for led in ("became leader in epoch 3", "opened epoch 3 once more")]


GIVEN_UP = "broker 1 0000|\nbroker 2 00{}\nt1 leader 1 epoch 0 isr 1,2\nt2 leads 1 epoch 0 at 0 hw 0\n"


@pytest.mark.parametrize(
    ("disk", "said"),
    [
        ("|", [((2,), 2, 4, "certain")]),
        ("| ; epochs 0@0 3@2", []),  # an election lost what lay beyond, which no member of the ISR lacks
        ("| ; epochs 0@0", [((2,), 2, 4, "certain")]),
    ],
)
def test_what_a_newer_epoch_on_disk_gave_up_is_no_members_lack(disk: str, said: list[Said]) -> None:
    assert violations("ISR001", GIVEN_UP.format(disk) + "t3 fetch 2@4 from 1 hw=4\nt4 acks 1 at 3 acks=all") == said


@pytest.mark.parametrize(
    ("later", "missing"),
    [
        # its leader's logs are not here
        (
            "t5 leader 2 epoch 1 isr 2",
            ["the state-change.log (Kafka 2.5 and older: server.log) of the leader of epoch 1"],
        ),
        ("t5 leader 2 epoch 1 isr 2\nt6 leads 2 epoch 1 at 4 hw 2", []),
        ("t5 leader -1 epoch 1 isr 1,2", []),  # nobody led it
    ],
)
def test_what_an_untold_epoch_may_have_given_up_is_no_certain_lack(later: str, missing: list[str]) -> None:
    told = GIVEN_UP.format("|") + "t3 fetch 2@4 from 1 hw=4\nt4 acks 1 at 3 acks=all\n" + later
    said = [one for one in BY_ID["ISR001"].check(evidence(told)) if isinstance(one, Undecided)]
    assert [one.missing.partition(",")[0] for one in said] == missing
    assert bool(violations("ISR001", told)) != bool(missing)


def test_no_table_has_a_broker_meet_itself() -> None:
    history = "t0 follows 1 epoch 1 at 4 hw 2 from 2\nt1 leads 1 epoch 1 at 4 hw 2\nt2 truncates 1 to 2\n"
    drawn = evidence("kafka 1 1.0.2\nbroker 1 00|\nbroker 2 0011|\n" + history)
    assert all(done.leader != done.cut.broker for done in reconciliations(drawn))
    assert all(table.leader != table.follower for table in cut_tables(drawn))


STOPPED = """
broker 1 0000 {next}{next}|
broker 2 0000 {next}{next}|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 4 acks=all
{saved}t4 leads 2 epoch {next} at 4 hw 4
"""


@pytest.mark.parametrize(
    ("saved", "next_epoch", "end"),
    [("", 1, 5), ("t3 saves 1 at 7\n", 1, 7), ("t3 saves 1 at 7\n", 2, 5), ("t3 saves 2 at 4\n", 1, 5)],
)
def test_where_a_leader_saved_its_producers_state_its_last_batch_ended(saved: str, next_epoch: int, end: int) -> None:
    """Of an epoch in between nobody tells who led it: what the broker saved may be of that one."""
    assert violations("ACK001", STOPPED.format(saved=saved, next=next_epoch)) == [((1,), 4, end, "certain")]


@pytest.mark.parametrize("again", ["t11 leads 1 epoch 0 at 4 hw 2 isr 1,2", ""])
@pytest.mark.parametrize("rule", ["HW002", "HW006"])
def test_a_role_taken_again_after_a_restart_opens_no_epoch(rule: str, again: str) -> None:
    """The line that opened the epoch is lost: what the broker had in its former life bounds nothing behind it."""
    drawing = f"""
        kafka 1 2.6.3
        broker 1 000000|
        broker 2 000000|
        t2 fetch 2@0 from 1 hw=0 epoch 0
        t3 acks 1 at 5 acks=all
        t4 fetch 2@6 from 1 hw=6 epoch 0
        t10 loads 1 at 4
        {again}
        t12 fetch 2@4 from 1 hw=2 epoch 0
        t13 fetch 2@4 from 1 hw=2 epoch 0
    """
    assert violations(rule, drawing) == []
    fell = ((1,), 2, 6 if rule == "HW002" else 4, "certain")
    assert violations(rule, drawing.replace("t10 loads 1 at 4", "")) == [fell]


@pytest.mark.parametrize("restart", ["begins 1", "loads 1 at 2"])
@pytest.mark.parametrize("rule", ["ACK002", "HW006"])
def test_before_a_restart_an_answer_that_names_no_epoch_may_be_of_an_older_one(rule: str, restart: str) -> None:
    """The lines of the roles that broker 1 had before epoch 3 are lost."""
    drawing = f"""
        kafka 1 3.9.1
        broker 1 22|
        broker 2* 22|
        t1 leader 1 epoch 2 isr 1
        t4 acks 1 at 5 acks=all
        t10 {restart}
        t12 fetch 2@2 from 1 hw=0 epoch 2
        t13 fetch 2@2 from 1 hw=2 epoch 2
        t20 follows 1 epoch 3 at 2 hw 2
        t20 leads 2 epoch 3 at 2 hw 2
    """
    assert violations(rule, drawing) == []
    assert [*BY_ID[rule].check(evidence(drawing))]


KILLED = """
broker 1 0001|
broker 2 0001|
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 0 acks={acks}
{stopped}
t6 leads 2 epoch 1 at 3 hw 2
t7 loads 1 at 5
t8 follows 1 epoch 1 at 5 hw 2 from 2
t9 truncates 1 to 3
{later}
"""
LATER = "t10 acks 1 at 5 acks=all error 6"


@pytest.mark.parametrize(
    ("acks", "stopped", "later", "said"),
    [
        # The answer for what it had appended last may have gone out before its request log had a line of it.
        ("1", "", LATER, [((1,), 3, 5, True)]),
        # All that are seen wait for all replicas; the answer that is in no log may have been another's.
        ("all", "", LATER, [((1,), 3, 5, False)]),
        # Nothing of its request log shows that it is whole up to the kill.
        ("all", "", "", [((1,), 3, 5, True)]),
        # It answered on, in the same life: nothing of what it had told before is missing.
        ("1", "t3 follows 1 epoch 1 at 5 hw 2 from 2", LATER, []),
    ],
)
def test_what_a_killed_leader_wrote_last_may_have_been_acknowledged(
    acks: str, stopped: str, later: str, said: list[tuple[tuple[int, ...], int | None, int | None, bool]]
) -> None:
    open_questions = BY_ID["ACK001"].check(evidence(KILLED.format(acks=acks, stopped=stopped, later=later)))
    named = [q for q in open_questions if isinstance(q, Undecided)]
    assert [(q.brokers, q.start_offset, q.end_offset, q.blocking) for q in named] == said


def test_a_leader_without_any_log_leaves_open_what_it_acknowledged() -> None:
    silent = "broker 1 0001|\nbroker 2 0001|\nt1 leader 1 epoch 0 isr 1,2\n"
    silent += "t6 leads 2 epoch 1 at 3 hw 3\n"
    # None of its logs is here: where no producer is seen that does not wait for all, the scope says so.
    for answers, blocking in (("t7 acks 2 at 3 acks=1", True), ("t7 acks 2 at 3 acks=all", False), ("", False)):
        (question,) = (q for q in BY_ID["ACK001"].check(evidence(silent + answers)) if isinstance(q, Undecided))
        assert (question.brokers, question.blocking) == ((1,), blocking)


@pytest.mark.parametrize(
    ("sessions", "later", "said"),
    [
        ((7, 7), "", [((1,), 3, 4, "certain")]),
        # No session outlives its broker, and nothing tells that it was not restarted.
        ((7, 8), "", []),
        ((7, 8), "\nt9 shrinks 1 from 1,2 to 1 at 4", [((1,), 3, 4, "certain")]),
    ],
)
def test_a_leader_may_be_restarted_between_two_sessions_where_its_log_ends(
    sessions: tuple[int, int], later: str, said: list[Said]
) -> None:
    told = evidence("broker 1 0000|\nbroker 2 0000|\nt1 leads 1 epoch 0 at 0 hw 0\n"
                    "t2 fetch 2@4 from 1 hw=4\nt3 fetch 2@4 from 1 hw=3" + later)  # fmt: skip
    of = iter(sessions)
    moments = tuple(replace(m, session=next(of)) if m.kind == "fetched" else m for m in told.moments)
    found = tuple(BY_ID["HW002"].check(replace(told, chronicle=Chronicle(moments))))
    assert [(v.brokers, v.start_offset, v.end_offset, v.confidence) for v in found if isinstance(v, Violation)] == said


@pytest.mark.parametrize(
    ("states", "fate"),
    [
        ((-1, -1), ". That is harmless: nobody led in epochs 1 and 2, as the controllers tell"),
        (
            (2, -1),
            ". That is harmless if no record was written then. Nobody led in epoch 2, as the controllers tell",
        ),
        ((2, 2), ". That is harmless if no record was written then"),
    ],
)
def test_no_leader_is_supposed_of_an_epoch_that_nobody_led(states: tuple[int, int], fate: str) -> None:
    drawn = "broker 1 0000 33|\nbroker 2 0000 33|\nt1 leader 1 epoch 0 isr 1,2\n"
    drawn += "".join(f"t{e + 1} leader {leader} epoch {e} isr 1,2\n" for e, leader in enumerate(states, start=1))
    told = evidence(f"{drawn}t4 leader 1 epoch 3 isr 1,2\n")
    (said,) = (v for v in BY_ID["EPOCH007"].check(told) if isinstance(v, Violation))
    assert said.facts["fate"] == fate


@pytest.mark.parametrize(
    ("end", "fate"), [(6, ". The leader of epoch 1 had log end offset 6."), (4, ". That is harmless")]
)
def test_an_epoch_without_trace_is_no_idle_one_where_its_leader_had_written(end: int, fate: str) -> None:
    drawn = "broker 1 0000 22|\nbroker 2 0000 22|\nt1 leader 1 epoch 0 isr 1,2\nt2 leader 2 epoch 1 isr 1,2\n"
    drawn += f"t3 fetch 1@{end} from 2 hw=4 epoch 1\nt4 leader 1 epoch 2 isr 1,2\n"
    (said,) = (v for v in BY_ID["EPOCH007"].check(evidence(drawn)) if isinstance(v, Violation))
    assert str(said.facts["fate"]).startswith(fate)


UNDER_MIN_ISR = """
kafka 1 3.9.1
set min.insync.replicas 2
broker 1 0000|
broker 2 00|
t0 leader 1 epoch 0 isr 1,2 of 1,2
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t2 fetch 2@2 from 1 hw=0
t3 fetch 2@2 from 1 hw=2
t5 isr 1 now 1
t6 serve 2 from 1 hw=4
t7 fetch 2@2 from 1 hw=4
"""


@pytest.mark.parametrize(
    ("told", "instead", "said"),
    [
        ("", "", [((1,), 2, 4, "certain")]),
        ("3.9.1", "3.7.0", [((1,), 2, 4, "certain")]),
        # Up to 3.6 the leader advances alone, and so it does where one in sync is enough.
        ("3.9.1", "3.6.2", []),
        ("replicas 2", "replicas 1", []),
        # What counts is the smaller of the setting and of the assignment, which may be one replica by now.
        (" of 1,2", "", []),
        ("replicas 2", "replicas 3", [((1,), 2, 4, "certain")]),
        # It may have been asked for offset 4 by the one that left the ISR, before that was over.
        ("t7 fetch 2@2 from 1 hw=4", "", []),
    ],
)
def test_a_high_watermark_rests_below_min_insync_replicas_since_3_7(told: str, instead: str, said: list[Said]) -> None:
    drawing = UNDER_MIN_ISR.replace(told, instead, 1)
    assert violations("HW003", drawing) == said
    (why,) = {v.facts["because"] for v in BY_ID["HW003"].check(evidence(drawing)) if isinstance(v, Violation)} or {""}
    assert ("the high watermark rests while fewer than 2 are in sync" in str(why)) is bool(said)


FENCED = "t2 leader 1 epoch 0 isr 1,2 of 1,2,3 elr 3 record"
UNDER_ELR = f"""
kafka 1 4.0.0
set min.insync.replicas 2
broker 1 0000|
broker 2 0000|
broker 3 00|
t1 leader 1 epoch 0 isr 1,2,3 of 1,2,3 record
t2 leads 1 epoch 0 at 0 hw 0 isr 1,2,3 version 1
t3 fetch 3@2 from 1 hw=0
t4 fetch 2@4 from 1 hw=2
{FENCED}
t6 fetch 2@4 from 1 hw=4
t7 fetch 3@2 from 1 hw=4
"""


@pytest.mark.parametrize(
    ("told", "instead", "said"),
    [
        # The controller leaves out of the ISR whom it fences, and lists it as eligible: nobody waits for it.
        ("", "", []),
        (FENCED, "", [((1,), 2, 4, "certain")]),
        (f"{FENCED}\n", "t2 leader 1 epoch 0 isr 1,2,3 of 1,2,3 record\n", [((1,), 2, 4, "likely")]),
        # A leader that names a partition epoch has a controller that may have told of it, in a log that is not here.
        ("t1 leader 1 epoch 0 isr 1,2,3 of 1,2,3 record\n", "", []),
    ],
)
def test_a_leader_under_kraft_waits_for_whom_its_controller_left_in_sync(
    told: str, instead: str, said: list[Said]
) -> None:
    assert violations("HW003", UNDER_ELR.replace(told, instead, 1)) == said


def test_of_a_leader_under_kraft_without_the_metadata_log_nothing_is_certain() -> None:
    drawing = "\n".join(line for line in UNDER_ELR.splitlines() if "record" not in line)
    assert violations("HW003", drawing) == []
    assert violations("HW003", drawing.replace(" version 1", "")) == [((1,), 2, 4, "certain")]


@pytest.mark.parametrize("rule", ["HW002", "HW006"])
@pytest.mark.parametrize(
    ("arrived", "ends"),
    [
        # On the connection on which the higher answer went: it was asked for when that one was logged.
        (4001, 30),
        # The follower's former connection: its answer, which nobody took, is logged when the broker sees that.
        (3000, None),
    ],
)
def test_an_answer_that_nobody_took_is_logged_behind_later_ones(rule: str, arrived: int, ends: int | None) -> None:
    drawn = evidence("""
        kafka 1 3.9.1
        broker 1 0x40|
        broker 2 0x40|
        t1000 leads 1 epoch 0 at 0 hw 0 isr 1,2
        t2000 fetch 2@20 from 1 hw=0
        t3000 fetch 2@30 from 1 hw=20
        t4000 fetch 2@30 from 1 hw=30
        t5000 fetch 2@30 from 1 hw=20
        """)
    *early, last = drawn.moments
    told = (*early, replace(last, arrived=arrived, taken_in=arrived, answered=arrived))
    said = BY_ID[rule].check(replace(drawn, chronicle=Chronicle(told)))
    found = [(v.start_offset, v.end_offset) for v in said if isinstance(v, Violation)]
    assert found == [(20, ends)] * (ends is not None)


FROZEN = """
    kafka 1 3.9.1
    set replica.lag.time.max.ms 10000
    broker 1 000000|
    broker 2 0000|
    broker 3 000000|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2,3
    t2 fetch 2@4 from 1 hw=0
    t3 acks 1 at 5 acks=1
    t50000 acks 1 at 6 acks=1
    t50001 fetch 3@7 from 1 hw=4
    t62002 acks 1 at 7 acks=1
    t99000 acks 1 at 8 acks=1
    t99001 shrinks 1 from 1,2,3 to 1,3 at 9
"""


@pytest.mark.parametrize(
    ("asked", "steady", "kept"),
    [(2, [(0, 100_000)], 0), (25, [(0, 100_000)], 1), (25, [(0, 56_000), (60_500, 100_000)], 1),
     (99, [(0, 50_500), (61_500, 100_000)], 0)],
)  # fmt: skip
def test_a_leader_that_stood_still_between_two_equal_answers_kept_nobody(
    asked: int, steady: list[tuple[int, int]], kept: int
) -> None:
    """Equal answers are told by the first and the last of them: too few of them hide a silence.

    Many may be of a busy moment: a fetch of several partitions is answered as soon as one has something new. So does a
    silence of all that the leader wrote.
    """
    drawn = replace(read_sketch(FROZEN).evidence, steady={"broker 1": steady})
    moments = tuple(
        replace(m, count=asked, last_time=m.time + 12_000) if m.kind == "fetched" and m.broker == 3 and m.time else m
        for m in drawn.moments
    )
    told = [v for v in BY_ID["ISR002"].check(replace(drawn, chronicle=Chronicle(moments))) if isinstance(v, Violation)]
    assert len(told) == kept


@pytest.mark.parametrize(
    ("steady", "dropped"),
    [([(1, 70_000)], 1), ([(1, 4), (69_000, 70_000)], 0), ([(1, 12_000), (69_000, 70_000)], 1), ([(1, 4)], 0)],
)
def test_a_log_that_falls_silent_behind_a_smaller_isr_may_lack_the_next_fetch(
    steady: list[tuple[int, int]], dropped: int
) -> None:
    history = LAGGING + "t3 shrinks 1 from 1,2 to 1 at 4\nt9000 fetch 2@4 from 1 hw=4"
    if steady[0][1] < 9000:
        history = history.rpartition("\n")[0]
    drawn = replace(read_sketch(history).evidence, steady={"broker 1": steady})
    assert sum(isinstance(each, Violation) for each in BY_ID["ISR002"].check(drawn)) == dropped


@pytest.mark.parametrize(("start", "said"), [(0, [(2, 6)]), (3, [(3, 6)]), (6, [])])
def test_what_retention_had_deleted_is_no_part_of_what_a_cut_removed(start: int, said: list[tuple[int, int]]) -> None:
    """The leader of the epoch tells where its log begins, in its answers too."""
    drawn = f"""
        broker 1 001111|
        broker 2 001111|
        t1 leads 1 epoch 0 at 0 hw 0
        t2 fetch 2@6 from 1 hw=6 start {start}
        t3 leads 2 epoch 1 at 2 hw 2
        t4 follows 1 epoch 1 at 6 hw 6 from 2
        t5 truncates 1 to 2
    """
    assert [told[1:3] for told in violations("TRUNC001", drawn)] == said


@pytest.mark.parametrize(("start", "said"), [(0, [(2, 4)]), (3, [(3, 4)]), (6, [])])
def test_what_a_later_leader_had_deleted_is_no_part_of_a_cut(start: int, said: list[tuple[int, int]]) -> None:
    """Broker 3 died with records that broker 1 led on with and deleted, before broker 2 led without any of them."""
    drawn = f"""
        broker 1 003311|
        broker 2 0033|
        broker 3 0033|
        t1 leads 3 epoch 0 at 0 hw 0
        t2 fetch 1@4 from 3 hw=4
        t3 leads 1 epoch 1 at 4 hw 4
        t4 fetch 2@6 from 1 hw=6 epoch 1 start {start}
        t5 leads 2 epoch 3 at 2 hw 2
        t6 follows 3 epoch 3 at 4 hw 4 from 2
        t7 truncates 3 to 2
    """
    assert [told[1:3] for told in violations("TRUNC001", drawn)] == said


@pytest.mark.parametrize("latest", [None, 2])
def test_what_was_deleted_in_one_of_two_epochs_counts_from_the_older_one_on(latest: int | None) -> None:
    """Broker 1 may have taken one more role before it deleted; it tells of no cut between, so it had the records."""
    drawn = read_sketch("""
        broker 1 003311|
        broker 2 0033|
        broker 3 0033|
        t1 leads 3 epoch 0 at 0 hw 0
        t2 fetch 1@4 from 3 hw=4
        t3 leads 1 epoch 1 at 4 hw 4
        t4 starts 1 at 6
        t5 leads 2 epoch 3 at 2 hw 2
        t6 follows 3 epoch 3 at 4 hw 4 from 2
        t7 truncates 3 to 2
    """).evidence
    moments = tuple(replace(m, latest_term=latest) if m.kind == "log-start-moved" else m for m in drawn.moments)
    told = BY_ID["TRUNC001"].check(replace(drawn, chronicle=Chronicle(moments)))
    assert not [each for each in told if isinstance(each, Violation)]


@pytest.mark.parametrize(("start", "said"), [(0, [(2, 5)]), (4, [(4, 5)]), (6, [])])
def test_a_cut_removed_nothing_below_where_its_own_log_began(start: int, said: list[tuple[int, int]]) -> None:
    """In which epochs it cut nothing tells: its own log tells all the same where it began when it was loaded."""
    drawn = f"""
        broker 1 0033|
        broker 2 0033|
        t1 leads 1 epoch 0 at 0 hw 0
        t5 loads 1 at 6 start {start}
        t6 follows 1 epoch 3 at 6 hw 5 from 2
        t7 truncates 1 to 2
    """
    assert [told[1:3] for told in violations("TRUNC001", drawn)] == said


@pytest.mark.parametrize(("moved", "kept"), [(False, 1), (True, 0)])
def test_a_log_start_that_moves_shows_no_request_log_that_goes_on(moved: bool, kept: int) -> None:
    """Retention deletes every few seconds, and server.log says so, whatever followers ask meanwhile."""
    drawn = read_sketch(LAGGING + "t3 acks 1 at 5 acks=1\nt50000 acks 1 at 6 acks=1" + AWAKE + SHRUNK).evidence
    moments = tuple(
        statement("log-start-moved", clock=m.clock, time=m.time, span=m.span, term=m.term, broker=1, leader=1)
        if moved and m.kind == "produced" and (m.time or 0) > 3
        else m
        for m in drawn.moments
    )
    told = [v for v in BY_ID["ISR002"].check(replace(drawn, chronicle=Chronicle(moments))) if isinstance(v, Violation)]
    assert len(told) == kept


def test_who_may_have_joined_just_now_has_not_lagged() -> None:
    """Until then it was not surely a member: whoever is none may be as late as it likes."""
    drawing = LAGGING + "t3 acks 1 at 5 acks=1\nt50000 acks 1 at 50 acks=1" + AWAKE + SHRUNK
    (course,) = read_sketch(drawing).evidence.replayed.courses
    unsure = (frozenset({1}), frozenset({1, 2}))
    rows = tuple(replace(row, isr=unsure if (row.moment.time or 0) < 62_000 else row.isr) for row in course.rows)
    late = [
        [lag.milliseconds > 0 for row, found in lags(each) if row.moment.time == 62_000 for lag in found]
        for each in (course, replace(course, rows=rows))
    ]
    assert late == [[True], [False]]


@pytest.mark.parametrize(
    ("between", "brokers", "open_before"),
    [
        ("t2 leader 3 epoch 1 isr 3\n", (), True),
        ("t2 leads 3 epoch 1 at 4 hw 4\n", (2,), False),
        ("t2 leader 1 epoch 1 isr 1\n", (2,), False),
        ("", (2,), False),
    ],
)
def test_who_opened_first_below_what_was_committed_is_open_where_nothing_tells_of_an_opening_between(
    between: str, brokers: tuple[int, ...], open_before: bool
) -> None:
    """A leader of the same log has what it told to be committed."""
    led = "broker 1 00|22\nbroker 2 00|22\nt1 leads 1 epoch 0 at 0 hw 0\nt1 fetch 2@4 from 1 hw=4\n"
    drawn = evidence(f"{led}{between}t3 leads 2 epoch 2 at 2 hw 2\n")
    (said,) = (v for v in BY_ID["LEAD001"].check(drawn) if isinstance(v, Violation))
    assert said.brokers == brokers
    assert ("lacked records there first" in str(said.facts["because"])) == open_before
