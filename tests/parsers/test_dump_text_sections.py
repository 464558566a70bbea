"""Sections that dump indexes and producer snapshots, and the paths that head all sections."""

from __future__ import annotations

import io

import pytest

from parsers.dump_text import DumpChunk, DumpedFile, dumped_file, read_dump_text
from parsers.provenance import Origin


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


ENTRIES = [
    *((".snapshot", line) for line in SNAPSHOTS.values()),
    # Of a producer of whom only markers were seen.
    *(
        (".snapshot", f"producerId: 7 producerEpoch: 0 coordinatorEpoch: 3 currentTxnFirstOffset: {end}")
        for end in ("None ", "OptionalLong.empty lastTimestamp: 5 ", "OptionalLong.empty lastTimestamp: 5")
    ),
    (".txnindex", "version: 0 producerId: 7 firstOffset: 100 lastOffset: 102 lastStableOffset: 103"),
    (".timeindex", "timestamp: 1700000000000 offset: 8"),
    (".index", "offset: 8 position: 140"),
]


@pytest.mark.parametrize(("suffix", "line"), ENTRIES)
def test_entries_of_every_release_are_known(suffix: str, line: str) -> None:
    assert read(f"Dumping /data/t-0/00000000000000000108{suffix}\n{line}\n") == []


@pytest.mark.parametrize(("suffix", "line"), ENTRIES)
def test_what_is_no_entry_is_refused(suffix: str, line: str) -> None:
    (chunk,) = read(f"Dumping /data/t-0/00000000000000000108{suffix}\nx{line}\n")
    assert [refusal.kind for refusal in chunk.refusals] == ["malformed"]


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
