"""Advice: whom to elect at what cost, what a return destroys, and when to say no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.advice.advice_files import before_election
from rules.advice import Advice, Candidate, Gate, advise, gate_words, starts, told_gates, where_gravest
from rules.advice.gates import ROLLING
from rules.catalog import RULES
from rules.evidence import PartitionEvidence
from rules.judging.judge import judge
from rules.loss.incurred import losses
from rules.sketch.notation import read_sketch
from rules.zoom.differences import with_differences
from rules.zoom.headers import with_believed_headers
from tests.replaced import replace

NEW = "kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\nkafka 3 3.9.1 ibp 3.9\n"
ODD_HEADER = "broker 1 0000000|\nbroker 2 0005000| ; epochs 0@0\nbroker 3 0000000|\n"
DEPOSED = NEW + "broker 1 0000000|\nbroker 2 0000111|\nbroker 3 0000111|\n"
LED = DEPOSED.replace("|", "| ; unclean") + "t1 leader 2 epoch 1 isr 2,3 of 1,2,3\n"


def evidence(drawing: str) -> PartitionEvidence:
    return with_differences(read_sketch(drawing).evidence)


def advice_on(drawing: str) -> Advice:
    drawn = evidence(drawing)
    (told,) = advise(drawn, losses(drawn))
    return told


def candidate(told: Advice, broker: int) -> Candidate:
    return next(c for c in told.candidates if c.broker == broker)


def gate(told: Advice, action: str) -> Gate:
    return next(g for g in told.gates if g.action == action)


def test_candidates_rank_by_epoch_then_log_end() -> None:
    told = advice_on(NEW + "broker 1 00000000|\nbroker 2 000011|\nbroker 3 0000111|\n")
    assert [c.broker for c in told.candidates] == [3, 2, 1]
    assert told.leaders == (3,)


COPIED_EARLIER = """
live
broker 1 000000| ; unclean
broker 2* 0000| ; unclean
t1 leads 2 epoch 0 at 0 hw 0 isr 1,2
t2 acks 2 at 5 acks=all
"""


def test_a_leader_that_ends_before_what_it_wrote_may_only_have_been_copied_earlier() -> None:
    """Nobody has records of its epoch but from it, and no log tells that it was started again."""
    told = advice_on(COPIED_EARLIER)
    assert (told.candidates[0].broker, candidate(told, 2).lacks, told.doomed) == (1, (), ())
    assert gate(told, "elect broker 1").going == "go"
    short = "it wrote offsets 4–5 of epoch 0, but its log end offset is 4 here."
    assert candidate(told, 2).doubts[-1].startswith(short)
    restart = gate(told, "restart broker 1")
    assert (restart.going, restart.first) == ("unknown", "copy broker 1's folder t-0 (here: broker-1/t-0)")
    assert "If it lost those records in a crash, broker 1 cuts them too." in restart.because
    assert gate(told, "elect broker 2").going == "unknown"


@pytest.mark.parametrize(
    "since",
    [
        "t3 loads 2 at 4\n",
        "t3 loads 2 at 4\nt4 leads 2 epoch 1 at 4 hw 4\n",
        "t3 loads 2 at 4\nt4 leads 2 epoch 0 at 4 hw 4\n",
        "t3 mends 2 to 4\nt4 leads 2 epoch 0 at 4 hw 4\n",
        "t3 leads 1 epoch 1 at 6 hw 4\n",
    ],
)
def test_a_leader_that_was_started_again_or_followed_since_may_have_lost_what_it_wrote(since: str) -> None:
    told = advice_on(COPIED_EARLIER + since)
    assert not any(cut.leader_wrote for each in told.candidates for cut in each.cuts)


@pytest.mark.parametrize(("copied", "barred"), [("live", ()), ("crashed", (1,)), ("stopped", (1,))])
def test_how_it_was_copied_settles_what_a_leader_has(copied: str, barred: tuple[int, ...]) -> None:
    drawn = replace(evidence(COPIED_EARLIER), copied=copied)
    (told,) = advise(drawn, losses(drawn))
    assert tuple(doomed.broker for doomed in told.doomed) == barred
    assert (gate(told, "restart broker 1").going == "no-go") == bool(barred)
    assert (gate(told, "elect broker 2").going == "no-go") == bool(barred)


LAST_COPY = """
broker 1 0000111|
broker 2 0000111|
broker 3 {log}| ; {kind}
t1 leads 1 epoch 0 at 0 hw 0
t2 acks 1 at 6 acks=all
t3 leads 2 epoch 1 at 4 hw 4
"""


@pytest.mark.parametrize(
    ("kind", "log", "barred"),
    [
        ("stray", "0000000", ["delete broker-3/t-0.0-stray"]),
        ("deleted", "0000000", ["restart broker 3", ROLLING]),
        # Such folders are no matter where they hold nothing that was lost.
        ("stray", "0000", []),
        ("deleted", "0000", []),
    ],
)
def test_the_last_copy_in_a_folder_that_is_no_replica_is_copied_first(kind: str, log: str, barred: list[str]) -> None:
    told = advice_on(NEW + LAST_COPY.format(kind=kind, log=log))
    first = f"copy broker 3's folder t-0.0-{kind} (here: broker-3/t-0.0-{kind})"
    assert [(g.action, g.first) for g in told.gates if g.going == "no-go"] == [(action, first) for action in barred]
    assert {*before_election(told, told.candidates[0])} == ({f"C{first[1:]}."} if barred else set())


def test_equal_logs_rank_by_health_and_by_how_the_broker_stopped() -> None:
    told = advice_on("broker 1 0000! | ; hw 4\nbroker 2 00000| ; unclean\nbroker 3 00000|\n".replace("! |", "!|"))
    assert [c.broker for c in told.candidates] == [3, 2, 1]
    assert "1 batch fails its checksum" in candidate(told, 1).damage
    assert not candidate(told, 2).shut_down_cleanly


def test_a_header_that_is_not_believed_is_damage() -> None:
    """Broker 2's batch of epoch 5 stands among batches of epoch 0, as which its peers hold it."""
    drawn = with_differences(with_believed_headers(read_sketch(NEW + ODD_HEADER).evidence))
    (told,) = advise(drawn, losses(drawn))
    assert candidate(told, 2).damage == ("1 batch header is not believed",)
    assert candidate(told, 1).damage == ()
    assert gate(told, "elect broker 2").going == "no-go"


