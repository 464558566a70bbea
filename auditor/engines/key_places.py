"""Read where the keys of a topic lie: one copy of each partition, its keys hashed as each known partitioner does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from auditor.engines.witnesses.texts import is_text
from parsers.files import place_of
from parsers.provenance import Origin, Span
from parsers.records import BATCH_LIMIT, decode_entry, keyed_batch
from parsers.segment import SegmentChunk
from rules.evidence import PartitionEvidence, Replica, SegmentFile
from rules.narrow.key_tallies import Kind, PlacingLedger
from rules.protocol.topics import COMPACTED_TOPICS, METADATA_TOPIC
from rules.replicas.keyless import KeylessBatch
from rules.replicas.placing import KeysPlaced

AT_ONCE: Final = 1 << 16
"""Keys that wait to be hashed together."""
_CONTROL: Final = 0x20
_LOG_APPEND_TIME: Final = 0x08
_COLUMNS: Final = ("attributes", "base_timestamp", "max_timestamp", "producer_id")
Keyed: TypeAlias = Sequence[tuple[int, bytes | None]]
"""Records by their offsets and keys."""


def copy_to_place(evidence: PartitionEvidence, dump: str) -> Replica | None:
    """The copy whose keys are read: the one that leads, or the longest; none where nothing asks.

    A text of a log does not hold the bytes of keys. In the only partition of a topic every key has its place.
    """
    if evidence.level != "deep" or evidence.topic in (*COMPACTED_TOPICS, METADATA_TOPIC):
        return None
    if evidence.placing.counts.least(evidence.topic) < 2:  # noqa: PLR2004 - every key has one place only
        return None
    held = [r for r in evidence.current if r.segments and not is_text(place_of(dump, r.segments[0].source))]
    leader = evidence.leader_at_the_end
    return next((r for r in held if r is leader), None) or max(held, key=lambda r: r.log_end_offset, default=None)


class _Waiting:
    """Keys of one producer that wait to be hashed."""

    __slots__ = ("keys", "offsets", "spans", "times")

    def __init__(self) -> None:
        self.keys: list[bytes] = []
        self.offsets: list[int] = []
        self.spans: list[Span] = []
        self.times: tuple[int, int] | None = None

    def at(self, time: int | None) -> None:
        """A batch of this time, with keys."""
        if time is not None and time >= 0:
            first, last = self.times or (time, time)
            self.times = min(first, time), max(last, time)


class PlacedKeys:
    """Where the keys of a partition lie, in the making while a copy of its log goes by."""

    def __init__(self, evidence: PartitionEvidence) -> None:
        self._topic, self._counts = evidence.topic, evidence.placing.counts
        self._ledger = PlacingLedger(evidence.partition)
        self._waiting: dict[Kind, _Waiting] = {}
        self._held = 0

    def wants(self, segment: SegmentFile) -> bool:  # noqa: ARG002 - as whoever asks for parts of a log is asked
        """Every segment holds keys."""
        return True

    def go_by(self, chunk: SegmentChunk, source: str) -> None:
        """Batches of a segment, in physical order."""
        for row, entry in chunk.entries(_COLUMNS):
            self._enter(row, entry, Origin(source=source))

    def keys_placed(self, broker: int) -> KeysPlaced:
        """Where all keys of the copy lie."""
        self._hash()
        return self._ledger.close(broker)

    def _enter(self, row: dict[str, Any], entry: memoryview, origin: Origin) -> None:
        if (row["attributes"] or 0) & _CONTROL:
            return
        records = _keyed(entry, origin, row["span_start"])
        if records is None:
            self._ledger.unread()
            return
        counts = self._counts.possible(self._topic, row["max_timestamp"])
        producer = -1 if row["producer_id"] is None else row["producer_id"]
        waiting = self._waiting.setdefault((producer, counts), _Waiting())
        before = len(waiting.keys)
        if records and all(key is None for _, key in records):
            self._without_keys(row, len(records), producer, counts)
            return
        for offset, key in records:
            if key is not None:
                waiting.keys.append(key)
                waiting.offsets.append(offset)
        taken = len(waiting.keys) - before
        waiting.at(row["max_timestamp"] if taken else None)
        span = Span(source=origin.source, start=row["span_start"], end=row["span_end"])
        waiting.spans.extend([span] * taken)
        self._held += taken
        if self._held >= AT_ONCE:
            self._hash()

    def _without_keys(self, row: dict[str, Any], records: int, producer: int, counts: tuple[int, ...]) -> None:
        """A batch of which no record has a key; a broker's time of appending says nothing of the producer's."""
        first, last = row["base_timestamp"], row["max_timestamp"]
        if first is None or first < 0 or (row["attributes"] or 0) & _LOG_APPEND_TIME:
            return
        size = row["span_end"] - row["span_start"]
        batch = KeylessBatch(first_time=first, last_time=last, records=records, size=size)
        self._ledger.keyless(producer, counts, batch)

    def _hash(self) -> None:
        for (producer, counts), waiting in self._waiting.items():
            self._ledger.batch(producer, counts, waiting.keys, waiting.offsets, waiting.spans, waiting.times)
        self._waiting, self._held = {}, 0


def _keyed(entry: memoryview, origin: Origin, position: int) -> Keyed | None:
    """The keys of a batch; None where it cannot be decoded."""
    batch = keyed_batch(entry, BATCH_LIMIT)
    if batch is not None:
        return [(offset, key) for offset, key, _ in batch.records]
    parsed = decode_entry(entry, origin, position, payloads=True)
    return None if parsed.refusals else [(record.offset, record.key) for record in parsed.rows]
