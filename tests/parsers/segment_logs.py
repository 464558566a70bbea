"""Logs built byte by byte, and whole scans of them, for the tests of the segment reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from parsers.provenance import Origin
from parsers.segment import HEADER_SCHEMA, scan
from parsers.segment.chain import CHUNK_ROWS, Kernel
from parsers.segment.compiled import compiled_kernel
from parsers.segment.plain_kernel import PlainKernel
from parsers.tables import Refusal
from parsers.writers.segments import Record, batch_bytes, legacy_bytes
from tests.lab.written_bytes import legacy_set_bytes, marker_bytes

ORIGIN = Origin(source="broker-1/data/t-0/00000000000000000000.log", broker=1, topic="t", partition=0)
TIME = 1_700_000_000_000
SAMPLES = Path(__file__).parents[2] / "sample_logs"


def compiled_for_sure() -> Kernel:
    """The compiled kernel, which this machine must have."""
    kernel = compiled_kernel()
    assert kernel is not None
    return kernel


KERNELS = [
    pytest.param(PlainKernel, id="plain"),
    pytest.param(compiled_for_sure, id="compiled", marks=pytest.mark.slow),
]
"""Makers of both; the whole suite alone waits for the compiler."""


def batch(offset: int, *, records: int = 3, epoch: int = 0, value: bytes = b"value") -> bytes:
    """An everyday batch of magic 2."""
    return batch_bytes(
        base_offset=offset,
        leader_epoch=epoch,
        records=[Record(offset_delta=delta, key=b"k%d" % delta, value=value) for delta in range(records)],
        base_timestamp=TIME,
        producer_id=7,
        producer_epoch=0,
        base_sequence=offset % 2**31,
    )


def log_of(batches: int, *, records: int = 3, value: bytes = b"value") -> list[bytes]:
    """Batches that follow each other without a gap."""
    return [batch(index * records, records=records, value=value) for index in range(batches)]


def everything(
    path: Path,
    cuts: Iterable[int] | None = None,
    *,
    kernel: Kernel | None = None,
    verify: bool = True,
    chunk_rows: int = CHUNK_ROWS,
) -> tuple[pa.Table, list[Refusal]]:
    """All rows and refusals of a file, read in the parts between `cuts`."""
    bounds = [0, *sorted(cuts or ()), None]
    batches: list[pa.RecordBatch] = []
    refusals: list[Refusal] = []
    for start, end in pairwise(bounds):
        for chunk in scan(path, ORIGIN, start=start or 0, end=end, kernel=kernel, verify=verify, chunk_rows=chunk_rows):
            batches.append(chunk.headers)
            refusals.extend(chunk.refusals)
    return pa.Table.from_batches(batches, schema=HEADER_SCHEMA).combine_chunks(), refusals


def spans(table: pa.Table, refusals: Iterable[Refusal]) -> list[tuple[int, int]]:
    """The byte ranges that rows and refusals account for, in order."""
    rows = zip(table["span_start"].to_pylist(), table["span_end"].to_pylist(), strict=True)
    return sorted([*rows, *((refusal.span_start, refusal.span_end) for refusal in refusals)])


def segments_of(case: str) -> Iterator[Path]:
    """Every raw segment of a recorded case, the metadata log's among them."""
    return (path for path in sorted((SAMPLES / case / "dump").rglob("*.log")) if path.stem.isdigit())


@st.composite
def entries(draw: st.DrawFn) -> list[bytes]:
    """A log of all kinds of entries."""
    kinds = draw(st.lists(st.sampled_from(("v2", "v2", "marker", "empty", "v1", "v0", "set", "opaque")), max_size=12))
    log, offset = [], draw(st.integers(0, 2**40))
    for kind in kinds:
        entry, count = _entry(draw, kind, offset)
        log.append(entry)
        offset += count
    return log


def _entry(draw: st.DrawFn, kind: str, offset: int) -> tuple[bytes, int]:  # noqa: PLR0911 - one for each kind
    content = draw(st.binary(max_size=40))
    match kind:
        case "v2":
            return batch(offset, records=draw(st.integers(1, 4)), value=content), 4
        case "marker":
            return marker_bytes(offset=offset, leader_epoch=1, producer_id=9, producer_epoch=0, commit=True), 1
        case "empty":
            return batch_bytes(base_offset=offset, record_count=0, last_offset_delta=4, base_timestamp=-1), 5
        case "v1":
            return legacy_bytes(magic=1, offset=offset, key=b"k", value=content, timestamp=TIME), 1
        case "v0":
            return legacy_bytes(magic=0, offset=offset, value=content), 1
        case "set":
            return legacy_set_bytes(magic=1, base_offset=offset, values=[content] * 3, codec="gzip"), 3
        case _:
            return batch_bytes(base_offset=offset, payload=content, attributes=4, record_count=2), 2


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log with bits flipped, stretches zeroed, overwritten, cut out or cut off, and tails added."""
    content = bytearray(b"".join(draw(entries())))
    for kind in draw(
        st.lists(st.sampled_from(("flip", "zero", "garbage", "drop", "cut", "zeros", "tail")), max_size=4)
    ):
        at = draw(st.integers(0, len(content)))
        width = draw(st.integers(0, 90))
        match kind:
            case "flip" if at < len(content):
                content[at] ^= 1 << draw(st.integers(0, 7))
            case "zero":
                content[at : at + width] = bytes(len(content[at : at + width]))
            case "garbage":
                noise = draw(st.binary(min_size=width, max_size=width))
                content[at : at + width] = noise[: len(content[at : at + width])]
            case "drop":
                del content[at : at + width]
            case "cut":
                del content[at:]
            case "zeros":
                content += bytes(width)
            case "tail":
                content += draw(st.binary(max_size=90))
    return bytes(content)
