"""What producers wrote in a stretch of log: their sequences and transactions, and the times that tell when."""

from __future__ import annotations

from typing import Final, TypedDict

from msgspec import Struct

from parsers.provenance import Span


class ProducerStep(Struct, frozen=True, kw_only=True):
    """Two batches of one producer, of which the later one does not follow on the earlier one."""

    offset: int
    """First offset of the later batch."""
    epoch_before: int
    epoch_after: int
    span: Span
    """The later batch."""
    end_before: int = 0
    """Offset behind the earlier batch."""
    before: Span | None = None
    """The earlier batch; null where none stands in the log."""
    time_before: int | None = None
    """The latest time in the earlier batch; its producer's, unless `broker_times` says otherwise."""
    time_after: int | None = None
    broker_times: bool = False
    """Whether a broker wrote both times, when it appended the batches."""


class StepFields(TypedDict):
    """The fields of a `ProducerStep`, for those that tell more."""

    offset: int
    epoch_before: int
    epoch_after: int
    span: Span
    end_before: int
    before: Span
    time_before: int | None
    time_after: int | None
    broker_times: bool


class SequenceStep(ProducerStep, frozen=True, kw_only=True):
    """Two neighbouring batches of one producer whose sequences do not meet."""

    expected: int
    found: int


class EpochFall(ProducerStep, frozen=True, kw_only=True):
    """The last batch of a producer's highest epoch so far, and one of a lower epoch behind it."""

    higher: int
    """The producer epoch of the earlier batch."""
    fenced: bool = False
    """Whether the earlier batch is a marker: no records of that epoch stand before the fall."""


class BatchTime(Struct, frozen=True, kw_only=True):
    """When a batch was written, as it tells."""

    time: int | None = None
    by_broker: bool = False
    """Whether a broker wrote the time when it appended the batch, and not the producer."""


UNTIMED: Final = BatchTime()


class BrokerTime(Struct, frozen=True, kw_only=True):
    """A batch that bears a broker's time: a marker of a transaction, or any where topics keep append times."""

    offset: int
    time: int
    span: Span


class ProducerRun(Struct, frozen=True, kw_only=True):
    """The batches of one producer id and epoch in a stretch of log."""

    producer_id: int
    producer_epoch: int
    first_sequence: int
    last_sequence: int
    first_offset: int
    end_offset: int
    batches: int
    breaks: int
    """Neighbouring batches of the producer whose sequences do not meet."""
    first_epoch: int
    last_epoch: int
    """Leader epochs of its first batch and of its last."""
    first: Span
    last: Span
    first_time: BatchTime = UNTIMED
    last_time: BatchTime = UNTIMED
    step: SequenceStep | None = None
    """The first break at which the leader epoch changed too."""
    steps: tuple[SequenceStep, ...] = ()
    """The first breaks of all."""
    fall: EpochFall | None = None
    """Its first batch behind one of a higher epoch of the producer."""


class ProducerFence(Struct, frozen=True, kw_only=True):
    """The last marker of the highest epoch that a producer's markers bear: leaders take no lower one behind it."""

    producer_id: int
    producer_epoch: int
    end_offset: int
    last_epoch: int
    """Leader epoch of the marker."""
    last: Span
    last_time: BatchTime


class EndedTransaction(Struct, frozen=True, kw_only=True):
    """A transaction that began and ended in a stretch: its first record's offset, and that of its marker."""

    producer_id: int
    start_offset: int
    marker_offset: int


class Begun(Struct, frozen=True, kw_only=True):
    """The first batch of a transaction that a stretch leaves open."""

    offset: int
    producer_epoch: int
    time: BatchTime
    clock: BrokerTime | None = None
    """The first batch at or behind it that bears a broker's time: by then the transaction had begun."""
    span: Span


class OpenTransactions(Struct, frozen=True, kw_only=True):
    """What a stretch leaves open of one producer: a transaction that may have begun before it, and the last one."""

    producer_id: int
    head_start: int | None
    """First record in the stretch before the producer's first marker; it may go on with an older transaction."""
    head_marker: int | None
    """The producer's first marker; null where the stretch holds none, and all of its records are one transaction's."""
    open_from: int | None
    """First record behind the producer's last marker."""
    last_marker: int | None = None
    """The producer's last marker in the stretch."""
    begun: Begun | None = None
    """Of the transaction that is open at the stretch's end; null where none is."""


class Transactions(Struct, frozen=True, kw_only=True):
    """The transactions of a stretch of log; of markers only the place is kept, not what they decide."""

    closed: tuple[EndedTransaction, ...] = ()
    """Ascending by marker; of very many, the last ones."""
    closed_count: int = 0
    open: tuple[OpenTransactions, ...] = ()
    """Ascending by producer id."""
    untold: bool = False
    """Whether there are more producers than are kept; then nothing is told."""


NO_TRANSACTIONS: Final = Transactions()