def test_each_choice_has_its_price() -> None:
    told = advice_on(DEPOSED)
    (lost,) = candidate(told, 2).lacks
    assert (lost.epoch, lost.start_offset, lost.end_offset, lost.committed_end) == (0, 4, 7, 7)
    (other,) = candidate(told, 1).lacks
    assert (other.epoch, other.start_offset, other.end_offset, other.committed_end) == (1, 4, 7, 7)
    assert {(cut.follower, cut.cut_to) for cut in candidate(told, 1).cuts} == {(2, 4), (3, 4)}
    assert {(cut.follower, cut.cut_to) for cut in candidate(told, 2).cuts} == {(1, 4), (3, 7)}


def test_the_return_of_the_deposed_leader_destroys_the_last_copy() -> None:
    told = advice_on(DEPOSED)
    (doomed,) = told.doomed
    assert (doomed.broker, doomed.stretch.start_offset, doomed.stretch.end_offset) == (1, 4, 7)
    assert doomed.others == ()
    assert [copy.path for copy in doomed.spans] == ["broker-1/t-0"]
    assert gate(told, "restart broker 1").going == "no-go"
    assert gate(told, "restart broker 1").first == "copy broker 1's folder t-0 (here: broker-1/t-0)"
    assert gate(told, "elect broker 2").going == "no-go"
    assert gate(told, "restart broker 2").going == "unknown"
    led = advice_on(LED)
    assert gate(led, "restart broker 3").because.endswith("as the disks are. This holds while broker 2 leads.")
    assert gate(led, "restart broker 2").because.endswith("as the disks are. This holds if it leads now.")


