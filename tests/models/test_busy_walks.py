"""What walks of busy brokers tell of their times is true, and they are as busy as they are meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from auditor.simulation.journal_rows import LINES_A_STATEMENT, recorded
from auditor.simulation.script_file import script_of
from parsers.broker_log import wall_clock
from parsers.tables.requests import Fetch, Produce
from rules.simulator.run_rows import run
from tests.lab.effort import fast_if
from tests.models.losses import losses
from tests.models.oracle import VERSIONS, Version
from tests.models.test_replay_truth import by_name, walk
from tests.models.witnessed import Witnessed, moments_of, outside, replayed

SOME = fast_if((VERSIONS[0], VERSIONS[3], VERSIONS[-1]).__contains__, VERSIONS)
SEEDS = range(6)
TIMES = ("total_time_us", "queue_time_us", "local_time_us", "remote_time_us")


def fetches(found: Witnessed, leader: int) -> list[Fetch]:
    return [row for row in found.recorder.journals[leader].requests if isinstance(row, Fetch)]


@cache
def walks(version: Version) -> list[Witnessed]:
    return [walk(version, seed, busy=True) for seed in SEEDS]


def all_fetches(version: Version) -> Iterator[tuple[Witnessed, list[Fetch]]]:
    for found in walks(version):
        yield from ((found, fetches(found, leader)) for leader in found.recorder.generations)


def times(row: Fetch) -> tuple[int, int, int]:
    """When a fetch came, when it had been handled at the latest, and when its line was written; in microseconds."""
    total, queue, local, remote = (getattr(row, name) or 0 for name in TIMES)
    assert queue + local + remote <= total
    written = wall_clock(row.time_text) * 1000
    return written - total, written - total + queue + local, written


@pytest.mark.parametrize("version", SOME, ids=by_name)
def test_lines_stand_in_the_order_of_their_times(version: Version) -> None:
    for found, rows in all_fetches(version):
        assert all(one.time_text <= other.time_text for one, other in pairwise(rows))
        assert all(one.span_start < other.span_start for one, other in pairwise(rows))
        assert len(found.truths) == found.recorder.written


@pytest.mark.parametrize("version", SOME, ids=by_name)
def test_a_follower_asks_again_when_it_has_been_answered(version: Version) -> None:
    """Up to the millisecond, which is as much as a line tells."""
    for _, rows in all_fetches(version):
        for follower in {row.replica for row in rows}:
            own = [times(row) for row in rows if row.replica == follower]
            assert all(before[2] <= after[0] + 1000 for before, after in pairwise(own))


@pytest.mark.parametrize("version", SOME, ids=by_name)
def test_a_leader_has_counted_a_fetch_by_the_time_that_it_had_been_handled(version: Version) -> None:
    counted = 0
    for found, rows in all_fetches(version):
        for row in rows:
            if row.error_code == 0 and row.diverging_epoch is None and not row.remote_time_us:
                window = found.window(row.source, row.span_start)
                known = found.truths[window[0] - 1].remote_ends.get((row.broker, row.replica))
                counted += 1
                assert known in (None, row.fetch_offset)
    assert counted > 40


@pytest.mark.parametrize("version", SOME, ids=by_name)
def test_walks_are_busy(version: Version) -> None:
    """Fetches of one millisecond, fetches that wait, lie in the queue, are told late, and in another order."""
    seen: Counter[str] = Counter()
    for found, rows in all_fetches(version):
        in_a_millisecond = Counter(row.time_text for row in rows)
        seen["together"] += sum(count > 1 for count in in_a_millisecond.values())
        seen["waited"] += sum(bool(row.remote_time_us) for row in rows)
        seen["queued"] += sum((row.queue_time_us or 0) >= 150 for row in rows)
        handled = [found.window(row.source, row.span_start)[0] for row in rows]
        seen["late"] += sum(row.span_start // LINES_A_STATEMENT > n for row, n in zip(rows, handled, strict=True))
        seen["other order"] += sum(one > other for one, other in pairwise(handled))
        seen["throttled"] += sum(line.startswith("throttle") for line in found.lines)
    assert all(seen[name] >= 3 for name in ("together", "waited", "queued", "late", "other order", "throttled")), seen


def holds_truth(version: Version, seed: int, *, busy: bool, moves: bool) -> None:
    found = walk(version, seed, busy=busy, moves=moves)
    moments = moments_of(found)
    assert list(outside(found, replayed(found, moments))) == [], seed
    files = losses(found, moments, seed)["files"]
    assert list(outside(found, replayed(found, files))) == [], f"{seed} without files"


OLD = [version for version in VERSIONS if not version.since(1, 0)]
"""These print no line that tells where an epoch opens: the orders of their controllers do."""


@pytest.mark.parametrize("version", OLD, ids=by_name)
def test_intervals_hold_the_truth_of_releases_that_tell_little(version: Version) -> None:
    for seed in range(6):
        holds_truth(version, seed, busy=False, moves=False)


@pytest.mark.parametrize("seed", [100015])
def test_before_1_0_a_broker_may_have_started_again_without_a_line(seed: int) -> None:
    holds_truth(VERSIONS[0], seed, busy=False, moves=False)


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[2], VERSIONS[3]], ids=by_name)
@pytest.mark.parametrize("seed", [3, 6, 12])
def test_a_line_that_is_late_is_not_taken_for_one_of_a_newer_role(version: Version, seed: int) -> None:
    holds_truth(version, seed, busy=True, moves=False)


def test_a_line_that_is_late_where_its_file_now_begins_may_be_of_a_role_that_stood_there() -> None:
    found = walk(VERSIONS[0], 210013, busy=True)
    kept = losses(found, moments_of(found), 210013)["beginnings"]
    assert list(outside(found, replayed(found, kept, found.begins))) == []


@pytest.mark.parametrize("version", fast_if((VERSIONS[5], VERSIONS[7]).__contains__, VERSIONS), ids=by_name)
def test_intervals_hold_the_truth_while_partitions_move(version: Version) -> None:
    """A member of the ISR that is of the assignment no more is counted by nobody."""
    for seed in range(4):
        holds_truth(version, seed, busy=False, moves=True)


def test_a_producer_that_waited_for_the_isr_has_done_so_since_its_records_were_appended() -> None:
    script = {"brokers": [1, 2], "events": ["produce 1 a acks=1", "produce 1 b", "wait 2s", "fetch 2", "fetch 2"]}
    requests = recorded(run(script_of(script, "waits"))).journals[1].requests
    at_once, waited = (row for row in requests if isinstance(row, Produce))
    assert (at_once.base_offset, at_once.remote_time_us) == (0, 0)
    assert waited.base_offset == 1
    assert (waited.total_time_us or 0) > (waited.remote_time_us or 0) > 1_900_000
