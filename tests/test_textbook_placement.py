"""The textbook's examples of where groups, keys and partitions belong, value by value."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest

from parsers.inventory import take_inventory
from rules.protocol.assignment import (
    Member,
    Share,
    assign_ranges,
    assign_round_robin,
    given_twice,
    is_balanced,
    left_over,
)
from rules.protocol.partitioning import group_partition, murmur2
from rules.replicas.keyless import order_of
from tests.rules.keyless_producers import Producer, gaps, round_robin, sticky, uniform_sticky
from tests.rules.protocol.client_vectors import vectors
from tests.rules.protocol.test_assignment import answered
from tests.rules.test_group_homes import dump, found
from tests.rules.test_key_placement import KEYS, Topic, by


def member(*topics: str) -> Member:
    return Member(topics=frozenset(topics))


def share(*partitions: str) -> Share:
    return frozenset((each[:-2], int(each[-1])) for each in partitions)


def test_group_partition(tmp_path: Path) -> None:
    assert group_partition("g1", 50) == 42
    assert found(dump(tmp_path / "home", ["g1"], partition=42)) == []
    (finding,) = found(dump(tmp_path / "elsewhere", ["g1"], partition=7))
    assert finding.values()["homes"] == [42]


def test_names_of_directories(tmp_path: Path) -> None:
    for name in (f"test_topic1-2.{'0' * 32}-delete", "test_topic2-2"):
        folder = tmp_path / "broker-1" / "data" / name
        folder.mkdir(parents=True)
        (folder / f"{0:020d}.log").write_bytes(b"")
    told = [(r.origin.topic, r.origin.partition, r.state) for r in take_inventory(tmp_path).replicas]
    assert sorted(told) == [("test_topic1", 2, "deleted"), ("test_topic2", 2, "current")]


def test_partitioners(tmp_path: Path) -> None:
    hashed = Topic(tmp_path / "key", 3)
    hashed.write(KEYS, by("murmur2", 3))
    assert hashed.judged() == ([], [])
    held = next(one for one in hashed.logs[murmur2(b"user-7") % 3] if b"\x0cuser-7\x02" in one.content)
    assert held.end == held.base + 1
    times = [*accumulate(gaps(1, 900))]
    orders: dict[str, Callable[[Producer, int], int]] = {
        "round-robin": round_robin, "sticky": sticky, "uniform sticky": uniform_sticky,
    }  # fmt: skip
    for name, choose in orders.items():
        told = Producer(3, 5, 1).write(times, choose)
        assert order_of(told, 3) == name
        topic = Topic(tmp_path / name, 3)
        topic.write_batches(told)
        assert topic.judged() == ([], [])
    by_hand = Topic(tmp_path / "by hand", 3)
    by_hand.write_batches(Producer(3, 5, 1).write(times, lambda _producer, time: 2 * (time % 7 == 0)))
    accused, left = by_hand.judged()
    assert (accused, len(left)) == ([], 1)
    for name, place in {"explicit": lambda _: 1, "custom": lambda key: key[-1] % 3}.items():
        chosen = Topic(tmp_path / name, 3)
        chosen.write(KEYS, place)
        accused, left = chosen.judged()
        assert accused == []
        assert len(left) == 1


@pytest.mark.parametrize(("partitions", "consumers"), [(10, 3), (6, 3), (2, 3), (7, 4)])
def test_range(partitions: int, consumers: int) -> None:
    each, more = divmod(partitions, consumers)
    given = assign_ranges({"t": partitions}, [member("t")] * consumers)
    assert [len(own) for own in given] == [each + 1] * more + [each] * (consumers - more)
    assert sorted(place for own in given for place in own) == [("t", n) for n in range(partitions)]


def test_range_of_two_topics_favours_the_first() -> None:
    given = assign_ranges({"t0": 3, "t1": 3}, [member("t0", "t1")] * 2)
    assert [len(own) for own in given] == [4, 2]


def test_round_robin() -> None:
    assert assign_round_robin({"t0": 3, "t1": 3}, [member("t0", "t1")] * 2) == (
        share("t0-0", "t0-2", "t1-1"),
        share("t0-1", "t1-0", "t1-2"),
    )


def test_round_robin_uneven() -> None:
    members = [member("t1"), member("t1", "t2"), member("t1", "t2", "t3")]
    assert assign_round_robin({"t1": 1, "t2": 2, "t3": 3}, members) == (
        share("t1-0"),
        share("t2-0"),
        share("t2-1", "t3-0", "t3-1", "t3-2"),
    )


def test_sticky() -> None:
    told = [(case, answer) for case, answer in vectors("assign cooperative-sticky") if "t=10" in case]
    first, after, again = (answered(answer, answer_names(answer)) for _, answer in told)
    members = [member("t")] * 3
    assert is_balanced(first, members)
    # c leaves: a and b keep theirs, and the orphans are spread evenly.
    assert all(before < since for before, since in zip(first, after, strict=False))
    assert is_balanced(after, members[:2])
    assert left_over(after, members[:2], {"t": 10}) == given_twice(after) == frozenset()
    # c returns: nobody gets what another still has; what a and b give up waits for the next generation.
    assert all(since <= before for since, before in zip(again, after, strict=False))
    assert len(left_over(again, members, {"t": 10})) == 3


def answer_names(answer: str) -> list[str]:
    return [own.partition("=")[0] for own in answer.split(",")]
