"""Values told otherwise, whichever library froze them."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from msgspec import Struct, structs

Value = TypeVar("Value")


def replace(value: Value, /, **changes: object) -> Value:
    """A value with some of its fields told otherwise."""
    if isinstance(value, Struct):
        return structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)  # type: ignore[type-var]
