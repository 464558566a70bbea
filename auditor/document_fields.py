"""Values as documents hold them: fields by their names in documents, addresses as objects, tuples as lists."""

from __future__ import annotations

from parsers.provenance import Span

Json = dict[str, object]


def fields(value: object, names: str = "") -> Json:
    """The named fields of a value in that order, or all of them; `span=evidence` tells one by another name."""
    chosen = names.split() or [
        *getattr(value, "__struct_fields__", ()), *getattr(value, "__dataclass_fields__", ()),
    ]  # fmt: skip
    pairs = [name.partition("=")[::2] for name in chosen]
    return {other or camel(name): plain_value(getattr(value, name)) for name, other in pairs}


def plain_value(value: object) -> object:
    """A value without classes of ours."""
    if isinstance(value, Span):
        return {"path": value.source, "start": value.start, "end": value.end}
    if isinstance(value, tuple):
        return [plain_value(one) for one in value]
    return fields(value) if hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__") else value


def at_least(value: object) -> Json:
    """How many records and bytes there are at the least."""
    return fields(value, "records_at_least=records bytes_at_least=bytes")


def camel(name: str) -> str:
    """A name of ours as documents spell it."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