def test_the_start_of_who_alone_has_records_holds_unless_another_leads() -> None:
    led = "broker 2 000000|\nbroker 3 000000|\nt1 leads 2 epoch 0 at 0 hw 0\nt2 acks 2 at 5 acks=1\n"
    told, alike = (advice_on(f"{NEW}broker 1 {log}|\n{led}") for log in ("0000", "000000"))
    nothing = "cuts nothing from its log, as the disks are."
    assert gate(told, "elect broker 1").going == "no-go"
    assert gate(told, "restart broker 2").because == f"{nothing} This holds unless broker 1 leads then."
    assert gate(alike, "restart broker 2").because == nothing


def test_a_start_that_cuts_what_comes_back_holds_unless_another_leads_either() -> None:
    old = NEW.replace("ibp 3.9", "ibp 0.10.2").replace("3.9.1", "2.0.0")
    led = "broker 2 00000|0\nbroker 3 00000|0\nt1 leads 2 epoch 0 at 0 hw 0\nt2 acks 2 at 5 acks=1\n"
    told = advice_on(f"{old}broker 1 0000|\n{led}")
    assert gate(told, "elect broker 1").going == "no-go"
    cut = "truncates its log from offset 6 to 5 when it follows broker 3. It fetches the same records again."
    assert gate(told, "restart broker 2").because.startswith(f"{cut} This holds unless broker 1 leads then.")


FOLLOWERS_WORD = """
broker 1 000011
broker 2 000022|
broker 3 000011
t1 leads 1 epoch 1 at 4 hw 4
t1 follows 3 epoch 1 at 4 hw 4 from 1
t5 follows 3 epoch 2 at 6 hw 6 from 2
t5 leads 2 epoch 2 at 4 hw 4
"""


def test_what_a_follower_learnt_in_an_epoch_proves_its_records_where_they_carry_it() -> None:
    """Its high watermark rose to 6 in epoch 1, whose records it holds: its leader told it."""
    drawn = evidence(NEW + FOLLOWERS_WORD)
    assert [drawn.committed_by_proof(replica) for replica in drawn.current] == [6, 6, 6]
    (doomed,) = {(d.stretch.start_offset, d.stretch.committed_end) for d in advise(drawn, losses(drawn))[0].doomed}
    assert doomed == (4, 6)


def test_a_second_copy_opens_the_gate() -> None:
    told = advice_on(NEW + "broker 1 0000000|\nbroker 2 0000111|\nbroker 3 0000000| ; stray\n")
    assert [copy.kind for doomed in told.doomed for copy in doomed.others] == ["stray dir"]
    assert "destroys" not in gate(told, "restart broker 1").because


UNTOLD = NEW + "broker 1 0000|000\nbroker 2 0000111|\nbroker 3 0000111|\n"
ALL_ANSWERS = """
t1 loads 1 at 0
t2 leads 1 epoch 0 at 0 hw 0
t3 acks 1 at 0 acks=all
t5 leads 2 epoch 1 at 4 hw 4
t6 follows 1 epoch 1 at 7 hw 4 from 2
t7 acks 1 at 4 acks=all error 6
"""


def test_what_nobody_was_told_of_may_go() -> None:
    told = advice_on(UNTOLD.replace("|\n", "| ; unclean\n") + ALL_ANSWERS)
    before = ALL_ANSWERS.replace("t7 acks 1 at 4", "t4 acks 1 at 4")
    cut_off = advice_on(UNTOLD.replace("|\n", "| ; unclean\n") + before)
    assert gate(cut_off, "restart broker 1").going == "unknown", "its request log may end before its lead does"
    assert [d.stretch.told_of for d in told.doomed] == [False]
    assert gate(told, "restart broker 1").going == "go"
    assert gate(told, "restart broker 1").because == (
        "truncates its log from offset 7 to 4 when it follows broker 2. Records that do not come back are held"
        " elsewhere, or were never acknowledged. This holds while broker 2 leads."
    )
    assert gate(told, "elect broker 2").going == "go"


@pytest.mark.parametrize("gone", ["", "t1 loads 1 at 0\n", "t2 leads 1 epoch 0 at 0 hw 0\n"])
def test_what_somebody_may_have_been_told_of_cannot_be_judged(gone: str) -> None:
    """Without logs, without a sign that its process went on, and without its role a leader may have answered more."""
    told = advice_on(UNTOLD + ALL_ANSWERS.replace(gone, "") if gone else UNTOLD)
    assert [d.stretch.told_of for d in told.doomed] == [False]
    assert {gate(told, action).going for action in ("restart broker 1", "elect broker 2")} == {"unknown"}


