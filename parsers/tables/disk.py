"""Tables of what lies on a broker's disk."""

from __future__ import annotations

from typing import Annotated, Literal

from parsers.tables.column import flag, i8, i16, i32, i64, raw, text
from parsers.tables.place import PartitionRow


class BatchHeader(PartitionRow, frozen=True, kw_only=True):
    """One record batch (magic 2) or legacy entry (magic 0/1) as its header states it, in physical order."""

    base_offset: Annotated[int | None, i64("First offset; null for a compressed legacy entry, whose header does not tell it.")]
    last_offset: Annotated[int, i64("Last offset of the batch, inclusive, as baseOffset + lastOffsetDelta.")]
    leader_epoch: Annotated[int | None, i32("partitionLeaderEpoch; -1 in legacy entries; null where a dump text omits it.", minimum=-1)]
    magic: Annotated[int, i8("Record format: 0, 1 or 2.", minimum=0, maximum=2)]
    size: Annotated[int, i32("Bytes of the whole entry, 12 + its length field.", minimum=14)]
    crc: Annotated[int | None, i64("Checksum as stored, unsigned.", minimum=0, maximum=0xFFFFFFFF)]
    crc_valid: Annotated[bool | None, flag("Whether the recomputed checksum equals the stored one; null where it was not recomputed.")]
    attributes: Annotated[int | None, i16("Attribute bits as stored.")]
    record_count: Annotated[int | None, i32("Records in the batch; null where only decompression would tell.", minimum=0)]
    base_timestamp: Annotated[int | None, i64("baseTimestamp, ms; the delete horizon when attribute bit 6 is set.")]
    max_timestamp: Annotated[int | None, i64("maxTimestamp, ms; -1 for none.")]
    producer_id: Annotated[int | None, i64("Producer id; -1 for none.", minimum=-1)]
    producer_epoch: Annotated[int | None, i16("Producer epoch; -1 for none.", minimum=-1)]
    base_sequence: Annotated[int | None, i32("First sequence; -1 for none.", minimum=-1)]


class RecordRow(PartitionRow, frozen=True, kw_only=True):
    """One record, decoded on demand; contents travel as hashes, payload bytes only when asked for."""

    offset: Annotated[int, i64("Offset of the record.")]
    timestamp: Annotated[int, i64("Timestamp, ms; -1 for none.")]
    leader_epoch: Annotated[int, i32("partitionLeaderEpoch of the batch; -1 in legacy entries.")]
    sequence: Annotated[int, i32("Sequence of the record; -1 for none.")]
    key_size: Annotated[int, i32("Bytes of the key; -1 for null.", minimum=-1)]
    value_size: Annotated[int, i32("Bytes of the value; -1 for null.", minimum=-1)]
    header_count: Annotated[int, i32("Number of headers.", minimum=0)]
    key_hash: Annotated[str | None, text("Hash of the key, 16 hex characters; null for a null key.")]
    content_hash: Annotated[str, text("Hash of key, value and timestamp, 16 hex characters; equal contents have equal hashes.")]
    headers_hash: Annotated[str, text("Hash of the headers, 16 hex characters.")]
    control_type: Annotated[int | None, i16("Control record type (0 ABORT, 1 COMMIT, …); null for data.")]
    key: Annotated[bytes | None, raw("Key bytes; null unless payloads were asked for.")]
    value: Annotated[bytes | None, raw("Value bytes; null unless payloads were asked for.")]
    span_start: Annotated[int, i64("First byte of the batch that holds the record.", minimum=0)]
    span_end: Annotated[int, i64("First byte after the batch that holds the record.", minimum=0)]


class EpochEntry(PartitionRow, frozen=True, kw_only=True):
    """One line of a leader-epoch-checkpoint: an epoch and the first offset written in it."""

    epoch: Annotated[int, i32("Leader epoch.", minimum=0)]
    start_offset: Annotated[int, i64("First offset of the epoch.", minimum=0)]


CheckpointKind = Literal["replication", "recovery-point", "log-start", "cleaner"]


class OffsetCheckpoint(PartitionRow, frozen=True, kw_only=True):
    """One line of an offset checkpoint of a log dir."""

    kind: Annotated[CheckpointKind, text("Which checkpoint: replication (high watermark), recovery-point, log-start or cleaner.")]
    offset: Annotated[int, i64("The offset that stands in the file.")]


