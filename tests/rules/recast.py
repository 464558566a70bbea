"""Statements told otherwise: as another kind, or without some of their values."""

from __future__ import annotations

from msgspec.structs import asdict

from rules.history.statements import Moment, statement
from tests.replaced import replace


def recast(moment: Moment, kind: str, **changes: object) -> Moment:
    """A statement of another kind, told as one is; what that kind has no place for falls away."""
    told = {name: value for name, value in asdict(moment).items() if name != "kind"}
    return statement(kind, **{**told, **changes})


def untold(moment: Moment, *names: str) -> Moment:
    """A statement without some values, as far as it has a place for them."""
    return replace(moment, **{name: None for name in names if hasattr(moment, name)})