@pytest.mark.parametrize(
    ("versions", "logs", "condition"),
    [
        ("kafka 1 0.10.2.1\nkafka 2 0.10.2.1\n", "broker 1 00000|00\nbroker 2 0000000|\n", ""),
        ("kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\n", "broker 1 -----|--\nbroker 2 -------|\n", ""),
        ("", "broker 1 -----|--\nbroker 2 -------|\n", ", if its versions are new"),
    ],
)
def test_a_cut_of_what_the_leader_sends_again_is_told_as_a_cut(versions: str, logs: str, condition: str) -> None:
    told = advice_on(versions + logs)
    assert {(cut.follower, cut.cut_to, cut.gone) for cut in candidate(told, 2).cuts} == {(1, 5, ())}
    assert gate(told, "restart broker 1") == Gate(
        action="restart broker 1",
        going="go",
        because=f"truncates its log from offset 7 to 5 when it follows broker 2{condition}."
        " It fetches the same records again. This holds for one restart, not for restarts in turn.",
    )
    alone = "cuts nothing from its log, as the disks are. This holds for one restart, not for restarts in turn."
    assert gate(told, "restart broker 2").because == alone


def test_an_answer_to_a_producer_is_somebody_told() -> None:
    told = advice_on(
        NEW + "broker 1 0000|000\nbroker 2 0000111|\nbroker 3 0000111|\n"
        "t1 leads 1 epoch 0 at 0 hw 0\nt2 acks 1 at 5 acks=1\nt3 leads 2 epoch 1 at 4 hw 4\n"
    )
    (lost,) = candidate(told, 2).lacks
    assert (lost.committed_end, lost.acknowledged_end) == (4, 7)
    assert gate(told, "restart broker 1").going == "no-go"


def test_a_leader_that_lacks_the_tail_cuts_everyone_to_its_end() -> None:
    told = advice_on(NEW + "broker 1 000|\nbroker 2 00000|\nbroker 3 00000|\n")
    assert {(cut.follower, cut.cut_to) for cut in candidate(told, 1).cuts} == {(2, 3), (3, 3)}
    assert [(s.start_offset, s.end_offset) for s in candidate(told, 1).lacks] == [(3, 5)]
    assert gate(told, "elect broker 1").going == "no-go"
    assert gate(told, "elect broker 2").going == "go"


def test_old_protocols_bar_a_rolling_restart() -> None:
    told = advice_on("kafka 1 0.10.2.1\nkafka 2 1.1.1 ibp 1.1\nbroker 1 0000|\nbroker 2 0000|\n")
    rolling = told.gates[-1]
    assert rolling.going == "no-go"
    assert "Broker 1 cuts by the high watermark alone (rule hw-truncation) and broker 2 cuts by an" in rolling.because


def test_a_replica_without_epochs_is_cut_at_its_high_watermark() -> None:
    told = advice_on("kafka 1 3.9.1 ibp 3.9\nkafka 2 3.9.1 ibp 3.9\nbroker 1 ----|--\nbroker 2 ------|\n")
    assert told.gates[-1].going == "no-go"
    assert "broker 1's offsets 4–5" in told.gates[-1].because


def test_unknown_versions_leave_the_gate_open_for_doubt() -> None:
    assert advice_on("broker 1 0000|\nbroker 2 0000|\n").gates[-1].going == "unknown"
    assert advice_on(NEW + "broker 1 0000|\nbroker 2 0000|\n").gates[-1].going == "go"


