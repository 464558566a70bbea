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
    return _BUILDERS[expected.kind](expected, described)


def _exists(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnToExist(column=expected.column, **described)


def _type(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnValuesToBeOfType(column=expected.column, type_=expected.type or "", **described)


def _not_null(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnValuesToNotBeNull(column=expected.column, **described)


def _between(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnValuesToBeBetween(
        column=expected.column, min_value=expected.minimum, max_value=expected.maximum, **described
    )


def _in_set(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnValuesToBeInSet(column=expected.column, value_set=list(expected.values), **described)


def _not_in_set(expected: Expected, described: dict[str, Any]) -> Expectation:
    return ExpectColumnValuesToNotBeInSet(column=expected.column, value_set=list(expected.values), **described)


_BUILDERS: Final[Mapping[Kind, Callable[[Expected, dict[str, Any]], Expectation]]] = {
    "exists": _exists,
    "type": _type,
    "not_null": _not_null,
    "between": _between,
    "in_set": _in_set,
    "not_in_set": _not_in_set,
}
