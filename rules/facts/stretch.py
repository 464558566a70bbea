"""Facts of a stretch of log: what the fold of `rules.narrow` keeps of the batches, each fact with its address.

A fact that is not kept here cannot be judged; a rule that needs more adds a fact, never a way back to the rows.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from parsers.provenance import Span
from parsers.tables import RefusalKind
from rules.facts.producing import NO_TRANSACTIONS, BrokerTime, ProducerFence, ProducerRun, Transactions

BUCKET_OFFSETS: Final = 8192
"""Offsets of one bucket of digests: the least that is read again where two replicas differ."""

BATCH_HEADER: Final = 61
"""Bytes of a batch of format 2 without records, as cleaners leave some."""

HIGHEST_OFFSET: Final = 2**63 - 1
"""The highest that 64 bits hold."""

UNOPENED: Final[frozenset[RefusalKind]] = frozenset({"unreadable", "not_copied", "escapes_dump"})
"""Refusals of a whole file whose bytes could not be had: it may hold anything, or nothing."""


class EpochRun(Struct, frozen=True, kw_only=True):
    """Consecutive batches of one leader epoch, in physical order."""

    epoch: int
    start_offset: int
    end_offset: int
    batches: int
    first: Span
    last: Span


class OffsetStep(Struct, frozen=True, kw_only=True):
    """Two neighbouring batches whose offsets do not meet: a gap when `found` is above `expected`, an overlap below."""

    expected: int
    found: int
    epoch_before: int
    epoch_after: int
    before: Span
    after: Span
    base_before: int | None = None
    records_before: int | None = None
    """First offset and number of records of the batch before, as its header tells them."""

    @property
    def counted(self) -> int | None:
        """Where the batch before would end if it had as many offsets as records."""
        return counted_end(self.base_before, self.records_before)


class Stray(Struct, frozen=True, kw_only=True):
    """A batch whose header its surroundings contradict in a field, and where they place it."""

    field: str
    start_offset: int | None
    end_offset: int | None
    span: Span


class ChecksumFault(Struct, frozen=True, kw_only=True):
    """A batch whose bytes do not give the checksum it carries."""

    base_offset: int
    end_offset: int
    leader_epoch: int
    span: Span


class UnreadBytes(Struct, frozen=True, kw_only=True):
    """Bytes of a segment that hold no readable batch, and the offsets around them."""

    kind: RefusalKind
    expected_offset: int | None
    """Offset that was due where the bytes begin."""
    next_offset: int | None
    """First offset read again behind them; null at the end of the log."""
    expected: str
    found: str
    span: Span

    @property
    def words(self) -> str:
        """What should stand there and what does."""
        return f"expected {self.expected}, found {self.found}"


class BucketDigest(Struct, frozen=True, kw_only=True):
    """An order-free sum over the batches that start in one bucket of offsets; equal contents have equal digests."""

    bucket: int
    batches: int
    digest: int


class LogFacts(Struct, frozen=True, kw_only=True):
    """A stretch of one replica's log, folded. Lists of defects keep their first members and count them all."""

    batches: int = 0
    records: int = 0
    bytes: int = 0
    first_offset: int | None = None
    """First offset of the first batch; null for an empty stretch, or where only decompression would tell."""
    end_offset: int | None = None
    """Offset after the last batch in physical order; null for an empty stretch."""
    last_base: int | None = None
    last_records: int | None = None
    """First offset and number of records of the last batch, as its header tells them."""
    min_timestamp: int | None = None
    max_timestamp: int | None = None
    magics: tuple[int, ...] = ()
    epochs: tuple[EpochRun, ...] = ()
    """Runs in physical order; of more than any cluster makes, the first ones and the last."""
    epoch_count: int = 0
    gaps: tuple[OffsetStep, ...] = ()
    gap_count: int = 0
    gap_offsets: int = 0
    overlaps: tuple[OffsetStep, ...] = ()
    overlap_count: int = 0
    checksums_verified: int = 0
    checksum_faults: tuple[ChecksumFault, ...] = ()
    checksum_fault_count: int = 0
    unread: tuple[UnreadBytes, ...] = ()
    unread_count: int = 0
    header_faults: tuple[ChecksumFault, ...] = ()
    """Batches whose header says what no broker writes: a last offset before the first, or farther behind it than any
    batch has records, a count above it or below nothing, epoch -1."""
    header_fault_count: int = 0
    sparse_batches: int = 0
    """Batches with fewer records than offsets: the log cleaner was here."""
    transactional_batches: int = 0
    control_batches: int = 0
    unknown_bases: int = 0
    """Compressed legacy entries, whose first offset the header does not tell."""
    decoded_batches: int = 0
    undecodable: tuple[UnreadBytes, ...] = ()
    """Batches whose checksum holds and whose records cannot be decoded."""
    undecodable_count: int = 0
    digests: tuple[BucketDigest, ...] = ()
    producers: tuple[ProducerRun, ...] = ()
    """Ascending by producer id and epoch; of very many, the newest."""
    fences: tuple[ProducerFence, ...] = ()
    """Ascending by producer id, one each; left out as producers are."""
    transactions: Transactions = NO_TRANSACTIONS
    first_clock: BrokerTime | None = None
    last_clock: BrokerTime | None = None
    """The first and the last batch that bear a broker's time."""


def counted_end(base_offset: int | None, records: int | None) -> int | None:
    """Where a batch ends that has as many offsets as records; null for an emptied one, or one that does not tell.

    Null too where no offset is that high: of such a base offset the count of records says nothing.
    """
    end = base_offset + records if base_offset is not None and records is not None and records > 0 else None
    return None if end is None or end > HIGHEST_OFFSET else end


NO_LOG: Final = LogFacts()
"""The facts of an empty stretch: joined to any other, they change nothing."""