def test_an_unknown_protocol_of_a_known_release_is_named_and_is_no_go_ahead() -> None:
    told = advice_on("kafka 1 3.9.1\nkafka 2 3.9.1 ibp 3.9\nbroker 1 0000|\nbroker 2 0000|\n").gates[-1]
    assert (told.going, told.because) == (
        "unknown", "cannot be judged. No log tells which inter-broker protocol broker 1 speaks.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("of_all", "logs", "going"),
    [
        ("1,2,3", ("000|0", "000|"), "unknown"),
        ("1,2", ("000|0", "000|"), "go"),
        ("1,2,3", ("000|0", "000|0"), "go"),
        ("1,2,3", ("0000|", "@2:<00|"), "go"),
    ],
)
def test_who_may_lead_and_is_not_here_may_cut_what_one_copy_here_holds(
    of_all: str, logs: tuple[str, str], going: str
) -> None:
    """Broker 3's log may end before record 3. What broker 2 has deleted by its age is no last copy at risk."""
    drawn = "".join(f"broker {broker} {log} ; unclean\n" for broker, log in enumerate(logs, start=1))
    told = advice_on(NEW + drawn + f"t1 leader 1 epoch 0 isr {of_all} of {of_all}\n")
    assert gate(told, "restart broker 1").going == going


def test_what_an_absent_replica_runs_nobody_knows() -> None:
    drawn = "broker 1 0000|\nbroker 2 0000|\nt1 leader 1 epoch 0 isr 1,2 of 1,2,3\n"
    told = advice_on(NEW + drawn)
    assert told.absent == (3,)
    assert told.gates[-1].going == "unknown"
    assert "Broker 3 is assigned, not in this dump, and" in told.gates[-1].because


@pytest.mark.parametrize(("history", "best"), [("", 1), ("t1 leader 2 epoch 0 isr 1,2,3 of 3,2,1\n", 2)])
def test_equal_replicas_leave_the_leader_where_it_is(history: str, best: int) -> None:
    told = advice_on(NEW + "broker 1 0000|\nbroker 2 0000|\nbroker 3 0000|\n" + history)
    assert told.candidates[0].broker == best
    assert told.settled == bool(history)


def test_of_equal_replicas_without_a_leader_the_preferred_one_is_named() -> None:
    told = advice_on(NEW + "broker 1 0000|\nbroker 2 0000|\nbroker 3 0000|\nt1 leader -1 epoch 0 isr 1,2,3 of 3,2,1\n")
    assert [c.broker for c in told.candidates] == [3, 2, 1]
    assert (told.leading, told.settled) == (None, False)


def test_where_a_return_destroys_something_there_is_something_to_do() -> None:
    told = advice_on(DEPOSED + "t1 leads 2 epoch 1 at 4 hw 4\n")
    assert (told.candidates[0].broker, told.leading, told.settled) == (2, 2, False)


def test_records_that_differ_below_the_cut_are_no_equal_outcome() -> None:
    told = advice_on(NEW + "broker 1 001a1a|\nbroker 2 001b1b|\n")
    assert {cut.then for c in told.candidates for cut in c.cuts} == {"diverges"}
    assert gate(told, "elect broker 1").going == "no-go"
    (unserved,) = candidate(told, 1).lacks
    assert (unserved.epoch, unserved.start_offset, unserved.end_offset) == (1, 2, 4), "broker 2's own, which it keeps"


def test_a_file_of_epochs_that_was_not_copied_makes_no_log_without_epochs() -> None:
    rolling = advice_on(NEW + "broker 1 00|00 ; epochs missing\nbroker 2 00|00\n").gates[-1]
    assert rolling.going == "unknown"
    assert "the leader-epoch-checkpoint of broker 1 is not here" in rolling.because.lower()


def test_high_watermarks_that_were_not_copied_are_not_taken_for_the_log_start() -> None:
    drawn = evidence(NEW + "broker 1 ----|--\nbroker 2 ------|\n")
    gone = frozenset({"replication-offset-checkpoint"})
    replicas = tuple(replace(replica, high_watermark=None, untold=gone) for replica in drawn.replicas)
    rolling = advise(replace(drawn, replicas=replicas), ())[0].gates[-1]
    assert rolling.going == "unknown"
    assert "the replication-offset-checkpoint of brokers 1 and 2 is not here" in rolling.because.lower()


def test_a_barred_restart_bars_the_rolling_one() -> None:
    assert advice_on(DEPOSED).gates[-1].going == "no-go"


