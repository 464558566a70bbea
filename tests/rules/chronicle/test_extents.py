"""Laws of sets of offsets, and of those that are known in part: the truth is never outside, and every bound is met."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.chronicle.extents import Extents, Possible

OFFSETS = range(12)
SETS = st.frozensets(st.sampled_from(OFFSETS))


def extents(offsets: frozenset[int]) -> Extents:
    return Extents.of((offset, offset + 1) for offset in offsets)


def members(held: Extents) -> frozenset[int]:
    return frozenset(offset for start, end in held.parts for offset in range(start, end))


Operation = Callable[[frozenset[int], frozenset[int]], frozenset[int]]
OPERATIONS: tuple[Operation, ...] = (frozenset.__or__, frozenset.__and__, frozenset.__sub__)


def applied(operation: Operation, left: Possible, right: Possible) -> Possible:
    return {"__or__": left | right, "__and__": left & right, "__sub__": left - right}[operation.__name__]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))))
def test_ranges_are_in_order_and_none_touches_another(parts: list[tuple[int, int]]) -> None:
    held = Extents.of(parts)
    assert members(held) == {offset for start, end in parts for offset in range(start, end)}
    assert all(before.end_offset < after.start_offset for before, after in pairwise(held.ranges))
    assert all(each.start_offset < each.end_offset for each in held.ranges)


@given(SETS, SETS)
def test_extents_are_sets_of_offsets(left: frozenset[int], right: frozenset[int]) -> None:
    one, other = extents(left), extents(right)
    assert members(one | other) == left | right
    assert members(one & other) == left & right
    assert members(one - other) == left - right
    assert (one <= other) == (left <= right)
    assert bool(one) == bool(left)
    assert [offset in one for offset in OFFSETS] == [offset in left for offset in OFFSETS]
    assert (one == other) == (left == right), "the same offsets are told in one way"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
@given(data=st.data())
def test_the_truth_lies_between_what_is_sure_and_what_is_possible(operation: Operation, data: st.DataObject) -> None:
    truths, known = [], []
    for _ in range(2):
        truth, unsure, beyond = data.draw(SETS), data.draw(SETS), data.draw(SETS)
        truths.append(truth)
        known.append(Possible(sure=extents(truth - unsure), possible=extents(truth | beyond)))
    said = applied(operation, *known)
    assert members(said.sure) <= operation(*truths) <= members(said.possible)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
@given(data=st.data())
def test_nothing_narrower_can_be_said(operation: Operation, data: st.DataObject) -> None:
    """Of two sets that may each be anything between their bounds, some choice meets either bound of the result."""
    bounds = []
    for _ in range(2):
        sure = data.draw(SETS)
        bounds.append((sure, sure | data.draw(SETS)))
    (low, high), (other_low, other_high) = bounds
    known = [Possible(sure=extents(one), possible=extents(other)) for one, other in bounds]
    said = applied(operation, *known)
    least, most = (other_high, other_low) if operation is frozenset.__sub__ else (other_low, other_high)
    assert members(said.sure) == operation(low, least)
    assert members(said.possible) == operation(high, most)


@given(SETS, SETS)
def test_more_doubt_never_makes_anything_sure(left: frozenset[int], right: frozenset[int]) -> None:
    one, other = (Possible.known(*extents(offsets).parts) for offsets in (left, right))
    for doubted in (one.in_doubt - other, one - other.in_doubt, one.in_doubt - other.in_doubt):
        assert doubted.sure <= (one - other).sure
        assert (one - other).possible <= doubted.possible
