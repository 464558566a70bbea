"""Plans as suites of Great Expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from great_expectations import ExpectationSuite
from great_expectations.expectations import (  # type: ignore[attr-defined]  # its public names, re-exported unsaid
    Expectation,
    ExpectColumnToExist,
    ExpectColumnValuesToBeBetween,
    ExpectColumnValuesToBeInSet,
    ExpectColumnValuesToBeOfType,
    ExpectColumnValuesToNotBeInSet,
    ExpectColumnValuesToNotBeNull,
)

from auditor.quality.plan import Expected, Kind

NAME: Final = "name"
"""Key under which an expectation bears our name, in suites and in results."""


def suite_of(name: str, expected: Iterable[Expected]) -> ExpectationSuite:
    """A suite of these expectations, each with its name and its sentence."""
    return ExpectationSuite(name=name, expectations=[expectation_of(one) for one in expected])


def expectation_of(expected: Expected) -> Expectation:
    """One expectation in the words of Great Expectations."""
    described = {"description": f"{expected.name}: {expected.says}", "meta": {NAME: expected.name}}
    kind, values = _KINDS[expected.kind]
    return kind(column=expected.column, **values(expected), **described)


def _none(_: Expected) -> dict[str, Any]:
    return {}


def _set(expected: Expected) -> dict[str, Any]:
    return {"value_set": list(expected.values)}


_KINDS: Final[Mapping[Kind, tuple[Callable[..., Expectation], Callable[[Expected], dict[str, Any]]]]] = {
    "exists": (ExpectColumnToExist, _none),
    "type": (ExpectColumnValuesToBeOfType, lambda expected: {"type_": expected.type or ""}),
    "not_null": (ExpectColumnValuesToNotBeNull, _none),
    "between": (
        ExpectColumnValuesToBeBetween,
        lambda expected: {"min_value": expected.minimum, "max_value": expected.maximum},
    ),
    "in_set": (ExpectColumnValuesToBeInSet, _set),
    "not_in_set": (ExpectColumnValuesToNotBeInSet, _set),
}
"""Of each kind its expectation, and what that asks for beside the column."""