def test_topics_of_one_name_are_advised_on_apart() -> None:
    drawn = evidence("broker 1 000| ; topic-id a\nbroker 2 000000| ; topic-id b\nbroker 3 0000| ; topic-id b\n")
    told = advise(drawn)
    assert {advice.topic_id: tuple(c.broker for c in advice.candidates) for advice in told} == {"a": (1,), "b": (2, 3)}


def test_advice_is_only_given_where_something_is_to_be_decided() -> None:
    assert judge(read_sketch(NEW + "broker 1 0000|\nbroker 2 0000|\n").evidence, RULES).advice == ()
    assert judge(read_sketch(DEPOSED).evidence, RULES).advice != ()


lineages = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(sorted)


@given(st.lists(lineages, min_size=2, max_size=4), st.data())
def test_what_goes_is_what_the_leader_does_not_hold(logs: list[list[int]], data: st.DataObject) -> None:
    marks = [data.draw(st.integers(0, len(log))) for log in logs]
    lines = [
        f"broker {number} {''.join(map(str, log[:mark]))}|{''.join(map(str, log[mark:]))}"
        for number, (log, mark) in enumerate(zip(logs, marks, strict=True), start=1)
    ]
    told = advice_on("\n".join(lines))
    held = {number: set(enumerate(log)) for number, log in enumerate(logs, start=1)}
    for choice in told.candidates:
        for cut in choice.cuts:
            gone = {(offset, s.epoch) for s in cut.gone for offset in range(s.start_offset, s.end_offset)}
            cut_off = {(offset, epoch) for offset, epoch in held[cut.follower] if offset >= cut.cut_to}
            assert gone == cut_off - held[choice.broker]
            if cut.then == "agrees":
                assert {(o, e) for o, e in held[cut.follower] if o < cut.cut_to} <= held[choice.broker]
    for doomed in told.doomed:
        stretch = doomed.stretch
        records = {(offset, stretch.epoch) for offset in range(stretch.start_offset, stretch.end_offset)}
        assert {copy.broker for copy in doomed.others} == {
            broker for broker, records_held in held.items() if records <= records_held and broker != doomed.broker
        }


def test_who_is_assigned_last_and_not_here_is_named_and_nobody_else() -> None:
    drawn = "broker 1 0000|\nbroker 2 0000|\nt1 leader 1 epoch 0 isr 1,2 of 1,2,4\n"
    assert judge(evidence(drawn + "t2 leader 1 epoch 1 isr 1,2 of 1,2,3\n"), RULES).assigned_only == (3,)
    assert judge(evidence(drawn + "t2 leader 1 epoch 1 isr 1,2 of 1,2\n"), RULES).assigned_only == ()


def test_a_hole_in_its_log_costs_what_only_another_holds() -> None:
    told = advice_on(NEW + "broker 1 00000000|\nbroker 2 0000..00|\n")
    (lacked,) = candidate(told, 2).lacks
    assert (lacked.epoch, lacked.start_offset, lacked.end_offset) == (0, 4, 6)
    assert candidate(told, 1).lacks == ()
    assert gate(told, "elect broker 2").first == "copy offsets 4–5 of epoch 0 from broker 1"


def test_what_comes_first_names_who_holds_it() -> None:
    told = advice_on(DEPOSED)
    loses = "loses committed records unless they are copied before: offsets 4–6 of epoch 0."
    assert gate(told, "elect broker 2").because == loses
    assert gate(told, "elect broker 2").first == "copy offsets 4–6 of epoch 0 from broker 1"
    assert gate(told, "elect broker 1").first == "copy offsets 4–6 of epoch 1 from broker 2 or 3"
    parts = advice_on(NEW + "broker 1 00|\nbroker 2 00000|\nbroker 3 @3:00000|\n")
    assert gate(parts, "elect broker 1").first == "copy offsets 2–7 of epoch 0 from brokers 2 and 3"


def test_nobody_is_elected_into_the_lead_of_the_metadata_log() -> None:
    drawn = "topic __cluster_metadata\n" + DEPOSED
    told = advice_on(drawn)
    assert [g.action for g in told.gates] == [f"restart broker {number}" for number in (1, 2, 3)]
    assert [g.action for g in told_gates(told)] == ["restart broker 1", "restart broker 2 or 3"]


