"""How fast segments are read on this machine, beside how fast it sums bytes at all.

    python -m tests.benchmarks.segment_read [--size MIB] [--runs N]
    python -m tests.benchmarks.segment_read --memory [--size MIB]

Segments of 16 KiB, 1 KiB and 200 B batches are written to a temporary directory, read once so that the page cache is
warm, and read again on one core. Figures are medians; ratios compare with plain CRC-32C of the same file in 4 MiB
steps, summed where the file is mapped. The last speed includes the headers: one pass does both.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import mmap
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from parsers.provenance import Origin
from parsers.segment import scan
from parsers.segment.compiled import compiled_kernel
from parsers.writers.segments import batch_bytes

MIB = 1 << 20
BATCH_SIZES = (16 * 1024, 1024, 200)
TEMPLATES = 2048
STEP = 4 * MIB


def write_segment_of(path: Path, size: int, batch_size: int) -> int:
    """A segment of about `size` bytes of equal-sized batches; every checksum holds. Returns the bytes written."""
    generator = np.random.default_rng(batch_size)
    batches = [
        batch_bytes(base_offset=0, leader_epoch=3, payload=generator.bytes(batch_size - 61), record_count=1)
        for _ in range(TEMPLATES)
    ]
    block = np.frombuffer(b"".join(batches), dtype=np.uint8).reshape(TEMPLATES, batch_size).copy()
    written = 0
    with path.open("wb") as file:
        while written < size:
            # The base offset lies outside the checksum, so that one set of batches serves for the whole file.
            first = written // batch_size
            block[:, :8] = np.arange(first, first + TEMPLATES, dtype=">i8").view(np.uint8).reshape(TEMPLATES, 8)
            written += file.write(block.tobytes())
    return written


def plain_checksum(path: Path) -> None:
    """CRC-32C of the whole file, the limit of any pass that sums it."""
    size = path.stat().st_size
    with path.open("rb") as file, mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as mapping:
        bytes_of_file = np.frombuffer(mapping, dtype=np.uint8)
        address, crc = bytes_of_file.ctypes.data, 0
        for at in range(0, size, STEP):
            crc = extend_crc32c()(crc, address + at, min(STEP, size - at))
        del bytes_of_file


@cache
def extend_crc32c() -> Callable[[int, int, int], int]:
    """libcrc32c's own function: unlike the Python one it takes mapped bytes without a copy, a fairer limit."""
    function = ctypes.CDLL(importlib.import_module("google_crc32c._crc32c").__file__).crc32c_extend
    function.restype = ctypes.c_uint32
    function.argtypes = (ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t)
    return cast("Callable[[int, int, int], int]", function)


def header_pass(path: Path) -> None:
    """File to Arrow columns, checksums left alone."""
    for _ in scan(path, Origin(source=path.name), verify=False):
        pass


def checksum_pass(path: Path) -> None:
    """File to Arrow columns, every checksum recomputed."""
    for chunk in scan(path, Origin(source=path.name), verify=True):
        if chunk.refusals or chunk.headers.column("crc_valid").false_count:
            raise SystemExit(f"{path} did not read as it was written")


def median_seconds(work: Callable[[Path], None], path: Path, runs: int) -> float:
    """Median time of `runs` runs."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work(path)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def speeds(size: int, runs: int) -> None:
    """Print one line a batch size."""
    if compiled_kernel() is None:
        print("no compiled kernel here: these are figures of the plain one")
    print(f"{'batch':>8} {'crc32c GB/s':>12} {'headers GB/s':>13} {'headers+CRC GB/s':>17} {'of the limit':>13}")
    for batch_size in BATCH_SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{0:020}.log"
            written = write_segment_of(path, size, batch_size)
            for work in (plain_checksum, header_pass):
                work(path)
            limit, headers, summed = (
                written / 1e9 / median_seconds(work, path, runs)
                for work in (plain_checksum, header_pass, checksum_pass)
            )
        print(f"{batch_size:8} {limit:12.2f} {headers:13.2f} {summed:17.2f} {summed / limit:13.0%}", flush=True)


def anonymous_bytes() -> int:
    """Anonymous resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this system does not tell RssAnon")


def memory(size: int) -> None:
    """Print the peak of anonymous memory while a segment is read, over what the loaded program takes.

    Each segment is read by a fresh process: one that wrote or read before holds memory that would hide the peak.
    """
    for batch_size in BATCH_SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{0:020}.log"
            written = write_segment_of(path, size, batch_size)
            command = [sys.executable, "-m", "tests.benchmarks.segment_read", "--peak-of", str(path)]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(f"{batch_size:8} B batches, {written / MIB:.0f} MiB: {told.strip()}", flush=True)


def peak_of(path: Path) -> None:
    """Read one segment and print the peak of anonymous memory over that of the loaded program."""
    compiled_kernel()
    base = anonymous_bytes()
    peak = _peak_while(lambda: checksum_pass(path))
    print(f"{(peak - base) / MIB:.0f} MiB over {base / MIB:.0f} MiB")


def _peak_while(work: Callable[[], None]) -> int:
    peak, done = anonymous_bytes(), threading.Event()

    def sample() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, anonymous_bytes())

    sampler = threading.Thread(target=sample)
    sampler.start()
    work()
    done.set()
    sampler.join()
    return peak


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(description="Measure reading of segments.")
    parser.add_argument("--size", type=int, help="MiB a segment (1024; 4096 with --memory)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="measure peak anonymous memory instead of speed")
    parser.add_argument("--peak-of", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak_of:
        peak_of(options.peak_of)
    elif options.memory:
        memory((options.size or 4096) * MIB)
    else:
        speeds((options.size or 1024) * MIB, options.runs)


if __name__ == "__main__":
    main()
