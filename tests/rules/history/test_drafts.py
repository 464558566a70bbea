"""Values that were written as drafts are frozen ones like any other."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pytest

from parsers.provenance import Span
from rules.history.drafts import altered, drafted, of_columns
from rules.history.statements import Fetched, Witnessed

SPAN = Span(source="r", start=0, end=1)
MOMENT = Fetched(kind="fetched", clock="broker 1", offset=5, session=7, span=SPAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A value that is made as dataclasses make it."""

    name: str
    number: int = 3
    left: int | None = None


@drafted
@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """The same."""

    name: str
    number: int = 3
    left: int | None = None


def test_a_value_has_its_fields_and_their_defaults() -> None:
    assert (MOMENT.kind, MOMENT.offset, MOMENT.session, MOMENT.count, MOMENT.term) == ("fetched", 5, 7, 1, None)
    assert {field.name for field in fields(Fetched)} == set(Fetched.__slots__)
    for values in ({"name": "a"}, {"name": "b", "number": 4}, {"name": "c", "left": 0}):
        drawn, plain = Drafted(**values), Plain(**values)
        assert repr(drawn) == repr(plain).replace("Plain", "Drafted")
        assert hash(drawn) == hash(plain)


def test_it_is_frozen_and_compares_as_a_value() -> None:
    with pytest.raises(FrozenInstanceError):
        MOMENT.offset = 6  # type: ignore[misc]
    assert replace(MOMENT, offset=6) != MOMENT == replace(replace(MOMENT, offset=6), offset=5)
    assert len({MOMENT, replace(MOMENT), replace(MOMENT, count=2)}) == 2


def unpickled(one: Fetched) -> object:
    return pickle.loads(pickle.dumps(one))  # noqa: S301 - written here


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, unpickled])
def test_it_is_copied_and_travels(again: object) -> None:
    assert callable(again)
    assert again(MOMENT) == MOMENT
    assert type(again(MOMENT)) is Fetched


@pytest.mark.parametrize("values", [{"number": 1}, {"name": "a", "unknown": 1}])
def test_what_is_no_field_and_what_is_missing_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Drafted(**values)  # type: ignore[arg-type]


def test_a_value_that_is_altered_is_a_new_one() -> None:
    other = altered(MOMENT, offset=6, session=None)
    assert other == replace(MOMENT, offset=6, session=None) != MOMENT
    assert (type(other), MOMENT.offset, hash(altered(MOMENT)) == hash(MOMENT)) == (Fetched, 5, True)
    with pytest.raises(FrozenInstanceError):
        other.offset = 7  # type: ignore[misc]
    with pytest.raises(AttributeError):
        altered(MOMENT, unknown=1)


def test_values_are_made_of_columns_with_their_defaults() -> None:
    made = list(of_columns(Drafted, {"left": iter([1, None]), "name": ["a", "b"]}))
    assert made == [Drafted(name="a", left=1), Drafted(name="b")]
    assert {type(one) for one in made} == {Drafted}


def test_a_base_that_is_shared_gives_its_fields_and_makes_no_values() -> None:
    assert "offset" in Fetched.__slots__
    with pytest.raises(TypeError):
        Witnessed(clock="broker 1", span=SPAN)