def test_a_hole_that_all_logs_have_costs_nothing() -> None:
    told = advice_on(NEW + "broker 1 0000..00|\nbroker 2 0000..00|\n")
    assert candidate(told, 1).lacks == candidate(told, 2).lacks == ()


@pytest.mark.parametrize(
    ("log", "going"), [("@2:----|", "unknown"), ("@2:<----|", "go"), ("@2:0000|", "go"), ("------|", "go")]
)
def test_a_log_that_begins_later_is_no_free_choice_unless_its_broker_shows_that_its_start_moved(
    log: str, going: str
) -> None:
    """By its log-start-offset-checkpoint, or by its epoch file, which formats without epochs leave empty."""
    whole = "000000|" if "0" in log else "------|"
    elected = gate(advice_on(f"broker 1 {whole}\nbroker 2 {log}\n"), "elect broker 2")
    assert elected.going == going
    assert ("but broker 1 holds offsets 0–1" in elected.because) is (going == "unknown")


@pytest.mark.parametrize(("held", "then"), [(".", "agrees"), ("0", "diverges")])
def test_epoch_files_that_part_where_nobody_holds_a_record_are_no_difference(held: str, then: str) -> None:
    one = f"broker 1 000{held}.11| ; cleaner 7, epochs 0@0 1@4\n"
    other = "broker 2 000..11| ; cleaner 7, epochs 0@0 1@3\n"
    told = advice_on(NEW + one + (other if held == "." else other.replace("..", "1.")))
    assert {cut.then for c in told.candidates for cut in c.cuts} == {then}
    assert gate(told, "elect broker 1").going == ("go" if then == "agrees" else "no-go")


@pytest.mark.parametrize(
    ("file", "lacks"),
    [
        ("epochs 0@0 1@4 2@6", ""),
        ("epochs 1@4 2@6", "epoch 0"),
        ("epochs 2@6", "epochs 0 and 1"),
        ("epochs 0@0 2@6, unclean", "epoch 1"),
        ("epochs 0@0, unclean", ""),  # recovery adds what is newer
    ],
)
def test_nobody_is_advised_to_lead_with_epochs_that_its_file_forgot(file: str, lacks: str) -> None:
    told = advice_on(NEW + f"broker 1 00001122| ; {file}\nbroker 2 00001122|\nbroker 3 00001122|\n")
    said = f"its leader-epoch-checkpoint lacks {lacks}, so it answers followers wrongly"
    assert candidate(told, 1).damage == ((said,) if lacks else ())
    assert gate(told, "elect broker 1").going == ("no-go" if lacks else "go")
    assert (told.candidates[-1].broker == 1) == (bool(lacks) or "unclean" in file)


def test_epochs_before_a_file_that_was_copied_live_may_be_forgotten_or_deleted() -> None:
    told = advice_on(NEW + "broker 1 00001122| ; epochs 1@4 2@6, unclean\nbroker 2 00001122|\nbroker 3 00001122|\n")
    assert candidate(told, 1).damage == ()
    assert gate(told, "elect broker 1").going == "unknown"


DELETED = "t1 leads 3 epoch 2 at 6 hw 6\nt2 fetch 2@8 from 3 hw=8 start 4\n"


@pytest.mark.parametrize(("client", "going"), [("", "no-go"), (DELETED, "unknown")])
def test_a_file_that_the_log_start_may_have_cut_bars_no_election(client: str, going: str) -> None:
    told = advice_on(NEW + f"broker 1 00001122| ; epochs 1@4 2@6\nbroker 2 00001122|\nbroker 3 00001122|\n{client}")
    assert gate(told, "elect broker 1").going == going
    assert bool(candidate(told, 1).damage) == (going == "no-go")
    assert gate(told, "elect broker 2").going == "go"


PARTED = """
broker 1* 0 11 33|
broker 2  0 22 33|
t1 leads 1 epoch 1 at 1 hw 1
t2 acks 1 at 1 acks=1
t3 leads 2 epoch 2 at 1 hw 1
t4 acks 2 at 1 acks=1
t5 leads 1 epoch 3 at 3 hw 1
"""


