"""Records without keys: the partitioner is told by their order in time, and no other order is taken for one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.replicas.keyless import order_of
from tests.lab.effort import cases
from tests.rules.keyless_producers import Producer, gaps, round_robin, sticky, uniform_sticky

PARTITIONS = st.integers(2, 8)
LINGERS = st.sampled_from((0, 5, 40))
SEEDS = st.integers(0, 10**6)
Choose = Callable[[Producer, int], int]


def written(choose: Choose, partitions: int, linger: int, seed: int, records: int = 1200) -> str:
    times = [*accumulate(gaps(seed, records))]
    return order_of(Producer(partitions, linger, seed).write(times, choose), partitions)


@settings(max_examples=cases(40), deadline=None)
@given(PARTITIONS, LINGERS, SEEDS)
def test_records_in_turn_are_recognised(partitions: int, linger: int, seed: int) -> None:
    alike = ["alternating"] if partitions == 2 else []
    assert written(round_robin, partitions, linger, seed) in ("round-robin", *alike)


@settings(max_examples=cases(40), deadline=None)
@given(PARTITIONS, LINGERS, SEEDS)
def test_a_partition_a_batch_is_recognised(partitions: int, linger: int, seed: int) -> None:
    assert written(sticky, partitions, linger, seed) == ("alternating" if partitions == 2 else "sticky")


@settings(max_examples=cases(40), deadline=None)
@given(PARTITIONS, LINGERS, SEEDS)
def test_a_partition_for_the_bytes_of_a_batch_is_recognised(partitions: int, linger: int, seed: int) -> None:
    assert written(uniform_sticky, partitions, linger, seed, 3000) == "uniform sticky"


def by_the_hour(producer: Producer, time: int) -> int:
    return time // 900 % producer.partitions


def mostly_one(producer: Producer, time: int) -> int:
    return 1 if time % 10 else time // 10 % producer.partitions


def in_halves(producer: Producer, _time: int) -> int:
    """Only every second partition, batch by batch, as some clients do by mistake."""
    if not producer.takes(producer.at):
        producer.at = int(producer.chance.choice(range(0, producer.partitions, 2)))
    return producer.at


@pytest.mark.parametrize("choose", [by_the_hour, mostly_one, in_halves, lambda _producer, _time: 1])
@settings(max_examples=cases(40), deadline=None)
@given(st.integers(4, 8), LINGERS, SEEDS)
def test_partitions_that_somebody_chose_are_not_taken_for_a_partitioner(
    choose: Choose, partitions: int, linger: int, seed: int
) -> None:
    assert written(choose, partitions, linger, seed) in ("unknown", "untellable")


def test_few_batches_and_batches_of_one_moment_tell_nothing() -> None:
    assert written(sticky, 3, 0, 1, records=12) == "untellable"
    assert order_of(Producer(3, 5, 1).write([7] * 1000, sticky), 3) == "untellable"


@settings(max_examples=cases(20), deadline=None)
@given(PARTITIONS, SEEDS)
def test_two_producers_taken_for_one_are_no_other_partitioner(partitions: int, seed: int) -> None:
    """Without a producer id, those who write in turn are not told as sticky, nor the other way round."""
    times = [*accumulate(gaps(seed, 1200))]
    for choose, never in ((round_robin, ("sticky", "uniform sticky")), (sticky, ("round-robin",))):
        one, two = (Producer(partitions, 40, seed + n).write(times, choose) for n in (0, 1))
        both = Producer(partitions, 40, seed)
        both.done = {p: sorted([*one[p].batches, *two[p].batches], key=lambda b: b.first_time) for p in one if p in two}
        assert order_of(both.write([], choose), partitions) not in never
