"""Assignments recomputed against the Java client's answers, and the laws that sticky ones keep."""

from __future__ import annotations

import pytest

from rules.protocol.assignment import (
    Member,
    Share,
    assign_ranges,
    assign_round_robin,
    foreign,
    given_twice,
    is_balanced,
    left_over,
)
from tests.rules.protocol.client_vectors import vectors

Case = tuple[dict[str, int], dict[tuple[str, int], frozenset[str]], list[str], list[Member]]


def case_of(topics: str, members: str) -> Case:
    """Counts, racks of partitions, members' names and members, in the assignors' order."""
    counts: dict[str, int] = {}
    racks: dict[tuple[str, int], frozenset[str]] = {}
    for topic in topics.split(","):
        head, _, sets = topic.partition("@")
        name, _, count = head.partition("=")
        counts[name] = int(count)
        racks.update(
            {(name, number): frozenset(own.split("+")) for number, own in enumerate(sets.split(";") if sets else ())}
        )
    told: list[tuple[bool, str, str, Member]] = []
    for member in members.split(","):
        who, _, read = member.partition("=")
        who, _, instance = who.partition("#")
        name, _, rack = who.partition("@")
        own = Member(topics=frozenset(read.partition("!")[0].split("+")), rack=rack or None)
        told.append((not instance, instance or name, name, own))
    told.sort(key=lambda each: each[:2])
    return counts, racks, [each[2] for each in told], [each[3] for each in told]


def answered(answer: str, names: list[str]) -> tuple[Share, ...]:
    shares: dict[str, Share] = {}
    for own in answer.split(","):
        name, _, partitions = own.partition("=")
        pairs = (each.rsplit("-", 1) for each in partitions.split("+") if each)
        shares[name] = frozenset((topic, int(number)) for topic, number in pairs)
    return tuple(shares[name] for name in names)


def sticky_vectors() -> list[tuple[str, str]]:
    """Of those without a past: where there is one, a cooperative member gives up first what is to move."""
    told = [*vectors("assign sticky"), *vectors("assign cooperative-sticky")]
    return [(case, answer) for case, answer in told if "!" not in case]


@pytest.mark.parametrize(("case", "answer"), vectors("assign range"))
def test_ranges_are_the_java_clients(case: str, answer: str) -> None:
    counts, racks, names, members = case_of(*case.split(" ")[2:])
    assert assign_ranges(counts, members, racks) == answered(answer, names)


@pytest.mark.parametrize(("case", "answer"), vectors("assign roundrobin"))
def test_round_robin_is_the_java_clients(case: str, answer: str) -> None:
    counts, _, names, members = case_of(*case.split(" ")[2:])
    assert assign_round_robin(counts, members) == answered(answer, names)


@pytest.mark.parametrize(("case", "answer"), sticky_vectors())
def test_what_the_java_clients_sticky_assignors_give_keeps_the_laws(case: str, answer: str) -> None:
    counts, _, names, members = case_of(*case.split(" ")[2:])
    shares = answered(answer, names)
    assert foreign(shares, members, counts) == given_twice(shares) == left_over(shares, members, counts) == frozenset()
    assert is_balanced(shares, members)


def test_each_law_can_be_broken() -> None:
    reader = Member(topics=frozenset({"t"}))
    one, two = frozenset({("t", 0), ("t", 1), ("t", 2)}), frozenset({("t", 2)})
    assert given_twice([one, two]) == {("t", 2)}
    assert foreign([frozenset({("u", 0), ("t", 9)})], [reader], {"t": 3}) == {("u", 0), ("t", 9)}
    assert left_over([two], [reader], {"t": 3}) == {("t", 0), ("t", 1)}
    assert not is_balanced([one, two], [reader, reader])
    assert is_balanced([one, two], [reader, Member(topics=frozenset({"t", "u"}))])
