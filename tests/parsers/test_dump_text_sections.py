"""Sections that dump indexes and producer snapshots, and the paths that head all sections."""

from __future__ import annotations

import io

import pytest

from parsers.dump_text import DumpChunk, DumpedFile, dumped_file, read_dump_text
from parsers.provenance import Origin

T = 1_700_000_000_000


def read(text: str) -> list[DumpChunk]:
    return list(read_dump_text(io.BytesIO(text.encode()), Origin(source="dump.txt")))


SNAPSHOTS = {
    "0.11": "producerId: 7 producerEpoch: 0 lastSequence: 4 lastOffset: 107 offsetDelta: 4 lastTimestamp: "
    "1700000000000 coordinatorEpoch: 3 "
    "currentTxnFirstOffset: Some(100)",
    "1.0.0": "producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: Some(100) "
    "cachedMetadata: Queue(BatchMetadata("
    "firstSeq=0, lastSeq=4, firstOffset=103, lastOffset=107, timestamp=1700000000000))",
    "1.0.2": "producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: Some(100) "
    "firstSequence: 0 lastSequence: 4 "
    "lastOffset: 107 offsetDelta: 4 timestamp: 1700000000000",
    "3.1": "producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: Some(100) lastTimestamp: "
    "1700000000000 "
    "firstSequence: 0 lastSequence: 4 lastOffset: 107 offsetDelta: 4 timestamp: 1700000000000",
    "3.5": "producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong[100] "
    "lastTimestamp: 1700000000000 "
    "firstSequence: 0 lastSequence: 4 lastOffset: 107 offsetDelta: 4 timestamp: 1700000000000",
}


@pytest.mark.parametrize("release", SNAPSHOTS)
def test_producer_snapshots_of_every_release(release: str) -> None:
    (chunk,) = read(f"Dumping /data/t-0/00000000000000000108.snapshot\n{SNAPSHOTS[release]}\n")
    (producer,) = chunk.producers
    assert (producer.snapshot_offset, producer.producer_id, producer.last_sequence, producer.last_offset) == (
        108,
        7,
        4,
        107,
    )
    assert (
        producer.offset_delta,
        producer.timestamp,
        producer.current_txn_first_offset,
        producer.coordinator_epoch,
    ) == (4, T, 100, 3)


@pytest.mark.parametrize(
    "end",
    ["None ", "OptionalLong.empty lastTimestamp: 1700000000000 ", "OptionalLong.empty lastTimestamp: 1700000000000"],
)
def test_a_producer_of_whom_only_markers_were_seen(end: str) -> None:
    line = f"producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: {end}\n"
    (chunk,) = read("Dumping /data/t-0/00000000000000000108.snapshot\n" + line)
    assert [(item.last_sequence, item.last_offset, item.offset_delta) for item in chunk.producers] == [(-1, -1, 0)]
    assert chunk.producers[0].timestamp == (T if "last" in end else -1)


def test_a_transaction_index() -> None:
    line = "version: 0 producerId: 7 firstOffset: 100 lastOffset: 102 lastStableOffset: 103\n"
    (chunk,) = read("Dumping C:\\data\\t-0\\00000000000000000090.txnindex\n" + line)
    (entry,) = chunk.indexes
    assert (entry.kind, entry.segment_base_offset, entry.offset) == ("transaction", 90, 102)
    assert (entry.producer_id, entry.first_offset, entry.last_stable_offset) == (7, 100, 103)


@pytest.mark.parametrize(
    ("path", "topic", "partition", "base", "suffix", "state"),
    [
        ("/d/a-b-12/00000000000000000042.log", "a-b", 12, 42, ".log", "current"),
        ("C:\\kafka\\t-0\\00000000000000000000.timeindex", "t", 0, 0, ".timeindex", "current"),
        ("/d/t-3.0123456789abcdef0123456789abcdef-delete/00000000000000000007.log", "t", 3, 7, ".log", "deleted"),
        ("/d/t-3.0123456789abcdef0123456789abcdef-future/00000000000000000007.log", "t", 3, 7, ".log", "future"),
        (
            "/d/__cluster_metadata-0/00000000000000000010-0000000002.checkpoint",
            "__cluster_metadata",
            0,
            10,
            ".checkpoint",
            "current",
        ),
        ("00000000000000000000.log", None, None, 0, ".log", "current"),
        ("/somewhere/copy.log", None, None, None, ".log", "current"),
        ("", None, None, None, ".", "current"),
    ],
)
def test_a_path_names_its_replica(path: str, topic: str, partition: int, base: int, suffix: str, state: str) -> None:
    assert dumped_file(path) == DumpedFile(
        path=path,
        topic=topic,
        partition=partition,
        base_offset=base,
        suffix=suffix,
        state=state,  # type: ignore[arg-type]
    )
