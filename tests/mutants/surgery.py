"""A copy of a recorded sample of which exact bytes are changed: batches, checkpoints, lines of logs."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import google_crc32c

from parsers.provenance import Origin
from parsers.records import decode_entry
from parsers.writers.checkpoints import epoch_lines
from parsers.writers.segments import Record, record_bytes

SAMPLES: Final = Path(__file__).resolve().parents[2] / "sample_logs"
UNDER_CRC: Final = struct.Struct(">hiqqqhii")
SUMMED: Final = 21
CODEC: Final = 0x07
CONTROL: Final = 0x20
"""Bits of a batch's attributes."""
FIELDS: Final = {
    "attributes": 0, "last_offset_delta": 1, "base_timestamp": 2, "max_timestamp": 3, "producer_id": 4,
    "producer_epoch": 5, "base_sequence": 6, "record_count": 7,
}  # fmt: skip


def split(content: bytes) -> Iterator[bytes]:
    """The batches of a segment."""
    at = 0
    while at + 12 <= len(content):
        end = at + 12 + int.from_bytes(content[at + 8 : at + 12], "big")
        yield content[at:end]
        at = end


def base_of(batch: bytes) -> int:
    """A batch's first offset."""
    return int.from_bytes(batch[:8], "big")


def last_of(batch: bytes) -> int:
    """A batch's last offset."""
    return base_of(batch) + int(UNDER_CRC.unpack_from(batch, SUMMED)[1])


def is_control(batch: bytes) -> bool:
    """Whether a batch is a marker of a transaction."""
    return bool(int(UNDER_CRC.unpack_from(batch, SUMMED)[0]) & CONTROL)


def summed(batch: bytes) -> bytes:
    """The batch with the checksum that its bytes give."""
    return batch[:17] + google_crc32c.value(batch[SUMMED:]).to_bytes(4, "big") + batch[SUMMED:]


def altered(batch: bytes, *, epoch: int | None = None, **fields: int) -> bytes:
    """The batch with other header fields, and a checksum that holds."""
    values = list(UNDER_CRC.unpack_from(batch, SUMMED))
    for name, value in fields.items():
        values[FIELDS[name]] = value
    of_epoch = batch[12:16] if epoch is None else epoch.to_bytes(4, "big")
    whole = batch[:12] + of_epoch + batch[16:SUMMED] + UNDER_CRC.pack(*values)
    return summed(whole + batch[SUMMED + UNDER_CRC.size :])


def rewritten(batch: bytes, how: Callable[[bytes, bytes], tuple[bytes, bytes | None]]) -> bytes:
    """The batch with other keys and values, not compressed; its records have no headers."""
    first_timestamp = int(UNDER_CRC.unpack_from(batch, SUMMED)[2])
    told = decode_entry(batch, Origin(source="batch"), 0, payloads=True).rows
    records = b""
    for row in told:
        key, value = how(row.key or b"", row.value or b"")
        delta = row.offset - base_of(batch)
        records += record_bytes(
            Record(offset_delta=delta, timestamp_delta=row.timestamp - first_timestamp, key=key or None, value=value)
        )
    plain = int(UNDER_CRC.unpack_from(batch, SUMMED)[0]) & ~CODEC
    head = batch[:8] + (49 + len(records)).to_bytes(4, "big") + batch[12 : SUMMED + UNDER_CRC.size]
    return altered(head + records, attributes=plain)


class Copy:
    """The copy, and what can be done to it. What is to be changed must be there."""

    def __init__(self, sample: str, to: Path) -> None:
        self.dump = Path(shutil.copytree(SAMPLES / sample / "dump", to))

    def folder(self, broker: int, replica: str) -> Path:
        return self.dump / f"broker-{broker}" / "data" / replica

    def nodes(self, replica: str) -> list[Path]:
        """The segments of every node that has the replica."""
        return sorted(self.dump.glob(f"*/data/{replica}/{0:020d}.log"))

    def segment(self, broker: int, replica: str, base: int = 0) -> Path:
        return self.folder(broker, replica) / f"{base:020d}.log"

    def batches(self, broker: int, replica: str, base: int = 0) -> list[bytes]:
        return list(split(self.segment(broker, replica, base).read_bytes()))

    def write(self, broker: int, replica: str, batches: Sequence[bytes], base: int = 0) -> None:
        """The segment anew, without its indexes: a broker makes those again."""
        path = self.segment(broker, replica, base)
        assert path.read_bytes() != b"".join(batches)
        path.write_bytes(b"".join(batches))
        for suffix in (".index", ".timeindex", ".txnindex"):
            path.with_suffix(suffix).unlink(missing_ok=True)

    def change(self, broker: int, replica: str, offset: int, how: Callable[[bytes], bytes], base: int = 0) -> None:
        """Another batch in the place of the one that holds an offset; none where nothing is given back."""
        changed = [how(b) if base_of(b) <= offset <= last_of(b) else b for b in self.batches(broker, replica, base)]
        self.write(broker, replica, changed, base)

    def epochs(self, broker: int, replica: str, entries: Sequence[tuple[int, int]]) -> None:
        (self.folder(broker, replica) / "leader-epoch-checkpoint").write_bytes(epoch_lines(entries))

    def checkpoint(self, broker: int, kind: str, replica: str, offset: int | None) -> None:
        """The line of a replica in one of its log dir's checkpoints."""
        path = self.dump / f"broker-{broker}" / "data" / f"{kind}-offset-checkpoint"
        topic, _, partition = replica.rpartition("-")
        lines = [line for line in path.read_text().splitlines()[2:] if not line.startswith(f"{topic} {partition} ")]
        lines += [] if offset is None else [f"{topic} {partition} {offset}"]
        path.write_text("\n".join(["0", str(len(lines)), *lines]) + "\n")

    def log(self, node: str, name: str, pattern: str, new: str, *, count: int = 0) -> None:
        """What stands in lines of a log is something else now; the pattern must be found."""
        path = self.dump / node / "logs" / name
        text, found = re.subn(pattern, new, path.read_text(encoding="utf-8"), count=count, flags=re.MULTILINE)
        assert found, f"{node} {name}: nothing is like {pattern}"
        path.write_text(text, encoding="utf-8")

    def without(self, *names: str) -> None:
        """Without some files or folders."""
        for name in names:
            found = list(self.dump.glob(name))
            assert found, name
            for path in found:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
