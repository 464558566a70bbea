"""A hole in a broker's log of roles: what it says around it is of no certain term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.provenance import Span
from rules.catalog import RULES
from rules.chronicle.chronicle import Chronicle
from rules.finding import Severity
from rules.history.moments import Moment
from rules.history.repetitions import collapse
from rules.history.statements import Answered, Fetched
from rules.history.terms import in_terms
from rules.judging.judge import judge
from rules.replay import replay
from rules.sketch.notation import read_sketch
from tests.replaced import replace
from tests.rules.recast import recast

HEALTHY = """
    broker 1 0000222|
    broker 2 0000222|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 fetch 2@4 from 1 hw=4
    t3 acks 1 at 3 acks=all
    t4 leads 2 epoch 1 at 4 hw 4 isr 1,2
    t4 follows 1 epoch 1 at 4 hw 4 from 2
    t5 leads 1 epoch 2 at 4 hw 4 isr 1,2
    t5 follows 2 epoch 2 at 4 hw 4 from 1
    t6 acks 1 at 6 acks=all
    t7 fetch 2@7 from 1 hw=7
"""


def without(moments: tuple[Moment, ...], kind: str, epoch: int) -> tuple[Moment, ...]:
    """The statements as they are when one line of a role is lost."""
    kept = [replace(m, term=None, latest_term=None) for m in moments if (m.kind, m.epoch) != (kind, epoch)]
    assert len(kept) == len(moments) - 1
    return in_terms(kept)


def test_an_answer_after_a_role_that_only_others_tell_may_be_of_that_role() -> None:
    moments = without(read_sketch(HEALTHY).evidence.moments, "leader-starts", 2)
    terms = {m.offset: (m.term, m.latest_term) for m in moments if m.kind == "produced"}
    assert terms == {3: (0, None), 6: (1, 2)}


@given(
    first=st.integers(2_000, 3_999), last=st.integers(5_001, 9_000), epoch=st.sampled_from([None, -1, 0, 2]),
)  # fmt: skip
def test_equal_fetches_are_of_every_lead_in_which_the_first_or_the_last_was_answered(
    first: int, last: int, epoch: int | None
) -> None:
    evidence = read_sketch(HEALTHY).evidence
    told = [replace(m, term=None, latest_term=None) for m in evidence.moments if not isinstance(m, Answered)]
    told = [replace(m, time=1_000 * int(m.time or 0)) for m in told]
    fetch = next(m for m in evidence.moments if isinstance(m, Fetched))
    again = [replace(fetch, term=None, epoch=epoch, time=time) for time in (first, (first + last) // 2, last)]
    (run,) = collapse(again)
    leads = replay(in_terms([*told, run]), (), {1: "3.9.1", 2: "3.9.1"}).courses
    served = {course.lead.epochs[0] for course in leads for row in course.lead.rows if isinstance(row, Fetched)}
    assert served == ({0, 2} if epoch in (None, -1) else {epoch})


def test_so_may_a_log_start_be_that_a_client_moved() -> None:
    told = read_sketch(HEALTHY).evidence.moments
    last = next(m for m in told if m.kind == "produced" and m.offset == 6)
    moved = recast(last, "log-start-moved", offset=None, acks=None, log_start_offset=2)
    found = next(m for m in without((*told, moved), "leader-starts", 2) if m.kind == "log-start-moved")
    assert (found.term, found.latest_term) == (1, 2)


def test_an_order_that_is_answered_in_the_millisecond_of_its_role_comes_after_it() -> None:
    told = read_sketch(HEALTHY).evidence.moments
    role = next(m for m in told if (m.kind, m.epoch) == ("follower-starts", 1))
    source = Span(source="broker-1/logs/kafka-request.log", start=0, end=1)
    order = recast(role, "leadership", leader=2, error=0, span=source)
    own = replace(role, span=replace(source, source="broker-1/logs/state-change.log"))
    kept = [m for m in told if m is not role]
    for moments in ([*kept, order, own], [*kept, own, order]):
        found = [m.term for m in in_terms(moments) if (m.kind, m.epoch) == ("follower-starts", 1)]
        assert found == [0]


def test_whole_logs_leave_no_doubt() -> None:
    moments = read_sketch(HEALTHY).evidence.moments
    assert {m.latest_term for m in moments if m.kind in ("produced", "fetched")} == {None}


def test_a_lost_line_of_a_role_accuses_nobody() -> None:
    evidence = read_sketch(HEALTHY).evidence
    for kind, epoch in (("leader-starts", 1), ("leader-starts", 2), ("follower-starts", 1), ("follower-starts", 2)):
        holed = replace(evidence, chronicle=Chronicle(without(evidence.moments, kind, epoch)))
        assert [f.rule for f in judge(holed, RULES).findings if f.severity >= Severity.MEDIUM] == [], (kind, epoch)


RESTARTED = """
    kafka 2 3.9.1
    broker 1 00001111|
    broker 2 00001111|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t1 follows 2 epoch 0 at 0 hw 0 from 1
    t2 fetch 2@4 from 1 hw=4
    t4 leads 1 epoch 1 at 4 hw 4 isr 1,2
    t4 follows 2 epoch 1 at 4 hw 4 from 1
    t5 fetch 2@8 from 1 hw=8 epoch 1
    t6 loads 2 at 8
    t7 follows 2 epoch 1 at 8 hw 8 from 1
