"""Statements told otherwise: as another kind, or without some of their values."""

from __future__ import annotations

from dataclasses import fields

from rules.history.drafts import altered
from rules.history.statements import Moment, statement


def recast(moment: Moment, kind: str, **changes: object) -> Moment:
    """A statement of another kind, told as one is; what that kind has no place for falls away."""
    told = {field.name: getattr(moment, field.name) for field in fields(moment) if field.name != "kind"}
    return statement(kind, **{**told, **changes})


def untold(moment: Moment, *names: str) -> Moment:
    """A statement without some values, as far as it has a place for them."""
    return altered(moment, **{name: None for name in names if hasattr(moment, name)})
