"""A clock that is set back amid its logs: what was written since comes after what was written before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from parsers.provenance import Span
from rules.history.clocks import clocks_of
from rules.history.falling_times import by_clock, falls_in
from rules.history.last_life import of_the_last_life
from rules.history.moments import Moment, ordered
from rules.history.set_back import going_on
from rules.history.sources_disagree import contradiction
from rules.history.statements import statement, times_of
from rules.history.terms import in_terms
from rules.history.turns import roles_fall_back
from tests.models.oracle import VERSIONS, Version
from tests.models.test_replay_truth import TOLD_OF, by_name, walk
from tests.models.witnessed import moments_of, replayed
from tests.replaced import replace

HOUR = 3_600_000
SERVER, STATES, REQUESTS = "server.log", "state-change.log", "kafka-request.log"


def line(kind: str, minute: int, place: int, source: str = STATES, **told: int) -> Moment:
    span = Span(source=source, start=place, end=place + 1)
    values: dict[str, int] = {"broker": 1, "witness": 1, **told}
    return statement(kind, clock="broker 1", time=10 * HOUR + minute * 60_000, span=span, **values)


ROLES = [
    line("leader-starts", 10, 0, epoch=0),
    line("follower-starts", 20, 1, epoch=1),
    line("leader-starts", 30 - 60, 2, epoch=2),
    line("follower-starts", 40 - 60, 3, epoch=3),
]


def shifted(moments: Sequence[Moment]) -> list[Moment]:
    """What is told where nothing else is known of where times fall; a step that one of two files shows stays open."""
    return going_on(moments, by_clock(falls_in(moments)))


def epochs(moments: Iterable[Moment]) -> list[int | None]:
    return [moment.epoch for moment in ordered(moments)]


def test_roles_rise_as_their_lines_do() -> None:
    assert epochs(ROLES) == [2, 3, 0, 1]
    told = shifted(ROLES)
    assert epochs(told) == [0, 1, 2, 3]
    assert [moment.clock_time for moment in told] == [moment.time for moment in ROLES]
    assert not roles_fall_back(in_terms(told))


@pytest.mark.parametrize(
    ("older_by", "behind", "every", "falls"),
    [
        (600, 500, 1_500, 0),  # a wrong second, amid lines that are few
        (8_000, 100, 100, 0),  # a thread that waited, amid lines that are many
        (8_000, 100, 9_000, 1),  # a pause as long is nothing unusual: a clock may have been set back in it
        (8_000, -5_000, 100, 1),  # and the next line is older too
        (600, -400, 1_500, 1),
    ],
)
def test_one_line_that_is_older_than_those_around_it_is_no_clock(
    older_by: int, behind: int, every: int, falls: int
) -> None:
    before = [*range(0, 6 * every, every)]
    behind_it = [before[-1] + behind + number * every for number in range(6)]
    times = [*before, before[-1] - older_by, *behind_it]
    lines = [replace(line("produced", 0, place, REQUESTS, offset=place), time=at) for place, at in enumerate(times)]
    assert len(falls_in(lines)) == falls


def test_another_file_is_put_where_nothing_falls_back() -> None:
    states = [line("isr", 12, 0, SERVER, partition_epoch=1), line("isr", 35 - 60, 0, "server.log.1", partition_epoch=4)]
    orders = [line("leadership", 11, 0, REQUESTS, epoch=0, partition_epoch=0, leader=1)]
    told = shifted([*ROLES, *states, *orders])
    assert [m.partition_epoch for m in ordered(told) if m.partition_epoch is not None] == [0, 1, 4]


def test_where_a_file_may_be_of_either_side_nothing_is_said_by_epoch() -> None:
    told = shifted([*ROLES, line("truncated", 35 - 60, 0, SERVER, offset=3)])
    assert roles_fall_back(told)
    assert of_the_last_life(told) == told


def test_parts_of_a_log_in_another_order_are_no_clock_set_back() -> None:
    parts = [replace(moment, span=Span(source=STATES, start=place, end=place + 1)) for moment, place in zip(
        [line("leader-starts", minute, 0, epoch=epoch) for minute, epoch in ((10, 0), (20, 1), (30, 2), (40, 3))],
        (2, 3, 0, 1), strict=True,
    )]  # fmt: skip
    assert shifted(parts) == parts


def test_epochs_that_fall_in_the_file_too_are_left_as_they_are() -> None:
    put_back = [line("leader-starts", 10, 0, epoch=3), line("leader-starts", 20, 1, epoch=1)]
    assert shifted(put_back) == put_back
    assert roles_fall_back(put_back)


def test_fetches_that_somebody_wrote_down_are_in_no_order() -> None:
    rows = [line("fetched", minute, place, "fetches.csv", offset=1) for place, minute in enumerate((50, 10, 30))]
    assert shifted(rows) == rows


def test_a_clock_that_was_set_back_dates_nothing_on_another() -> None:
    fetch = statement("fetched", clock="broker 2", witness=2, broker=1, epoch=1, time=11 * HOUR, span=ROLES[0].span)
    roles = [ROLES[0], replace(ROLES[1], former=0), *ROLES[2:]]
    assert set(clocks_of([*roles[:2], fetch]).bounds) == {"broker 1", "broker 2"}
    assert clocks_of([*shifted(roles), fetch]).bounds == {}


@pytest.mark.parametrize("deleted", [False, True])
def test_epochs_that_begin_again_after_a_log_was_deleted_are_no_contradiction(deleted: bool) -> None:
    """The same requests are one where the log was not deleted: the broker had left their epoch."""
    asked = line("fetched", 40, 0, REQUESTS, epoch=0, broker=2, offset=1, error=0)
    told = [
        *(line("leader-starts", minute, place, epoch=epoch) for place, minute, epoch in ((0, 10, 0), (2, 30, 0))),
        line("follower-starts", 20, 1, epoch=3),
        *([line("log-deleted", 25, 0, SERVER)] if deleted else []),
        replace(asked, arrived=asked.time),
    ]
    assert any(moment.set_back is None for moment in shifted(told)) != deleted


def first_role(minute: int, place: int, epoch: int) -> Moment:
    return replace(line("follower-starts", minute, place, epoch=epoch), fresh=True)


def served(minute: int) -> Moment:
    asked = line("fetched", minute, 0, REQUESTS, epoch=1, broker=2, offset=1, error=0)
    return replace(asked, arrived=asked.time)


def states(*told: tuple[int, int, str, int]) -> list[Moment]:
    return [line("isr", minute, place, log, partition_epoch=state) for place, minute, log, state in told]


def told_watermark(minute: int, watermark: int) -> Moment:
    return line("isr", minute, 1, epoch=0, high_watermark=watermark, partition_epoch=1)


def answered(minute: int, watermark: int) -> Moment:
    return replace(served(minute), epoch=0, taken_in=served(minute).time, high_watermark=watermark)


LOADED = line("log-loaded", 15, 0, SERVER, end_offset=0)
CONTRADICTIONS = {
    "a process loads a log amid its life": (
        [ROLES[0], LOADED, line("follower-starts", 20, 1, epoch=1, former=0)],
        [ROLES[0], LOADED, first_role(20, 1, 1)],
    ),
    "a process of 2.6 and newer leads on after it loaded a log": (
        [ROLES[0], LOADED, replace(line("leader-starts", 20, 1, epoch=2, former=1), isr=(1, 2))],
        # Up to 2.5 it may have followed in epoch 1 since, of which it writes nothing.
        [ROLES[0], LOADED, line("leader-starts", 20, 1, epoch=2, former=1)],
    ),
    "a process takes its first role before it loads the log": (
        [ROLES[0], first_role(12, 1, 1), LOADED],
        [ROLES[0], LOADED, first_role(17, 1, 1)],
    ),
    "a process serves before its first role": (
        [LOADED, served(16), first_role(17, 0, 1)],
        [LOADED, first_role(16, 0, 1), served(17)],
    ),
    "a state before an older one": (
        states((0, 10, SERVER, 3), (1, 12, SERVER, 5), (0, 11, STATES, 2), (1, 13, STATES, 4)),
        states((0, 10, SERVER, 3), (1, 14, SERVER, 5), (0, 9, STATES, 2), (1, 13, STATES, 4)),
    ),
    "a leader answers with less than a line of its told": (
        [ROLES[0], told_watermark(12, 4), answered(13, 3)],
        [ROLES[0], told_watermark(12, 4), answered(11, 3), answered(13, 4)],
    ),
    "a leader answered with more than a line of its tells": (
        [ROLES[0], answered(11, 5), told_watermark(12, 4)],
        [ROLES[0], answered(13, 5), told_watermark(12, 4)],
    ),
    "a role with less than a cut left": (
        [LOADED, line("truncated", 16, 1, SERVER, offset=7), line("leader-starts", 17, 0, epoch=1, offset=0)],
        [LOADED, line("truncated", 16, 1, SERVER, offset=7), line("leader-starts", 17, 0, epoch=1, offset=7)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_logs_of_one_broker_that_contradict_each_other_are_of_no_one_clock(case: str) -> None:
    wrong, right = (
        [replace(m, end_offset=8) if m is LOADED and "less" in case else m for m in told]
        for told in CONTRADICTIONS[case]
    )
    assert all(moment.set_back is None for moment in shifted(wrong))
    assert shifted(right) == right


ORDERED = [line("leadership", 15, 0, REQUESTS, epoch=1, partition_epoch=0, leader=1)]
IN_WORDS = {
    "a process loads a log amid its life": (15, "loaded the partition's log", 20, "went on from epoch 0 to epoch 1"),
    "a process takes its first role before it loads the log": (
        12, "took its first role after a start, in epoch 1", 15, "loaded the partition's log",
    ),
    "a process serves before its first role": (
        16, "took in a fetch of the partition", 17, "took its first role after a start, in epoch 1",
    ),
    "a state before an older one": (12, "knew partition epoch 5", 13, "learnt partition epoch 4"),
    "a leader answers with less than a line of its told": (
        12, "had high watermark 4 in epoch 0", 13, "took in and answered a fetch of that epoch with a lower one",
    ),
    "a leader answered with more than a line of its tells": (
        11, "had answered a fetch of that epoch with a higher high watermark", 12, "had high watermark 4 in epoch 0",
    ),
    "a role with less than a cut left": (16, "had log end offset 7", 17, "took a role with log end offset 0"),
}  # fmt: skip
AGAINST_ROLES = {
    "an order answered before its role": (
        [*ROLES[:1], *ORDERED, line("follower-starts", 20, 1, epoch=1, former=0)],
        (15, "answered the order to take its role in epoch 1", 20, "took its role in epoch 1"),
    ),
    "an order that came after its role": (
        [*ROLES[:1], *ORDERED, line("follower-starts", 12, 1, epoch=1, former=0)],
        (12, "took its role in epoch 1", 15, "got the order to take its role in epoch 1"),
    ),
    "a fetch of an epoch that was left": (
        [*ROLES[:2], replace(served(25), epoch=0)],
        (20, "became a follower in epoch 1", 25, "took in a fetch of epoch 0"),
    ),
    "a fetch of an epoch that was not led yet": (
        [*ROLES[:1], line("leader-starts", 20, 1, epoch=1, former=0), served(18)],
        (18, "answered a fetch of epoch 1", 20, "began to lead in epoch 1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [*IN_WORDS, *AGAINST_ROLES])
def test_two_lines_that_contradict_each_other_are_told_with_their_times(case: str) -> None:
    if case in IN_WORDS:
        told = [replace(m, end_offset=8) if m is LOADED and "less" in case else m for m in CONTRADICTIONS[case][0]]
        words = IN_WORDS[case]
    else:
        told, words = AGAINST_ROLES[case]
    found = contradiction(told)
    assert found is not None
    minutes = ((at - 10 * HOUR) // 60_000 for at in (found.first, found.then))
    assert dict(zip(minutes, (found.did, found.also), strict=True)) == {words[0]: words[1], words[2]: words[3]}


def set_back(moments: Sequence[Moment], broker: int) -> list[Moment]:
    """What a broker wrote in the second half of a walk, an hour earlier by its own clock."""
    half = sorted(moment.span.start for moment in moments)[len(moments) // 2]
    told: list[Moment] = []
    for moment in moments:
        late = moment.clock == f"broker {broker}" and moment.span.start >= half
        times = times_of(moment) if late else {}
        told.append(replace(moment, **{name: at - HOUR for name, at in times.items()}))
    return sorted(told, key=lambda moment: (moment.clock, moment.span.source, moment.span.start))


def judge(version: Version, seed: int) -> int:
    """No told high watermark lies outside what is recomputed; how many intervals are what they are without it."""
    found = walk(version, seed)
    moments = moments_of(found)
    told = shifted(set_back(moments, 1 + seed % 2))
    if any(moment.set_back is None for moment in told):
        return 0
    said = replayed(found, in_terms(told)).told_watermarks
    assert [one for one in said if one.standing in ("above", "below")] == [], (version.name, seed)
    every = replayed(found, moments).told_watermarks
    known = {(one.moment.span, one.moment.count): one.expected.interval for one in every}
    return sum(known.get((one.moment.span, one.moment.count)) == one.expected.interval for one in said)


@pytest.mark.parametrize("version", [VERSIONS[2], VERSIONS[4], VERSIONS[-1]], ids=by_name)
def test_a_replay_knows_what_it_knew_before_the_clock_was_set_back(version: Version) -> None:
    assert version in TOLD_OF
    assert sum(judge(version, seed) for seed in range(8)) >= 8
