"""A cluster that lost records, with the last copy of them put where a test wants it."""

from __future__ import annotations

from pathlib import Path

from dumps_at_hand import copied

from parsers.provenance import Origin
from parsers.segment import scan
from parsers.writers.segments import Codec, Record, batch_bytes
from tests.lab.written_bytes import marker_bytes

TOPIC_ID = "deadbeefdeadbeefdeadbeefdeadbeef"
LOST = range(100, 150)
CODEC_OF: tuple[Codec, ...] = ("none", "gzip", "snappy", "lz4", "zstd")
PLACES = ("replica", "deleted file", "deleted dir", "stray dir")


def record(offset: int) -> Record:
    """What stood at an offset: null and empty contents, bytes that are no text, headers given twice."""
    return Record(
        offset_delta=offset % 10,
        timestamp_delta=offset % 10,
        key=None if offset % 7 == 0 else f"key-{offset}".encode() + b"\x00\xff",
        value=None if offset % 11 == 0 else bytes(range(offset % 256)),
        headers=((b"h\xff", b"\x00"), (b"h\xff", None)) if offset % 3 == 0 else (),
    )


def lost_batches() -> list[bytes]:
    """Offsets 100 to 149 of epoch 0, ten a batch, each batch by another codec."""
    return [
        batch_bytes(
            base_offset=base,
            leader_epoch=0,
            records=[record(offset) for offset in range(base, base + 10)],
            codec=CODEC_OF[number],
            base_timestamp=1_700_000_000_000 + base,
            producer_id=77,
            producer_epoch=3,
            base_sequence=base - 100,
        )
        for number, base in enumerate(range(100, 150, 10))
    ]


def unclean(to: Path, place: str, *, logs: bool = False) -> Path:
    """The recorded unclean election, with the lost records left over in one place on broker 1's disk."""
    dump = copied("unclean_rejoined", to, logs=logs)
    data = dump / "broker-1" / "data"
    segment = data / "pay-0" / f"{0:020d}.log"
    batches = b"".join(lost_batches())
    if place == "replica":
        segment.write_bytes(_head(segment) + batches)
        (data / "pay-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
        (data / "replication-offset-checkpoint").write_text("0\n1\npay 0 150\n")
    elif place == "deleted file":
        (data / "pay-0" / f"{100:020d}.log.deleted").write_bytes(batches)
    else:
        folder = data / f"pay-0.{TOPIC_ID}-{'delete' if place == 'deleted dir' else 'stray'}"
        folder.mkdir()
        (folder / f"{0:020d}.log").write_bytes(_head(segment) + batches)
        (folder / "partition.metadata").write_bytes((data / "pay-0" / "partition.metadata").read_bytes())
    return dump


def _head(segment: Path) -> bytes:
    """The bytes of the batches below offset 100."""
    rows = [row for chunk in scan(segment, Origin(source="x")) for row in chunk.headers.to_pylist()]
    return segment.read_bytes()[: max(row["span_end"] for row in rows if row["last_offset"] < LOST[0])]


def marker(offset: int) -> bytes:
    """The end of a transaction."""
    return marker_bytes(offset=offset, leader_epoch=0, producer_id=77, producer_epoch=3, commit=True)
