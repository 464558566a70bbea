"""Values as documents hold them: fields by their names in documents, addresses as objects, tuples as lists."""

from __future__ import annotations

from functools import cache

from parsers.provenance import Span

Json = dict[str, object]


def fields(value: object, names: str = "") -> Json:
    """The named fields of a value in that order, or all of them; `span=evidence` tells one by another name."""
    kind: type = type(value)
    return {spelt: plain_value(getattr(value, name)) for name, spelt in _named(kind, names)}


@cache
def _named(kind: type, names: str) -> tuple[tuple[str, str], ...]:
    """Fields with their names in documents; made once, since there are many values of few classes."""
    every = (*getattr(kind, "__struct_fields__", ()), *getattr(kind, "__dataclass_fields__", ()))
    pairs = (name.partition("=")[::2] for name in names.split() or every)
    return tuple((name, other or camel(name)) for name, other in pairs)


def plain_value(value: object) -> object:
    """A value without classes of ours."""
    if value is None or isinstance(value, int | str | float):
        return value
    if isinstance(value, tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, Span):
        return {"path": value.source, "start": value.start, "end": value.end}
    kind: type = type(value)
    return fields(value) if _named(kind, "") else value


def at_least(value: object) -> Json:
    """How many records and bytes there are at the least."""
    return fields(value, "records_at_least=records bytes_at_least=bytes")


def camel(name: str) -> str:
    """A name of ours as documents spell it."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
