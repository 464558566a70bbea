"""Spark schemas of the tables, derived from their Arrow schemas, with the documentation of every column."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

_PLAIN: Final[dict[pa.DataType, DataType]] = {
    pa.int8(): ByteType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
    pa.binary(): BinaryType(),
    pa.bool_(): BooleanType(),
}


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns in Spark's types; what Arrow carries as a column's comment becomes Spark's comment."""
    return StructType([_field(field) for field in schema])


def _field(field: pa.Field) -> StructField:
    comment = (field.metadata or {}).get(b"comment")
    metadata = {"comment": comment.decode()} if comment else None
    return StructField(field.name, _type(field.type), field.nullable, metadata)


def _type(kind: pa.DataType) -> DataType:
    if pa.types.is_struct(kind):
        return StructType([_field(field) for field in kind])
    if pa.types.is_list(kind):
        return ArrayType(_type(kind.value_type))
    return _PLAIN[kind]