class ProducerState(PartitionRow, frozen=True, kw_only=True):
    """One entry of a producer snapshot."""

    snapshot_offset: Annotated[int, i64("Offset up to which (exclusive) the snapshot speaks; the file's name.", minimum=0)]
    producer_id: Annotated[int, i64("Producer id.")]
    producer_epoch: Annotated[int, i16("Producer epoch.")]
    last_sequence: Annotated[int, i32("Last sequence; -1 when only markers were seen.")]
    last_offset: Annotated[int, i64("Last data offset; -1 when only markers were seen.")]
    offset_delta: Annotated[int, i32("Offsets between the first and last record of the last batch.")]
    timestamp: Annotated[int, i64("Time of the last append, ms.")]
    coordinator_epoch: Annotated[int, i32("Transaction coordinator epoch of the last marker.")]
    current_txn_first_offset: Annotated[int, i64("First offset of the open transaction; -1 for none.")]


IndexKind = Literal["offset", "time", "transaction"]
IndexFlaw = Literal[
    "falls",  # it does not rise above the entry before it
    "beyond the log",  # it leads behind the last batch of its segment
    "inside a batch",  # no batch begins at its position
    "another batch",  # the batch at its position begins above its offset
    "another time",  # the batch that holds its offset has another latest timestamp
    "no marker",  # the log has no marker of that producer there
    "not its beginning",  # no batch of that producer begins at the first offset of its transaction
    "begins at its marker",  # of a transaction without records, of which old releases make an entry
    "no entry",  # a marker of abort that no entry tells of
    "another stable offset",  # the last stable offset that it keeps was not that of its log
    "malformed",  # bytes that are no entry
]
"""What a segment, or an index itself, says against an entry."""


class IndexEntry(PartitionRow, frozen=True, kw_only=True):
    """One slot of an offset, time or transaction index."""

    kind: Annotated[IndexKind, text("Which index: offset, time or transaction.")]
    segment_base_offset: Annotated[int, i64("Base offset of the index's segment.", minimum=0)]
    offset: Annotated[int, i64("Absolute offset: indexed offset, or last offset of the aborted transaction.")]
    position: Annotated[int | None, i32("Byte position in the segment (offset index).", minimum=0)]
    timestamp: Annotated[int | None, i64("Timestamp, ms (time index).")]
    producer_id: Annotated[int | None, i64("Producer id (transaction index).")]
    first_offset: Annotated[int | None, i64("First offset of the aborted transaction (transaction index).")]
    last_stable_offset: Annotated[int | None, i64("Last stable offset when the transaction ended (transaction index).")]
    contradiction: Annotated[IndexFlaw | None, text("What its segment says against the entry; null where nothing does, or the segment was not asked.")]


RefusalKind = Literal[
    "torn_tail",  # the last batch is cut short: the file ends inside it
    "zero_tail",  # zeros up to the end of the file: preallocation or lost pages
    "damage",  # bytes that are no batch, with valid batches behind them or not
    "undecodable",  # a sound batch whose records cannot be decoded
    "malformed",  # a file or line that breaks its grammar
    "unknown_version",  # a version this reader does not know
    "too_large",  # a size beyond what is read
    "unreadable",  # the operating system refused
    "not_copied",  # a file that others beside it tell of is not there
    "ambiguous",  # two things claim one place
    "escapes_dump",  # a link that leaves the dump
    "truncated_line",  # a text line that ends inside itself
]


class Refusal(PartitionRow, frozen=True, kw_only=True):
    """What could not be read: where, what was expected there, and what was found instead."""

    kind: Annotated[RefusalKind, text("Class of the refusal.")]
    expected: Annotated[str, text("What should have stood there.")]
    found: Annotated[str, text("What stood there, shortened and escaped.")]


class SourceRow(PartitionRow, frozen=True, kw_only=True):
    """One file of the dump as the inventory found it."""

    kind: Annotated[str, text("What the file is.")]
    state: Annotated[str, text("State of its replica dir: current, future, deleted or stray.")]
    size: Annotated[int, i64("Bytes of the file.", minimum=0)]
