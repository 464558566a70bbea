"""How fast level deep decodes: one replica of 1 KiB batches, audited in a process of its own, with its highest memory.

    python -m tests.benchmarks.deep_read [--size MIB] [--codecs none,lz4,zstd]

Batches have about 1 KiB on disk, their records 100 bytes before they are compressed. Sizes are of decoded records. Each
speed is of the processor time that the audit takes beyond one at level full, which reads and sums the same bytes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import get_args

import numpy as np

from parsers.writers.checkpoints import epoch_lines, offset_lines, write_meta_properties, write_partition_metadata
from parsers.writers.segments import Codec, Record, batch_bytes

MIB = 1 << 20
STORED = 1024
"""Bytes of a batch on disk, about."""
RECORD = 100
"""Bytes of a record before it is compressed."""
TEMPLATES = 2048
SEGMENT = 256 * MIB
OVERHEAD = 26
"""Of a record: its length, its deltas, its key with its length, and the length of its value."""
WORDS = [f"word{number:03d}".encode() for number in range(64)]


def templates(codec: Codec, records: int, count: int = TEMPLATES) -> list[bytes]:
    """Batches of keyed records whose values are text, as applications write it."""
    chosen = np.random.default_rng(records)
    size = RECORD - OVERHEAD
    made = []
    for number in range(count):
        values = [b" ".join(WORDS[n] for n in chosen.integers(0, 64, size // 8 + 1))[:size] for _ in range(records)]
        held = [
            Record(offset_delta=delta, key=f"customer-{number:06d}-{delta:02d}".encode(), value=value)
            for delta, value in enumerate(values)
        ]
        made.append(batch_bytes(base_offset=0, leader_epoch=3, records=held, codec=codec))
    return made


def records_of(codec: Codec) -> int:
    """How many records a batch of the size on disk holds."""
    return next(count for count in range(1, 99) if len(templates(codec, count + 1, 1)[0]) > STORED)


def write_dump(root: Path, codec: Codec, size: int) -> tuple[int, int]:
    """A dump of one broker with one replica; its decoded bytes and those on disk."""
    records = records_of(codec)
    home = root / "broker-1" / "data"
    folder = home / "t-0"
    folder.mkdir(parents=True)
    batches = templates(codec, records)
    ends = np.cumsum([len(batch) for batch in batches])
    starts = np.concatenate(([0], ends[:-1]))
    block = np.frombuffer(b"".join(batches), dtype=np.uint8).copy()
    places = (starts[:, None] + np.arange(8)).ravel()
    written, done, name = 0, 0, folder / f"{0:020d}.log"
    while done * records * RECORD < size:
        # The base offset lies outside the checksum, so that one set of batches serves for the whole log.
        block[places] = ((done + np.arange(TEMPLATES)) * records).astype(">i8").view(np.uint8)
        if name.exists() and name.stat().st_size + block.size > SEGMENT:
            name = folder / f"{done * records:020d}.log"
        with name.open("ab") as file:
            written += file.write(block.tobytes())
        done += TEMPLATES
    (folder / "leader-epoch-checkpoint").write_bytes(epoch_lines([(3, 0)]))
    (folder / "partition.metadata").write_bytes(write_partition_metadata("AAAAAAAAAAAAAAAAAAAAAQ"))
    (home / "meta.properties").write_bytes(write_meta_properties(broker=1, cluster_id="c", directory_id=None))
    (home / "replication-offset-checkpoint").write_bytes(offset_lines([("t", 0, done * records)]))
    return done * records * RECORD, written


def audited(root: Path, level: str) -> tuple[float, float, int]:
    """Seconds, processor seconds and the highest memory of an audit."""
    command = [sys.executable, "-m", "auditor.cli", "audit", str(root), "--engine", "local", "--level", level]
    command += ["-q", "--format", "json", "--exit-zero"]
    began = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the audit ended with {os.waitstatus_to_exitcode(status)}")
    return perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(description="Measure decoding at level deep.")
    parser.add_argument("--size", type=int, default=1024, help="MiB of decoded records")
    parser.add_argument("--codecs", default="lz4,zstd", help="any of " + ", ".join(get_args(Codec)))
    options = parser.parse_args()
    for codec in options.codecs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "dump"
            decoded, stored = write_dump(root, codec, options.size * MIB)
            _, full_used, full_most = audited(root, "full")
            took, used, most = audited(root, "deep")
        speed = decoded / 1e6 / (used - full_used)
        print(f"{codec:6} {decoded / 1e6:7.0f} MB decoded of {stored / 1e6:5.0f}: {speed:6.1f} MB/s a core;", end=" ")
        print(f"the audit took {took:6.1f} s, {used:6.1f} s of processor;", end=" ")
        print(f"memory {most / MIB:5.0f} MiB (full {full_most / MIB:.0f} MiB)", flush=True)


if __name__ == "__main__":
    main()
