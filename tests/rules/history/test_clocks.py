"""Causes and effects that bound clocks: the truth lies within, and what is left out only widens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.engines.witnesses.metadata_copies import BatchTimes
from rules.evidence import METADATA_TOPIC, PartitionEvidence
from rules.evidence.clocks_told import clocks_told
from rules.history.causes import Precedence, precedences
from rules.history.clocks import WANDER_MS, ClockOffset, Clocks, clocks_of, closed
from rules.history.moments import Moment
from rules.history.set_forward import perhaps_set
from rules.history.statements import RoleTaken, times_of
from rules.history.steady import joined
from rules.history.translation import estimated, if_none_was_set, translated
from rules.settings import QUORUM_LEADER, settings_of
from tests.lab.effort import fast_if
from tests.lab.sample_histories import SAMPLES, histories
from tests.replaced import replace

CASES: Final = sorted(path.parent.name for path in SAMPLES.glob("*/truth.json"))
FAST: Final = ("clean_2_8", "epoch_checkpoint_deleted", "lost_pages_hw", "unclean_4x")
"""One of each: ZooKeeper with and without epochs in requests, a record in the batch of another, a rejoin."""
NAMES: Final = ("broker 1", "broker 2", "broker 3", "controller")
HOUR: Final = 3_600_000


@st.composite
def told(draw: st.DrawFn) -> tuple[dict[str, int], list[Precedence]]:
    """True differences of clocks, and causes with effects that come some time later, as both clocks wrote them."""
    ahead = {name: draw(st.integers(-HOUR, HOUR)) for name in NAMES}
    pair = st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True)
    found = [
        Precedence(cause=a, earlier=at + ahead[a], effect=b, later=at + late + ahead[b])
        for (a, b), at, late in draw(st.lists(st.tuples(pair, st.integers(0, HOUR), st.integers(0, HOUR)), max_size=12))
    ]
    return ahead, found


@given(told(), st.integers(0, HOUR))
def test_a_time_lies_where_it_was_on_every_other_clock(case: tuple[dict[str, int], list[Precedence]], at: int) -> None:
    ahead, found = case
    clocks = closed(found)
    for source, target in permutations(NAMES, 2):
        window = translated(at + ahead[source], source, target, clocks)
        assert window is None or window[0] <= at + ahead[target] <= window[1]
        nearest = estimated(at + ahead[source], source, target, clocks)
        assert (window is None) == (nearest is None)
        assert window is None or nearest is None or window[0] <= nearest <= window[1]


def test_two_clocks_that_no_chain_of_causes_joins_bound_each_other_in_nothing() -> None:
    """An hour between the zones of the first two says nothing of a third that only has effects."""
    found = [
        Precedence(cause="broker 1", earlier=HOUR, effect="broker 2", later=0),
        Precedence(cause="broker 1", earlier=HOUR, effect="broker 3", later=HOUR),
    ]
    clocks = closed(found)
    assert set(clocks.most) == {("broker 1", "broker 2"), ("broker 1", "broker 3")}
    assert translated(HOUR, "broker 3", "broker 2", clocks) is None


@given(told(), st.sampled_from(NAMES), st.integers(0, HOUR), st.integers(1, HOUR), st.integers(0, HOUR))
def test_a_time_lies_where_it_was_though_one_clock_was_set_forward(
    case: tuple[dict[str, int], list[Precedence]], clock: str, when: int, by: int, at: int
) -> None:
    """The lines of the clock stand apart by as much as it was set by, or no silence can have hidden it."""
    ahead, found = case

    def shown(name: str, time: int) -> int:
        return time + ahead[name] + (by if name == clock and time > when else 0)

    as_shown = [
        replace(
            each,
            earlier=shown(each.cause, each.earlier - ahead[each.cause]),
            later=shown(each.effect, each.later - ahead[each.effect]),
        )
        for each in found
    ]
    steady = {name: [(ahead[name], ahead[name] + 2 * HOUR)] for name in NAMES}
    steady[clock] = [(ahead[clock], shown(clock, when)), (shown(clock, when + 1), shown(clock, 2 * HOUR))]
    clocks = closed(as_shown, perhaps_set(as_shown, (), {name: joined(times) for name, times in steady.items()}))
    for source, target in permutations(NAMES, 2):
        window = translated(shown(source, at), source, target, clocks)
        assert window is None or window[0] <= shown(target, at) <= window[1]


@given(told(), st.data())
def test_what_is_left_out_only_widens(case: tuple[dict[str, int], list[Precedence]], data: st.DataObject) -> None:
    _, found = case
    kept = data.draw(st.lists(st.sampled_from(found), unique_by=id)) if found else []
    whole, less = closed(found), closed(kept)
    assert all(whole.most[pair] <= most for pair, most in less.most.items())


@given(told(), st.integers(2 * WANDER_MS + 1, HOUR))
def test_a_clock_that_was_set_is_aligned_with_none(case: tuple[dict[str, int], list[Precedence]], by: int) -> None:
    """Whatever happened before and after, an effect that was written before its cause leaves both clocks open."""
    back = Precedence(cause="broker 2", earlier=by, effect="broker 1", later=0)
    there = Precedence(cause="broker 1", earlier=0, effect="broker 2", later=0)
    clocks = closed([*case[1], back, there])
    assert translated(0, "broker 1", "broker 2", clocks) is None
    assert estimated(0, "broker 2", "broker 1", clocks) is None
    shown = clocks.refuted
    assert shown is not None
    assert {shown.cause, shown.effect} <= clocks.contradicted
    assert closed([each for each in case[1] if each.cause < each.effect]).refuted is None


@pytest.mark.parametrize(
    ("ahead", "off", "shown"),
    [(19_800_000, 3_000, 19_800_000), (0, 3_000, 0), (19_800_000 + 400_000, 3_000, 19_800_000 + 397_000)],
)
def test_clocks_that_surely_differ_by_about_what_two_zones_do_differ_by_that(ahead: int, off: int, shown: int) -> None:
    """Also where either clock may have been set in a silence of its logs: most likely none was."""
    found = [
        Precedence(cause="broker 3", earlier=0, effect="broker 1", later=ahead + 30_000),
        Precedence(cause="broker 1", earlier=ahead, effect="broker 3", later=off - WANDER_MS),
    ]
    silent = {"broker 1": [(ahead, ahead), (ahead + 40_000, ahead + 50_000)], "broker 3": [(0, 50_000)]}
    clocks = closed(found, perhaps_set(found, (), {name: joined(times) for name, times in silent.items()}))
    assert estimated(0, "broker 3", "broker 1", clocks) == shown


@cache
def partitions(case: str) -> Sequence[PartitionEvidence]:
    return [found for found in histories(case).values() if found.topic != METADATA_TOPIC]


def refuse_false(clocks: Clocks) -> None:
    """Recordings are of one host: all clocks are one."""
    assert [pair for pair, most in clocks.most.items() if most < WANDER_MS] == []


@pytest.mark.parametrize("case", fast_if(FAST.__contains__, CASES))
def test_no_effect_on_one_host_comes_before_its_cause(case: str) -> None:
    closed_pairs = 0
    for evidence in partitions(case):
        refuse_false(evidence.clocks)
        if evidence.clocks.contradicted:
            assert evidence.order_open  # an epoch that was opened twice is no one cause
            continue
        assert [found for found in precedences(evidence.moments) if found.later < found.earlier] == []
        brokers = [clock for clock in evidence.clocks.bounds if clock in NAMES]
        most = evidence.clocks.most
        closed_pairs += sum((a, b) in most and (b, a) in most for a, b in combinations(brokers, 2))
    # Without request logs and metadata nothing bounds a clock.
    assert closed_pairs >= sum(bool(evidence.clocks.bounds) for evidence in partitions(case)) / 2


@pytest.mark.parametrize("case", ["clean_2_8", "unclean_4x", "fast_failover_kip279"])
def test_a_log_without_its_head_bounds_nothing_falsely(case: str) -> None:
    """A broker that is started again takes its role again: that line is no cause of what came before it."""
    for evidence in partitions(case):
        for clock in {moment.clock for moment in evidence.moments}:
            for head in [m for m in evidence.moments if m.clock == clock and isinstance(m, RoleTaken)]:
                rest = [m for m in evidence.moments if m.clock != clock or (m.time or 0) >= (head.time or 0)]
                assert [found for found in precedences(rest) if found.later < found.earlier] == []


@pytest.mark.parametrize("case", ["clean_4x"])
def test_a_log_without_a_file_amid_it_bounds_nothing_falsely(case: str) -> None:
    """The file in which a broker first took a role is missing: the line in which it takes it again is no cause."""
    for evidence in partitions(case):
        for head in [m for m in evidence.moments if isinstance(m, RoleTaken)]:
            own = [m for m in evidence.moments if m.clock == head.clock and isinstance(m, RoleTaken)]
            for last in (m.time or 0 for m in own if (m.time or 0) >= (head.time or 0)):
                rest = [m for m in evidence.moments if m.clock != head.clock or (m.time or 0) < (head.time or 0)]
                later = (m for m in evidence.moments if m.clock == head.clock and (m.time or 0) > last)
                rest += [replace(m, span=replace(m.span, source=f"{m.span.source}.1")) for m in later]
                assert [found for found in precedences(rest) if found.later < found.earlier] == []


def moved(moments: Sequence[Moment], clock: str, by: int) -> list[Moment]:
    late = [replace(m, **{name: at + by for name, at in times_of(m).items()}) for m in moments]
    return [other if m.clock == clock else m for m, other in zip(moments, late, strict=True)]


@pytest.mark.parametrize("by", [-5 * HOUR, 40_000, HOUR])
def test_a_clock_that_stands_apart_is_found(by: int) -> None:
    evidence = histories("unclean_4x")["pay", 0]
    told = [
        replace(each, since=(each.since or 0) + by) if each.clock == "broker 2" else each
        for each in evidence.settings.statements
    ]
    clocks = clocks_told(moved(evidence.moments, "broker 2", by), settings_of(told))
    offset = clocks.offset("broker 2")
    assert offset.least is not None
    assert offset.most is not None
    assert offset.least <= by <= offset.most <= offset.least + 4 * WANDER_MS
    assert offset.stands_apart
    assert abs(offset.milliseconds - by) <= 2 * WANDER_MS
    assert clocks.offset("broker 3").milliseconds == 0


def test_a_clock_that_was_set_amid_its_logs_is_aligned_with_none() -> None:
    evidence = histories("unclean_4x")["pay", 0]
    half = sorted(m.time for m in evidence.moments if m.time is not None)[len(evidence.moments) // 2]
    late = [m for m in evidence.moments if (m.time or 0) > half]
    clocks = clocks_of([*(m for m in evidence.moments if (m.time or 0) <= half), *moved(late, "broker 2", HOUR)])
    assert clocks.bounds["broker 2"] > 0
    assert [pair for pair in clocks.most if "broker 2" in pair] == []


@pytest.mark.parametrize("by", [-HOUR, 0, 40_000])
def test_the_record_of_a_quorum_that_several_led_is_of_all_their_clocks(by: int) -> None:
    """The second leader's clock shows so much more; what is known of a time in the record holds for both."""
    evidence = histories("unclean_4x")["pay", 0]
    records = sorted({m.span.start for m in evidence.moments if m.clock == "controller"})
    half = records[len(records) // 2]
    early, late = (
        [m for m in evidence.moments if (m.clock, m.span.start >= half) == ("controller", last)] for last in (0, 1)
    )
    moments = [*(m for m in evidence.moments if m.clock != "controller"), *early, *moved(late, "controller", by)]
    told = [
        replace(s, since=(s.since or 0) + by) if s.clock == "controller" and s.span.start >= half else s
        for s in evidence.settings.statements
    ]
    (first,) = [s for s in told if s.name == QUORUM_LEADER]
    second = replace(first, value="101", span=replace(first.span, start=half), since=(late[0].time or 0) + by)
    clocks = if_none_was_set(clocks_told(moments, settings_of([*told, second])))
    window = translated(0, "broker 2", "controller", clocks)
    assert window is not None
    assert window[0] <= min(0, by) <= max(0, by) <= window[1]
    assert window[0] > min(0, by) - 4 * WANDER_MS
    assert window[1] < max(0, by) + 4 * WANDER_MS
    assert not [clock for clock in clocks.bounds if "leader" in clock]


def test_a_record_before_any_leader_is_told_is_of_nobody_knows_which_clock() -> None:
    evidence = histories("unclean_4x")["pay", 0]
    last = max((m.span for m in evidence.moments if m.clock == "controller"), key=lambda span: span.start)
    (first,) = [s for s in evidence.settings.statements if s.name == QUORUM_LEADER]
    told = [s for s in evidence.settings.statements if s is not first]
    led = [replace(first, value=str(leader), span=replace(last, start=last.start + leader)) for leader in (100, 101)]
    clocks = clocks_told(evidence.moments, settings_of([*told, *led]))
    assert translated(0, "broker 2", "controller", clocks) is None
    assert translated(0, "broker 2", "broker 1", clocks) is not None


def test_a_record_may_be_written_after_the_time_of_its_batch() -> None:
    batches = BatchTimes(offsets=(0, 4, 9, 12), times=(100, 150, 140, 200), epochs=(1, 1, 1, 2))
    assert [batches.written(offset) for offset in (0, 3, 4, 9, 12, None)] == [150, 150, None, None, None, None]


@pytest.mark.parametrize(
    ("least", "most", "words", "shift"),
    [
        (-540, 510, "between -540 and +510 ms against controller, by 4 causes and effects", 0),
        (3_599_000, 3_601_000, "between +3599000 and +3601000 ms against controller, by 4 causes and effects", HOUR),
        (None, -HOUR, "at most -3600000 ms against controller, by 4 causes and effects", -HOUR),
        (-HOUR, None, "at least -3600000 ms against controller, by 4 causes and effects", 0),
        (None, None, "not aligned with controller", 0),
    ],
)
def test_what_is_known_of_a_clock_is_said(least: int | None, most: int | None, words: str, shift: int) -> None:
    offset = ClockOffset(clock="broker 1", reference="controller", least=least, most=most, bounds=4)
    assert (offset.words, offset.milliseconds) == (words, shift)
