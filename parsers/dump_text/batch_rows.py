"""Batch rows from what the text says of a batch; what it does not say stays null."""

from __future__ import annotations

from typing import Final

from parsers.dump_text.line_facts import BatchLine
from parsers.provenance import Origin
from parsers.tables import BatchHeader
from parsers.tables.column import columns

_WIDTHS: Final = {"int64": 63, "int32": 31, "int16": 15, "int8": 7}
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_HORIZON: Final = 0x40
_LOG_APPEND_TIME: Final = 0x08


def batch_row(line: BatchLine, place: Origin, start: int, end: int) -> BatchHeader | None:
    """The row of a batch line; None where a number does not fit its column, so no row can say it."""
    row = BatchHeader(
        **place.columns,
        base_offset=line.base_offset,
        last_offset=line.last_offset,
        leader_epoch=line.leader_epoch,
        magic=line.magic,
        size=line.size,
        crc=line.crc,
        crc_valid=line.valid,
        attributes=attributes_of(line),
        record_count=line.record_count,
        base_timestamp=line.horizon,
        max_timestamp=line.timestamp,
        producer_id=line.producer_id,
        producer_epoch=line.producer_epoch,
        base_sequence=line.base_sequence,
        span_start=start,
        span_end=end,
    )
    return row if fits(row) else None


def attributes_of(line: BatchLine) -> int | None:
    """Attribute bits as far as the text tells them.

    Before 2.0.1 no line names control batches, but a transactional batch without a sequence is a marker and nothing
    else is.
    The delete horizon (bit 6) is printed from 3.2 on; an older tool's line leaves the bit 0.
    """
    if line.codec is None:
        return None
    marker = line.transactional and line.base_sequence == -1 and line.magic == 2
    control = marker if line.control is None else line.control
    return (
        line.codec
        | (_LOG_APPEND_TIME if line.timestamp_type == b"LogAppendTime" else 0)
        | (_TRANSACTIONAL if line.transactional else 0)
        | (_CONTROL if control else 0)
        | (_HORIZON if line.horizon is not None else 0)
    )


def _bounds(row_class: type) -> tuple[tuple[str, int, int], ...]:
    bounds = []
    for column in columns(row_class):
        if column.type in _WIDTHS:
            most = (1 << _WIDTHS[column.type]) - 1
            low = -most - 1 if column.minimum is None else column.minimum
            bounds.append((column.name, low, most if column.maximum is None else column.maximum))
    return tuple(bounds)


_BOUNDS: Final = {row_class: _bounds(row_class) for row_class in (BatchHeader,)}


def fits(row: BatchHeader) -> bool:
    """Whether every number of a row fits the width and bounds of its column."""
    for name, low, high in _BOUNDS[type(row)]:
        value = getattr(row, name)
        if value is not None and not low <= value <= high:
            return False
    return True