"""


def test_a_role_told_after_a_restart_may_have_been_held_before_it() -> None:
    evidence = read_sketch(RESTARTED).evidence
    first = next(m for m in evidence.moments if m.clock == "broker 2" and (m.kind, m.epoch) == ("follower-starts", 1))
    kept = in_terms([replace(m, term=None, latest_term=None) for m in evidence.moments if m is not first])
    (load,) = [m for m in kept if m.kind == "log-loaded"]
    assert (load.term, load.latest_term) == (0, 1)
    holed = replace(evidence, chronicle=Chronicle(kept))
    assert [f.rule for f in judge(holed, RULES).findings if f.severity >= Severity.MEDIUM] == []


GREW = """
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 loads 2 at 2
    t3 fetch 2@4 from 1 hw=4
    t4 leads 2 epoch 1 at {end} hw {end}
"""


def test_a_log_that_grew_after_it_was_loaded_was_in_a_role_of_which_the_line_is_not_here() -> None:
    said = {
        end: [f.rule for f in judge(read_sketch(GREW.format(end=end)).evidence, RULES).findings if f.rule == "LEO001"]
        for end in (2, 4)
    }
    assert said == {2: ["LEO001"], 4: []}


EMPTIED = """
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t1 follows 2 epoch 0 at 0 hw 0
    t2 fetch 2@4 from 1 hw=4
    t3 loads 2 at 0
    {line}
    t5 leads 2 epoch 1 at 0 hw 0
"""


def test_an_empty_log_is_a_question_unless_its_broker_created_it() -> None:
    lines = {"": ["undecided"], "t4 begins 2": []}
    judged = {line: judge(read_sketch(EMPTIED.format(line=line)).evidence, RULES).findings for line in lines}
    assert {line: [f.verdict for f in found if f.rule == "LEO001"] for line, found in judged.items()} == lines


LED_BY_NOBODY_TOLD = """
    broker 1 00001122|
    broker 2 00001122|
    t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
    t2 acks 1 at 3 acks=all
    t3 leads 2 epoch 1 at 4 hw 4 isr 1,2
    t6 acks 1 at 6 acks=all
    t7 leads 1 epoch 3 at 8 hw 8 isr 1,2
"""


def test_an_answer_may_be_of_an_epoch_of_which_nobody_tells_who_led_it() -> None:
    evidence = read_sketch(LED_BY_NOBODY_TOLD).evidence
    assert {m.offset: (m.term, m.latest_term) for m in evidence.moments if m.kind == "produced"}[6] == (0, 2)
    assert [f.rule for f in judge(evidence, RULES).findings if f.severity >= Severity.MEDIUM] == []


TOLD_TO_CLIENTS = """
    broker 1 00001111|
    broker 2 00001111|
    t1 leads 2 epoch 0 at 0 hw 0
    t1 follows 1 epoch 0 at 0 hw 0
    {told}
    t3 leads 1 epoch 2 at 8 hw 8
