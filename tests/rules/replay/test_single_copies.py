"""Who stood alone behind an acknowledged record: by the ISR in force then, and by what its followers had asked for."""

from __future__ import annotations

import pytest

from parsers.provenance import Span
from rules.catalog import RULES
from rules.finding import Severity
from rules.history.statements import Fetched, Produced
from rules.judging.judge import judge
from rules.protocol.watermarks import expected_interval
from rules.replay import LeaderRow
from rules.replay.leading.tracks import RemoteEndBounds
from rules.replay.leads.by_clock_and_epoch import Statements
from rules.sketch.notation import read_sketch
from tests.lab.expected_from_truth import SAMPLES
from tests.lab.sample_reports import report_on
from tests.replaced import replace
from tests.rules.recast import recast

DISKS = "kafka 1 3.9.1\nbroker 1 0000|\nbroker 2 0000|\n"
UNKNOWN = expected_interval(())
RESTARTED = """
t1 leads 1 epoch 0 at 0 hw 0 isr 1,2
t1 follows 2 epoch 0 at 0 hw 0
t2 fetch 2@2 from 1 hw=0
t5 leads 2 epoch 1 at 2 hw 2 isr 2
"""


def test_what_a_leader_says_after_its_restart_is_not_dated_back() -> None:
    told = "t1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt2 acks 1 at 0 acks=all\nt5 loads 1 at 4\n"
    evidence = read_sketch(DISKS + told + "t6 leads 1 epoch 0 at 4 hw 4 isr 1").evidence
    assert [f.rule for f in judge(evidence, RULES).findings if f.rule == "ACK002"] == []


@pytest.mark.parametrize(
    ("low", "high", "possible", "alone"),
    [
        (2, 2, [{1}], True),
        (2, 2, [{1}, {1, 2}], True),  # had it been in sync, the record would not have been acknowledged yet
        (2, 4, [{1}, {1, 2}], None),
        (2, None, [{1}, {1, 2}], None),
        (4, 4, [{1}, {1, 2}], False),
        (4, 4, [{1}], False),
    ],
)
def test_followers_fetches_tell_whether_a_leader_stood_alone(
    low: int, high: int | None, possible: list[set[int]], alone: bool | None
) -> None:
    answer = Produced(kind="produced", clock="broker 1", offset=2, span=Span(source="", start=0, end=0))
    row = LeaderRow(
        moment=answer, last=False, log_end=UNKNOWN, high_watermark=UNKNOWN, answer=UNKNOWN,
        remotes=(RemoteEndBounds(broker=2, low=low, high=high, last=None, following=None),),
        isr=tuple(map(frozenset, possible)), likely_isr=frozenset({1}),
    )  # fmt: skip
    assert row.stands_alone(1) is alone


@pytest.mark.parametrize(
    ("arrived", "last", "alone"),
    [
        (5, None, None),
        (20, None, True),
        (None, None, None),
        (20, 1, True),
        (20, 4, None),
    ],
)
def test_a_fetch_that_came_in_after_the_answer_had_told_nothing_by_then(
    arrived: int | None, last: int | None, alone: bool | None
) -> None:
    """The answer was given at 10; the follower asks for offset 4 next, and had asked for `last` before."""
    nowhere = Span(source="", start=0, end=0)
    answer = Produced(kind="produced", clock="broker 1", offset=2, time=10, span=nowhere)
    asks = Fetched(kind="fetched", clock="broker 1", broker=2, offset=4, error=0, arrived=arrived, span=nowhere)
    before = None if last is None else Fetched(kind="fetched", clock="broker 1", offset=last, error=0, span=nowhere)
    row = LeaderRow(
        moment=answer, last=False, log_end=UNKNOWN, high_watermark=UNKNOWN, answer=UNKNOWN,
        remotes=(RemoteEndBounds(broker=2, low=-1, high=4, last=before, following=asks),),
        isr=(frozenset({1}), frozenset({1, 2})), likely_isr=frozenset({1}),
    )  # fmt: skip
    assert row.stands_alone(1) is alone


@pytest.mark.parametrize(
    ("own_log", "ends"),
    [
        ("t0 loads 2 at 0\nt6 saves 2 at 2", {2: 2}),
        ("t0 loads 2 at 0\nt4 loads 2 at 2\nt6 saves 2 at 2", {}),
        ("t0 loads 2 at 0", {}),  # it ends before the role: the restart may stand behind it
        ("t6 saves 2 at 2", {}),  # it begins after the role
        ("", {}),
    ],
)
def test_a_followers_end_counts_only_where_its_own_log_would_tell_of_a_restart(
    own_log: str, ends: dict[int, int]
) -> None:
    course = read_sketch(f"{DISKS}{own_log}{RESTARTED}").evidence.replayed.courses[0]
    assert course.lead.follower_ends == ends


@pytest.mark.parametrize(
    ("sample", "topic", "start", "end"),
    [("unclean_4x", "pay", 100, 150), ("unclean_rejoined", "pay", 100, 150), ("fast_failover_kip279", "ff", 10, 15)],
)
def test_a_leader_that_kept_its_epoch_tells_that_the_controller_left_it_alone(
    sample: str, topic: str, start: int, end: int
) -> None:
    """Its state-change.log alone has the new ISR on its own clock, as a role that did not change."""
    found = [f for f in report_on(SAMPLES / sample).violations if f.rule == "ACK002" and f.severity == Severity.MEDIUM]
    alone = [(f.topic, f.brokers, f.start_offset, f.end_offset) for f in found if f.brokers == (1,)]
    assert alone == [(topic, (1,), start, end)]


def test_a_role_that_did_not_change_is_no_sign_of_a_server_log() -> None:
    """It stands in the log of roles, which tells of no proposal of an ISR."""
    told = "t1 leads 1 epoch 0 at 0 hw 0 isr 1,2\nt3 acks 1 at 0 acks=all\n"
    evidence = read_sketch(DISKS + told).evidence
    (role, answer) = (m for m in evidence.moments if m.kind in ("leader-starts", "produced"))
    word = recast(role, "isr", time=2, isr=(1,), partition_epoch=1, epoch=0, term=0)
    assert Statements([role, word, answer], evidence.current).own_logs == set()
    assert Statements([role, replace(word, epoch=None), answer], evidence.current).own_logs == {"broker 1"}


FLAPPING = DISKS + """
t1000 leads 1 epoch 0 at 0 hw 0 isr 1
t2000 acks 1 at 0 acks=all
t3000 fetch 2@0 from 1 hw=1
t3500 fetch 2@1 from 1 hw=1
t4000 isr 1 now 1,2
t5000 fetch 2@2 from 1 hw=1
t6000 fetch 2@2 from 1 hw=2
t7000 acks 1 at 1 acks=all
t8000 isr 1 now 1
t9000 acks 1 at 2 acks=all
t9000 acks 1 at 3 acks=all
"""


def test_what_others_had_too_is_not_told_with_what_stood_alone_before_and_after() -> None:
    found = [f for f in judge(read_sketch(FLAPPING).evidence, RULES).findings if f.rule == "ACK002"]
    assert [(f.start_offset, f.end_offset) for f in found] == [(0, 1), (2, 4)]
