"""What a table's rows must be like, derived from its row class: plain values, without Spark and Great Expectations."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Final, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from parsers.tables import TABLES, Column, IndexFlaw, columns

QUALITY_TABLES: Final = (
    "sources", "batches", "epochs", "checkpoints", "producers", "indexes", "transactions", "refusals",
)  # fmt: skip
"""The tables of what lies on disks, each as `parsers.spark` names it."""

SOURCE_SIZE: Final = "source_size"
SPAN_SIZE: Final = "span_size"
BYTES_BEHIND: Final = "bytes_behind"
ROWS_OF_KEY: Final = "rows_of_key"
"""Measured beside a table's own columns, so that one pass over the rows decides everything: bytes of the file that a
row names (null where the dump holds no such file), bytes of the row's span, bytes of the file behind it, and rows that
have the row's natural key."""

ADDRESS: Final = ("source", "span_start", "span_end")
NATURAL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "sources": ("source",),
    "transactions": ("source", "span_start", "record_offset"),
    "refusals": (*ADDRESS, "kind", "expected"),
}
PLACE_KEY: Final = ("source", "span_start")
"""The key of everything read from bytes: at one byte of a file begins one row."""

MAY_BE_EMPTY: Final = frozenset({"sources", "refusals"})
"""Empty files are files, and what was refused may be a folder or a link: their rows may span no bytes."""

Kind = Literal["exists", "type", "not_null", "between", "in_set", "not_in_set"]

_SPARK_TYPES: Final[Mapping[str, str]] = {
    "int64": "LongType", "int32": "IntegerType", "int16": "ShortType", "int8": "ByteType",
    "string": "StringType", "bool": "BooleanType", "binary": "BinaryType",
}  # fmt: skip


class Expected(Struct, frozen=True, kw_only=True):
    """One expectation about one table."""

    name: str
    """`table.column.what` or `table.what`: what a report calls it, the same in every run."""
    kind: Kind
    column: str
    says: str
    type: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    values: tuple[str | bool, ...] = ()


class TablePlan(Struct, frozen=True, kw_only=True):
    """Everything that is expected of one table."""

    table: str
    columns: tuple[str, ...]
    expected: tuple[Expected, ...]


def plan_quality() -> tuple[TablePlan, ...]:
    """The plans of all tables of a dump's disks."""
    return tuple(plan_table(table, TABLES[table]) for table in QUALITY_TABLES)


def plan_table(table: str, row_class: type) -> TablePlan:
    """What follows from a row class: for every column, for the rows' addresses, and for what the table is about."""
    own = columns(row_class)
    of_columns = tuple(expected for column in own for expected in _of_column(table, column, row_class))
    return TablePlan(
        table=table,
        columns=tuple(column.name for column in own),
        expected=(*of_columns, *_of_addresses(table), *_OF_CONTENT.get(table, ())),
    )


def _of_column(table: str, column: Column, row_class: type) -> tuple[Expected, ...]:
    name, what = f"{table}.{column.name}", column.name
    spark_type = _SPARK_TYPES[column.type]
    found = [
        Expected(name=f"{name}.exists", kind="exists", column=what, says=f"{what} exists: {column.doc}"),
        Expected(name=f"{name}.type", kind="type", column=what, type=spark_type, says=f"{what} is {spark_type}"),
    ]
    if not column.nullable:
        found.append(Expected(name=f"{name}.not_null", kind="not_null", column=what, says=f"{what} is never null"))
    if column.minimum is not None or column.maximum is not None:
        found.append(_range(name, column))
    values = _allowed_values(row_class, what)
    if values:
        says = f"{what} is one of {', '.join(values)}"
        found.append(Expected(name=f"{name}.allowed", kind="in_set", column=what, values=values, says=says))
    return tuple(found)


def _range(name: str, column: Column) -> Expected:
    low = "" if column.minimum is None else f" at least {column.minimum}"
    high = "" if column.maximum is None else f" at most {column.maximum}"
    return Expected(
        name=f"{name}.range",
        kind="between",
        column=column.name,
        minimum=column.minimum,
        maximum=column.maximum,
        says=f"{column.name} is{low}{' and' if low and high else ''}{high}",
    )


def _allowed_values(row_class: type, name: str) -> tuple[str, ...]:
    """The values of a column that is declared as a Literal; none for any other."""
    hint = get_type_hints(row_class, include_extras=True)[name]
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    choices = get_args(base) if get_origin(base) in (Union, types.UnionType) else (base,)
    return tuple(str(value) for choice in choices if get_origin(choice) is Literal for value in get_args(choice))


def _of_addresses(table: str) -> tuple[Expected, ...]:
    """Every row has an address of its own, inside a file that the dump holds."""
    key = natural_key(table)
    unique = Expected(
        name=f"{table}.natural_key",
        kind="between",
        column=ROWS_OF_KEY,
        maximum=1,
        says=f"no two rows have the same {', '.join(key)}",
    )
    inside = Expected(
        name=f"{table}.span_inside_source",
        kind="between",
        column=BYTES_BEHIND,
        minimum=0,
        says="no row ends behind the end of its source",
    )
    known = Expected(
        name=f"{table}.source_known",
        kind="not_null",
        column=SOURCE_SIZE,
        says="the source of every row is a file in the table sources",
    )
    return (unique, _span(table), inside, *(() if table == "sources" else (known,)))


def natural_key(table: str) -> tuple[str, ...]:
    """The columns by which a table's rows are told apart."""
    return NATURAL_KEYS.get(table, PLACE_KEY)


def _span(table: str) -> Expected:
    empty = table in MAY_BE_EMPTY
    return Expected(
        name=f"{table}.{'span_ordered' if empty else 'span_has_bytes'}",
        kind="between",
        column=SPAN_SIZE,
        minimum=0 if empty else 1,
        says="no row ends before it begins" if empty else "every row was read from at least one byte",
    )


_OF_CONTENT: Final[Mapping[str, tuple[Expected, ...]]] = {
    "batches": (
        Expected(
            name="batches.checksum_holds",
            kind="not_in_set",
            column="crc_valid",
            values=(False,),
            says="the checksum of no batch contradicts its bytes",
        ),
    ),
    "indexes": (
        Expected(
            name="indexes.log_bears_out",
            kind="not_in_set",
            column="contradiction",
            values=get_args(IndexFlaw),
            says="the segment of no index contradicts an entry, nor does the entry before it",
        ),
    ),
    "refusals": (
        Expected(
            name="refusals.no_damage",
            kind="not_in_set",
            column="kind",
            values=("damage",),
            says="no bytes were refused as damage",
        ),
        Expected(
            name="refusals.none_malformed",
            kind="not_in_set",
            column="kind",
            values=("malformed",),
            says="no file or line was refused as malformed",
        ),
    ),
}
