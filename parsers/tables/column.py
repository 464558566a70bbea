"""Columns and what follows from them: Arrow schemas, documentation, rows to Arrow and back."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
from msgspec import Struct, structs

Row = TypeVar("Row")
Change: TypeAlias = Callable[[Any], Any]
Fields: TypeAlias = list[tuple[str, Change]]


class Column(Struct, frozen=True):
    """What a column means and what its values may be; `type` fixes the width in which it travels."""

    doc: str
    type: str
    minimum: int | None = None
    maximum: int | None = None
    nullable: bool = False
    name: str = ""


def i64(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 64-bit signed integer column."""
    return Column(doc, "int64", minimum, maximum)


def i32(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 32-bit signed integer column."""
    return Column(doc, "int32", minimum, maximum)


def i16(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """A 16-bit signed integer column."""
    return Column(doc, "int16", minimum, maximum)


def i8(doc: str, *, minimum: int | None = None, maximum: int | None = None) -> Column:
    """An 8-bit signed integer column."""
    return Column(doc, "int8", minimum, maximum)


def text(doc: str) -> Column:
    """A text column."""
    return Column(doc, "string")


def flag(doc: str) -> Column:
    """A true/false column."""
    return Column(doc, "bool")


def raw(doc: str) -> Column:
    """A bytes column."""
    return Column(doc, "binary")


_ARROW: dict[str, pa.DataType] = {
    "int64": pa.int64(), "int32": pa.int32(), "int16": pa.int16(), "int8": pa.int8(),
    "string": pa.string(), "bool": pa.bool_(), "binary": pa.binary(),
}  # fmt: skip
_PLAIN: dict[type, pa.DataType] = {int: pa.int64(), str: pa.string(), bool: pa.bool_(), bytes: pa.binary(), float: pa.float64()}


@cache
def columns(row_class: type) -> tuple[Column, ...]:
    """The columns of a table, in order, with name and nullability taken from the row class."""
    return tuple(_column(name, hint) for name, hint in _hints(row_class, extras=True).items())


def _hints(row_class: Any, *, extras: bool = False) -> dict[str, Any]:
    """The type of every field, in the order of a table: those of base classes first, but for what these put last."""
    hints = get_type_hints(row_class, include_extras=extras)
    last = [name for name in getattr(row_class, "last_columns", ()) if name in hints]
    return hints | {name: hints.pop(name) for name in last}


def _column(name: str, hint: Any) -> Column:
    base: Any = get_args(hint)[0]
    column: Column = get_args(hint)[1]
    return structs.replace(column, name=name, nullable=_optional(base) is not None)


def _optional(hint: Any) -> Any:
    """The type inside `X | None`, or None where the hint admits no null."""
    if get_origin(hint) not in (Union, types.UnionType) or type(None) not in get_args(hint):
        return None
    return reduce(or_, (argument for argument in get_args(hint) if argument is not type(None)))


def _members(hint: Any) -> tuple[Any, ...]:
    """The row classes inside a union of some, which their `kind` tells apart; none of any other hint."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


@cache
def arrow_schema(row_class: type) -> pa.Schema:
    """The Arrow schema of a row class; nested frozen classes become structs, tuples become lists."""
    return pa.schema([_arrow_field(name, hint) for name, hint in _hints(row_class, extras=True).items()])


def _arrow_field(name: str, hint: Any) -> pa.Field:
    if get_origin(hint) is Annotated:
        base, column = get_args(hint)[:2]
        return pa.field(name, _ARROW[column.type], nullable=_optional(base) is not None, metadata={"comment": column.doc})
    inner = _optional(hint)
    return pa.field(name, _arrow_type(inner or hint), nullable=inner is not None)


def _arrow_type(hint: Any) -> pa.DataType:
    if get_origin(hint) is Annotated:
        return _ARROW[get_args(hint)[1].type]
    if get_origin(hint) is Literal:
        return pa.string()
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if _has_fields(hint):
        return pa.struct(list(arrow_schema(hint)))
    if members := _members(hint):
        return pa.struct(list(_fields_of_any(members)))
    return _PLAIN[getattr(hint, "__supertype__", hint)]  # an Offset is a number


def _has_fields(hint: Any) -> bool:
    """Whether values of a type are frozen ones with fields of their own."""
    return dataclasses.is_dataclass(hint) or hasattr(hint, "__struct_fields__")


def _fields_of_any(members: Sequence[Any]) -> Iterable[pa.Field]:
    """The fields of several row classes as those of one; what a class lacks is null in its rows."""
    named = {field.name: field for member in members for field in arrow_schema(member)}
    shared = set.intersection(*(set(arrow_schema(member).names) for member in members))
    return (field if name in shared else field.with_nullable(True) for name, field in named.items())


def no_rows(row_class: type) -> pa.RecordBatch:
    """An empty batch; made without a Python list, or pyarrow would look for pandas when a module is loaded."""
    schema = arrow_schema(row_class)
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def to_arrow(rows: Sequence[Any], row_class: type) -> pa.RecordBatch:
    """Rows of one class as one Arrow batch."""
    return pa.RecordBatch.from_pylist(list(map(_teller(row_class), rows)), schema=arrow_schema(row_class))


def from_arrow(batch: pa.RecordBatch | pa.Table, row_class: type[Row]) -> list[Row]:
    """The rows of an Arrow batch as values of their class; the inverse of `to_arrow`."""
    make: Change = _maker(row_class)  # type: ignore[arg-type]
    return list(map(make, batch.to_pylist()))


def _unchanged(value: Any) -> Any:
    return value


@cache
def _teller(hint: Any) -> Change:
    """What makes dicts and lists of a value of a type; made once, since there are millions of values of few types."""
    def of_fields(fields: Fields) -> Change:
        return lambda value: {name: tell(getattr(value, name)) for name, tell in fields}

    if members := _members(hint):
        of_class = {member: _teller(member) for member in members}
        return lambda value: None if value is None else of_class[type(value)](value)
    return _converter(hint, _teller, of_fields, list)


@cache
def _maker(hint: Any) -> Change:
    """The inverse."""
    def of_fields(fields: Fields) -> Change:
        return lambda value: hint(**{name: make(value[name]) for name, make in fields})

    if members := _members(hint):
        of_kind = {kind: _maker(member) for member in members for kind in get_args(get_type_hints(member)["kind"])}
        return lambda value: None if value is None else of_kind[value["kind"]](value)
    return _converter(hint, _maker, of_fields, tuple)


def _converter(
    hint: Any, inner: Callable[[Any], Change], of_fields: Callable[[Fields], Change], items: type
) -> Change:
    """What converts a value of a type, given what converts those inside it; null stays null."""
    if _has_fields(hint):
        change = of_fields([(name, inner(type_)) for name, type_ in _plain_hints(hint).items()])
        return lambda value: None if value is None else change(value)
    if get_origin(hint) is tuple:
        one = inner(get_args(hint)[0])
        if one is _unchanged:
            return lambda value: None if value is None else items(value)
        return lambda value: None if value is None else items(map(one, value))
    return _unchanged


@cache
def _plain_hints(row_class: type) -> dict[str, Any]:
    return {name: _optional(hint) or hint for name, hint in _hints(row_class).items()}
