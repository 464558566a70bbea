"""Offset, time and transaction indexes of a segment, and what the segment itself says against their entries."""

from parsers.indexes.aborted import decided_otherwise
from parsers.indexes.against import ContradictedEntry, Slots, ascending, beyond, falls, held_against, slots_of
from parsers.indexes.entries import (
    INDEX_KINDS,
    REFUSAL_LIMIT,
    read_index,
    read_offset_index,
    read_time_index,
    read_transaction_index,
    refused_ends,
    used_size,
)
