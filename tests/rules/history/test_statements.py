"""A statement has the fields of its kind, and is made of a line that may tell more than its kind holds."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import pytest

from parsers.provenance import Span
from parsers.tables import from_arrow, to_arrow
from rules.history.statements import KINDS, Fetched, LogCut, Moment, statement, times_of
from tests.replaced import replace

SPAN = Span(source="r", start=0, end=1)


def test_every_class_of_statement_has_kinds_and_each_kind_one_class() -> None:
    assert {*KINDS.values()} == {*get_args(Moment)}
    named = [kind for each in get_args(Moment) for kind in KINDS if KINDS[kind] is each]
    assert sorted(named) == sorted(KINDS)


def test_what_a_kind_has_no_place_for_is_left_out() -> None:
    cut = statement("truncated", clock="broker 1", offset=5, isr=(1, 2), span=SPAN)
    assert cut == LogCut(kind="truncated", clock="broker 1", offset=5, span=SPAN)


def test_what_no_statement_has_is_refused() -> None:
    with pytest.raises(TypeError, match="ofset"):
        statement("truncated", clock="broker 1", ofset=5, span=SPAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    moments: tuple[Moment, ...]
    last: Moment | None = None


def test_statements_of_all_classes_travel_side_by_side() -> None:
    made = [statement(kind, clock="broker 1", time=3, offset=5, isr=(1,), acks=-1, span=SPAN) for kind in KINDS]
    rows = [Row(moments=tuple(made), last=made[0]), Row(moments=())]
    assert from_arrow(to_arrow(rows, Row), Row) == rows


@pytest.mark.parametrize("each", get_args(Moment))
def test_no_class_has_the_fields_of_all(each: type[Moment]) -> None:
    most = {name for other in get_args(Moment) for name in other.__struct_fields__}
    assert {*each.__struct_fields__} < most


def test_times_are_those_on_its_clock() -> None:
    fetch = Fetched(kind="fetched", clock="broker 1", time=9, taken_in=7, offset=5, span=SPAN)
    assert times_of(fetch) == {"time": 9, "taken_in": 7}


def unpickled(one: Fetched) -> object:
    return pickle.loads(pickle.dumps(one))  # noqa: S301 - written here


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, unpickled])
def test_a_statement_is_frozen_and_travels(again: Callable[[Fetched], object]) -> None:
    fetch = Fetched(kind="fetched", clock="broker 1", offset=5, session=7, span=SPAN)
    with pytest.raises(AttributeError):
        fetch.offset = 6  # type: ignore[misc]
    assert again(fetch) == fetch != replace(fetch, offset=6)
    assert len({fetch, again(fetch), replace(fetch, count=2)}) == 2