"""


def test_a_high_watermark_may_be_of_an_epoch_of_which_only_clients_were_told() -> None:
    """Or it is of the epoch before it, and the one between them opened without committed records."""
    for told in ("t2 tells 2 leader 2 epoch 1", ""):
        evidence = read_sketch(TOLD_TO_CLIENTS.format(told=told)).evidence
        (role,) = [m for m in evidence.moments if (m.kind, m.epoch) == ("leader-starts", 2)]
        assert (role.term, role.latest_term) == (0, 1)
        (asked,) = [f for f in judge(evidence, RULES).findings if f.rule == "LEAD001"]
        assert (asked.verdict, asked.start_offset, asked.end_offset) == ("undecided", 4, 8)
        assert "To decide it, add broker 1's state-change.log" in asked.message


def test_whoever_follows_where_it_was_told_of_every_epoch_leaves_no_doubt() -> None:
    told = "t2 tells 2 leader 2 epoch 1\n    t2 follows 1 epoch 1 at 4 hw 4"
    evidence = read_sketch(TOLD_TO_CLIENTS.format(told=told)).evidence
    (role,) = [m for m in evidence.moments if (m.kind, m.epoch) == ("leader-starts", 2)]
    assert (role.term, role.latest_term) == (1, None)
    assert [f for f in judge(evidence, RULES).findings if f.rule == "LEAD001"] == []


def test_an_answer_may_be_of_an_epoch_of_which_only_clients_were_told() -> None:
    moments = read_sketch(HEALTHY).evidence.moments
    role = next(m for m in moments if (m.kind, m.epoch) == ("leader-starts", 2))
    told = recast(role, "leader-told", clock="broker 2", witness=2, leader=1, error=0, time=5)
    kept = [m for m in moments if (m.kind, m.epoch) not in (("leader-starts", 2), ("follower-starts", 2))]
    kept = [m for m in kept if m.kind != "fetched" or m.offset != 7]
    terms = {m.offset: (m.term, m.latest_term) for m in in_terms([*kept, told]) if m.kind == "produced"}
    assert terms == {3: (0, None), 6: (1, 2)}


ASKED_LATE = """
    broker 1 00002222|
    broker 2 00002222|
    t1 leads 1 epoch 0 at 0 hw 0
    t3 leads 1 epoch 2 at 4 hw 2
    t4 fetch 2@8 from 1 hw=8 epoch 0
    t5 fetch 2@8 from 1 hw=8 epoch 2
"""


def test_what_a_leader_told_after_it_had_opened_its_epoch_was_not_left_out_by_that() -> None:
    """A follower asked with the epoch before, as it does until it is told the newer one."""
    evidence = read_sketch(ASKED_LATE).evidence
    assert (0, 2) in [(m.term, m.latest_term) for m in evidence.moments if m.kind == "fetched"]
    assert [f for f in judge(evidence, RULES).findings if f.rule == "LEAD001"] == []


NAMED_LATE = """
    broker 1 0000|
    broker 2 0000|
    t1000 leads 1 epoch 0 at 0 hw 0
    t2000 follows 2 epoch 0 at 0 hw 0 from 1
    {}
    t30000 loads 2 at 4
    t40000 leads 1 epoch 1 at 4 hw 4
    t60000 leads 2 epoch 2 at 4 hw 4
    t61000 follows 1 epoch 2 at 4 hw 4 from 2
    t70000 leads 1 epoch 3 at 4 hw 4
    t70500 follows 2 epoch 3 at 4 hw 4 from 1
    t71000 fetch 2@4 from 1 hw=4 epoch 3
"""
"""Broker 2 follows before it fetches: its clock is not so far behind that the election may come before the loading."""
NEVER_SILENT = "\n    ".join(f"t{1100 + 200 * place} keeps {1 + place % 2} at 4" for place in range(350))
"""And neither clock was set forward meanwhile."""


@pytest.mark.parametrize(("before", "latest"), [("t20000 loads 1 at 4", 1), (NEVER_SILENT, None)])
def test_who_was_started_again_may_name_an_epoch_long_after_it_began(before: str, latest: int | None) -> None:
    """Broker 1 may have led epoch 1 before it restarted, and broker 2 have followed it, where neither log is whole."""
    told = read_sketch(NAMED_LATE.format(before)).evidence.moments
    moments = in_terms([replace(m, former=2) if m.kind == "follower-starts" and m.epoch == 3 else m for m in told])
    (loaded,) = [m for m in moments if m.kind == "log-loaded" and m.broker == 2]
    assert (loaded.term, loaded.latest_term) == (0, latest)


UNTAKEN = """
    broker 3 111|
    t1 leads 3 epoch 1 at 0 hw 0
    t2 acks 3 at 0 acks=1
    t4 leader 1 epoch 2 isr 1 told 3
    {}
    t5 leader -1 epoch 3 isr 1 told 3
    t6 acks 3 at 2 acks=1
"""


@pytest.mark.parametrize(("said", "term"), [("t4 misses 3 leader 1", 1), ("t4 misses 3 leader 2", 2), ("", 2)])
def test_an_order_that_a_broker_cannot_take_leaves_it_in_its_epoch(said: str, term: int) -> None:
    """ZooKeeper's controllers order brokers to follow who is dead, or nobody: they lead on as before."""
    moments = read_sketch(UNTAKEN.format(said)).evidence.moments
    assert [m.term for m in moments if m.kind == "produced"] == [1, term]
