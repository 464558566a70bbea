"""What a stretch of log comes to: counts, sums, first and last of its batches, and which of them are out of order.

Most logs of a cluster are small, and nothing here costs more than a call or two for a column, however few its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.provenance import Span
from rules.facts.stretch import BUCKET_OFFSETS, BucketDigest

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.intp]

LAST: Final = (1 << 63) - 1
PLACE: Final = ("file", "span_start", "span_end")
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
APPEND_TIME: Final = 0x08
_MAGIC_2: Final = 2
_MOST_RECORDS: Final = (1 << 31) // 7
"""What a batch of the largest size could hold: a record takes seven bytes at least."""
_MIX: Final = tuple(
    np.uint64(factor)
    for factor in (
        0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93, 0xA5CB9243F1CE4D27,
    )
)  # fmt: skip


class Totals:
    """The headers of a stretch as arrays; what is null in a column is marked beside it. Lives only inside `fold`."""

    def __init__(self, headers: pa.RecordBatch) -> None:
        """At least one header."""
        self._columns = dict(zip(headers.schema.names, headers.columns, strict=True))
        self._nowhere: Mask = np.zeros(headers.num_rows, dtype=np.bool_)
        self.last_offset, _ = self._column("last_offset", 0)
        base, self.base_unknown = self._column("base_offset", 0)
        self.base: Ints = np.where(self.base_unknown, self.last_offset, base)
        self.end: Ints = np.minimum(self.last_offset, LAST - 1) + 1
        self.epoch, self._epoch_unknown = self._column("leader_epoch", -1)
        self.flags, _ = self._column("attributes", 0)
        self.records, self.records_unknown = self._column("record_count", 0)
        self.magic, _ = self._column("magic", 0)
        self.size, _ = self._column("size", 0)
        self.due: Ints = np.concatenate((self.base[:1], self.end[:-1]))
        """Where each batch was due; the first one anywhere."""
        known = ~self.base_unknown
        known[0] = False
        self.gaps: Mask = known & (self.base > self.due)
        self.overlaps: Mask = known & (self.base < self.due)
        self.control: Mask = (self.flags & _CONTROL) != 0
        self.transactional: Mask = (self.flags & _TRANSACTIONAL) != 0
        producers, unproduced = self._column("producer_id", -1)
        sequences, _ = self._column("base_sequence", -1)
        produced: Mask = ~unproduced & (producers >= 0)
        self.sequenced: Mask = produced & (sequences >= 0)
        """Markers carry a producer id and no sequence."""
        self.transacted: Mask = produced & self.transactional
        self.markers: Mask = self.transacted & self.control & ~self.sequenced
        held, self.unchecked = self._column("crc_valid", missing=True)
        self.checksum_faults: Mask = held == 0

    def _column(self, name: str, missing: int) -> tuple[Ints, Mask]:
        """A column's values, with another in place of its nulls, and where those are."""
        column, unknown = self._columns[name], self._nowhere
        if column.null_count:
            unknown = column.is_null().to_numpy(zero_copy_only=False)
            column = column.fill_null(missing)
        return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), unknown

    @cached_property
    def header_faults(self) -> Mask:
        """Headers that no broker writes."""
        offsets = self.end - self.base
        wide = (offsets < 1) | (offsets > _MOST_RECORDS)
        miscounted = ~self.records_unknown & ((self.records > offsets) | (self.records < 0))
        of_no_epoch = ~self._epoch_unknown & (self.epoch < 0)
        faults: Mask = (self.magic == _MAGIC_2) & (wide | miscounted | of_no_epoch | (self.base < 0))
        return faults

    def counts(self) -> dict[str, int | None]:
        """The totals under the names of the facts."""
        times, untimed = self._times
        times = times[~untimed & (times >= 0)]
        # Two offsets of which one is damaged can lie farther apart than 64 bits tell.
        apart = zip(self.base[self.gaps].tolist(), self.due[self.gaps].tolist(), strict=True)
        offsets = self.end - self.base
        sparse = ~self.control & (self.magic == _MAGIC_2) & ~self.records_unknown & (self.records < offsets)
        return {
            "batches": len(self.base),
            "records": int(np.maximum(self.records, 0).sum()),
            "bytes": int(self.size.sum()),
            "first_offset": None if self.base_unknown[0] else int(self.base[0]),
            "end_offset": int(self.end[-1]),
            "last_base": None if self.base_unknown[-1] else int(self.base[-1]),
            "last_records": None if self.records_unknown[-1] else int(self.records[-1]),
            "min_timestamp": int(times.min()) if len(times) else None,
            "max_timestamp": int(times.max()) if len(times) else None,
            "gap_count": int(np.count_nonzero(self.gaps)),
            "gap_offsets": min(sum(found - due for found, due in apart), LAST),
            "overlap_count": int(np.count_nonzero(self.overlaps)),
            "checksums_verified": int(np.count_nonzero(~self.unchecked)),
            "checksum_fault_count": int(np.count_nonzero(self.checksum_faults)),
            "header_fault_count": int(np.count_nonzero(self.header_faults)),
            "sparse_batches": int(np.count_nonzero(sparse & (offsets <= _MOST_RECORDS))),
            "transactional_batches": int(np.count_nonzero(self.transactional)),
            "control_batches": int(np.count_nonzero(self.control)),
            "unknown_bases": int(np.count_nonzero(self.base_unknown)),
        }

    @cached_property
    def _times(self) -> tuple[Ints, Mask]:
        return self._column("max_timestamp", -1)

    @cached_property
    def _places(self) -> dict[str, Ints]:
        return {name: self._column(name, 0)[0] for name in PLACE}

    @cached_property
    def _producer_epochs(self) -> Ints:
        return self._column("producer_epoch", -1)[0]

    @cached_property
    def dated(self) -> Rows:
        """Rows of the batches that bear a broker's time."""
        times, untimed = self._times
        appended = (self.magic > 0) & ((self.flags & APPEND_TIME) != 0)
        return np.flatnonzero((appended | (self.transacted & self.control)) & ~untimed & (times >= 0))

    def time_of(self, row: int) -> int | None:
        """The latest time in a batch; null where it has none."""
        times, untimed = self._times
        return None if untimed[row] else int(times[row])

    def producer_epoch(self, row: int) -> int:
        """The epoch of a batch's producer."""
        return int(self._producer_epochs[row])

    def place_of(self, row: int) -> dict[str, int]:
        """Where a batch lies."""
        return {name: int(values[row]) for name, values in self._places.items()}

    def ends(self) -> dict[str, int]:
        """Where the first and the last batch stand."""
        first = {f"first_{name}": int(values[0]) for name, values in self._places.items()}
        return first | {f"last_{name}": int(values[-1]) for name, values in self._places.items()}

    def digests(self) -> Iterator[BucketDigest]:
        """By bucket of offsets how many batches there are, and the sum of one number a batch."""
        buckets, mixed = self.base // BUCKET_OFFSETS, self._mixed()
        order = np.argsort(buckets, kind="stable")
        ordered = buckets[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        sums = np.add.reduceat(mixed[order], starts).view(np.int64)
        sizes = np.diff(np.append(starts, len(ordered)))
        for bucket, batches, digest in zip(ordered[starts].tolist(), sizes.tolist(), sums.tolist(), strict=True):
            yield BucketDigest(bucket=bucket, batches=batches, digest=digest)

    def _mixed(self) -> Words:
        """One number a batch, which the fields that tell batches apart all change."""
        checksums, _ = self._column("crc", -1)
        parts = zip((self.base, self.end, self.epoch, self.size, checksums), _MIX, strict=True)
        mixed = reduce(np.bitwise_xor, (values.view(np.uint64) * factor for values, factor in parts))
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX[1]
        return mixed ^ (mixed >> np.uint64(32))


def span_of(sources: Sequence[str], row: Mapping[str, int], prefix: str = "") -> Span:
    """The address of a row's batch, or of the one beside it that a prefix names."""
    return Span(source=sources[row[f"{prefix}file"]], start=row[f"{prefix}span_start"], end=row[f"{prefix}span_end"])
