"""Rows of the sections that dump indexes and producer snapshots."""

from __future__ import annotations

import re
from typing import Final

from parsers.dump_text.addressed_lines import DumpLine
from parsers.dump_text.batch_rows import fits
from parsers.dump_text.dumped_file import DumpedFile
from parsers.dump_text.output import Output
from parsers.provenance import Origin
from parsers.tables import IndexEntry, IndexKind, ProducerState

_N: Final = rb"-?\d{1,19}"
_OFFSET: Final = re.compile(rb"offset: (?P<offset>" + _N + rb") position: (?P<position>" + _N + rb")")
_TIME: Final = re.compile(rb"timestamp: (?P<timestamp>" + _N + rb") offset: (?P<offset>" + _N + rb")")
_TRANSACTION: Final = re.compile(
    rb"version: \d{1,5} producerId: (?P<producer_id>" + _N + rb") firstOffset: (?P<first_offset>" + _N + rb")"
    rb" lastOffset: (?P<offset>" + _N + rb") lastStableOffset: (?P<last_stable_offset>" + _N + rb")"
)
_INDEXES: Final[dict[str, tuple[IndexKind, re.Pattern[bytes]]]] = {
    ".index": ("offset", _OFFSET),
    ".timeindex": ("time", _TIME),
    ".txnindex": ("transaction", _TRANSACTION),
}
_OPEN: Final = (
    rb"(?:None|OptionalLong\.empty|Some\((?P<some>" + _N + rb")\)|OptionalLong\[(?P<optional>" + _N + rb")\])"
)
_PRODUCER: Final = re.compile(
    rb"producerId: (?P<id>"
    + _N
    + rb") producerEpoch: (?P<epoch>"
    + _N
    + rb") coordinatorEpoch: (?P<coordinator>"
    + _N
    + rb")"
    rb" currentTxnFirstOffset: " + _OPEN + rb"(?: lastTimestamp: (?P<entry>" + _N + rb"))? ?"
    rb"(?:(?:cachedMetadata: \w+\(.{0,1000}?)?(?:BatchMetadata\()?firstSe(?:quence: |q=)(?P<first>" + _N + rb"),?"
    rb" lastSe(?:quence: |q=)(?P<last>"
    + _N
    + rb"),?(?: firstOffset=(?P<first_offset>"
    + _N
    + rb"),)? lastOffset[:=] ?(?P<offset>"
    + _N
    + rb"),?"
    rb"(?: offsetDelta: (?P<delta>"
    + _N
    + rb"))?,? timestamp[:=] ?(?P<time>"
    + _N
    + rb")\)*| ?cachedMetadata: \w+\(\))? ?"
)
_PRODUCER_0_11: Final = re.compile(
    rb"producerId: (?P<id>" + _N + rb") producerEpoch: (?P<epoch>" + _N + rb") lastSequence: (?P<last>" + _N + rb")"
    rb" lastOffset: (?P<offset>" + _N + rb") offsetDelta: (?P<delta>" + _N + rb") lastTimestamp: (?P<time>" + _N + rb")"
    rb" coordinatorEpoch: (?P<coordinator>" + _N + rb") currentTxnFirstOffset: " + _OPEN
)
SUFFIXES: Final = frozenset({*_INDEXES, ".snapshot"})


def read_entry(line: DumpLine, file: DumpedFile, place: Origin, output: Output) -> bool:
    """Add the row of one line of an index or snapshot section; False where the line is none."""
    if file.base_offset is None or len(line.head) > 4096:
        return False
    if file.suffix == ".snapshot":
        producer = _producer(line, file.base_offset, place)
        if producer is not None and fits(producer):
            output.producers.append(producer)
            return True
        return False
    kind, pattern = _INDEXES[file.suffix]
    match = pattern.fullmatch(line.head)
    entry = _index(match, kind, line, file.base_offset, place) if match else None
    if entry is not None and fits(entry):
        output.indexes.append(entry)
        return True
    return False


def _index(match: re.Match[bytes], kind: IndexKind, line: DumpLine, base: int, place: Origin) -> IndexEntry:
    said = {name: int(number) for name, number in match.groupdict().items()}
    return IndexEntry(
        **place.columns,
        kind=kind,
        segment_base_offset=base,
        offset=said["offset"],
        position=said.get("position"),
        timestamp=said.get("timestamp"),
        producer_id=said.get("producer_id"),
        first_offset=said.get("first_offset"),
        last_stable_offset=said.get("last_stable_offset"),
        contradiction=None,
        span_start=line.start,
        span_end=line.end,
    )


def _producer(line: DumpLine, base: int, place: Origin) -> ProducerState | None:
    """One producer; without batch data (markers only) sequence and offset are -1, as in the file itself."""
    match = _PRODUCER.fullmatch(line.head) or _PRODUCER_0_11.fullmatch(line.head)
    if match is None:
        return None
    said = {name: int(number) for name, number in match.groupdict().items() if number is not None}
    last_offset = said.get("offset", -1)
    return ProducerState(
        **place.columns,
        snapshot_offset=base,
        producer_id=said["id"],
        producer_epoch=said["epoch"],
        last_sequence=said.get("last", -1),
        last_offset=last_offset,
        offset_delta=said.get("delta", last_offset - said.get("first_offset", last_offset)),
        timestamp=said.get("entry", said.get("time", -1)),
        coordinator_epoch=said["coordinator"],
        current_txn_first_offset=said.get("some", said.get("optional", -1)),
        span_start=line.start,
        span_end=line.end,
    )
