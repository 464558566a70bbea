"""The kernel as compiled code: one pass over what is held follows the chain, fills the columns and sums the bytes.

It works on addresses, because a bounds check a byte would cost more than the work. Before every read it compares with
the segment's size and with where the held bytes end. Checksums come from libcrc32c, which google-crc32c brings along.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from parsers.segment.checksum import crc_holds
from parsers.segment.columns import HeaderColumns, Skip, Walk, gather_legacy
from parsers.segment.held_bytes import HeldSegment


class CompiledKernel(Struct, frozen=True, kw_only=True):
    """Follows sound headers in machine code."""

    walk_code: Walk
    skip_code: Skip

    def walk(
        self, segment: HeldSegment, position: int, stop: int, columns: HeaderColumns, filled: int, *, verify: bool
    ) -> tuple[int, int]:
        """See `Kernel.walk`."""
        first = segment.data.ctypes.data - segment.start
        rows, reached = self.walk_code(first, segment.size, segment.end, position, stop, columns, filled, verify)
        legacy = np.flatnonzero(columns.magic[filled:rows] < 2) + filled
        if len(legacy):
            gather_legacy(segment, columns, legacy)
            if verify:
                _sum_legacy(segment, columns, legacy)
        return rows, reached

    def skip(self, segment: HeldSegment, position: int, stop: int) -> tuple[int, int]:
        """See `Kernel.skip`."""
        first = segment.data.ctypes.data - segment.start
        return self.skip_code(first, segment.size, segment.end, position, stop)


def _sum_legacy(segment: HeldSegment, columns: HeaderColumns, rows: NDArray[np.int64]) -> None:
    starts = columns.span_start[rows].tolist()
    sizes = columns.size[rows].tolist()
    columns.crc_valid[rows] = [crc_holds(segment, at, at + size) for at, size in zip(starts, sizes, strict=True)]


@cache
def compiled_kernel() -> CompiledKernel | None:
    """The compiled kernel; None where numba is not installed or cannot compile here."""
    try:
        from parsers.segment.compiled_loop import compile_kernel
    except ImportError:
        return None
    code = compile_kernel()
    return CompiledKernel(walk_code=code[0], skip_code=code[1]) if code is not None else None