def test_records_below_a_later_leaders_high_watermark_are_its_own_and_not_those_that_it_never_had() -> None:
    told = advice_on(PARTED)
    lacked = {broker: candidate(told, broker).lacks for broker in (1, 2)}
    ((never_committed,), (committed,)) = lacked[1], lacked[2]
    assert (never_committed.epoch, never_committed.committed_end, never_committed.counted_end) == (2, 1, 3)
    assert (committed.epoch, committed.committed_end) == (1, 3)
    assert gate(told, "elect broker 1").going == gate(told, "elect broker 2").going == "no-go"
    (loss,) = (loss for loss in losses(evidence(PARTED)) if loss.matters and not loss.restored)
    assert (loss.epoch, loss.start_offset, loss.committed_end) == (2, 1, never_committed.committed_end)


def test_the_start_of_a_wrong_log_may_make_it_lead_where_nothing_tells_who_does() -> None:
    told = advice_on(NEW + "broker 1 0000|\nbroker 2 00!0|\nbroker 3 0000|\n")
    assert [gate(told, f"restart broker {broker}").going for broker in (1, 2, 3)] == ["go", "unknown", "go"]
    assert gate(told, "restart broker 2").first == "make sure that broker 1 or 3 leads"
    alone = advice_on("kafka 1 3.9.1 ibp 3.9\nbroker 1 00!0|\n")
    assert (gate(alone, "restart broker 1").going, gate(alone, "restart broker 1").first) == ("unknown", "")


def test_a_broker_that_must_not_start_for_one_partition_is_free_in_none() -> None:
    barred, free = advice_on(LED), advice_on(NEW + "broker 1 0000|\nbroker 2 0000|\nbroker 3 0000|\n")
    known = starts([free, barred])
    assert (known["restart broker 1"], known["restart broker 2"]) == ("no-go", "go")
    told = [gate_words(gate) for gate in told_gates(where_gravest(free, known))]
    assert [words for words in told if words.startswith("restarting")] == [
        "restarting broker 2 or 3 cuts nothing from its log, as the disks are."
    ]
    assert any(words.startswith("electing broker 1, 2 or 3 loses nothing.") for words in told)
    alone = [gate_words(gate) for gate in told_gates(where_gravest(free, starts([free])))]
    assert len(alone) == 1
    assert alone[0].startswith("restarting or electing broker 1, 2 or 3 cuts nothing")


ITSELF = "it is elected itself"


@pytest.mark.parametrize(("isr", "conditions"), [("1", ["broker 2 or 3 leads then", ITSELF, ITSELF]), ("1,2,3", [])])
def test_a_start_and_restarts_in_turn_have_one_condition_while_nobody_leads(isr: str, conditions: list[str]) -> None:
    """Broker 1 alone is in the ISR: another one leads by an unclean election only, and then costs what it lacks."""
    held = "0000|\nbroker 2 00|\nbroker 3 00|" if conditions else "0000|\nbroker 2 0000|\nbroker 3 0000|"
    told = advice_on(NEW + f"broker 1 {held}\nt1 leader 1 epoch 0 isr 1,2,3\nt2 leader -1 epoch 1 isr {isr}\n")
    starts_of = [gate(told, f"restart broker {broker}") for broker in (1, 2, 3)]
    assert [one.going for one in starts_of] == ["go"] * 3
    unless = [one.because.partition(" This holds unless ")[2].removesuffix(".") for one in starts_of]
    assert unless == (conditions or [""] * 3)
    assert gate(told, ROLLING).going == ("unknown" if conditions else "go")


def test_an_offset_that_a_start_destroys_is_named_once_with_the_deepest_cut() -> None:
    """Several may lead, and under each of them another part goes."""
    told = advice_on(
        NEW
        + "broker 1 0000000| ; unclean\nbroker 2 00000111|\nbroker 3 00011111|\n"
        + "t1 leader 2 epoch 1 isr 2,3 of 1,2,3\n"
    )
    because = gate(told, "restart broker 1").because
    assert because.count("of epoch 0") == 1
    assert "offsets 3–6 of epoch 0" in because
    assert "from offset 7 to 3" in because
