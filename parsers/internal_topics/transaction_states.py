"""`__transaction_state`: every state that a transactional id went through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from parsers.internal_topics.encodings import Fields, record_key, tagged_int64
from parsers.internal_topics.record import InternalRecord, record_columns, refuse_record
from parsers.provenance import Origin
from parsers.tables import Refusal
from parsers.tables.metadata import Transaction, TransactionState
from parsers.wire import Malformed, TooLarge, UnknownVersion

_LATEST_VERSION: Final = 1
_FLEXIBLE_FROM: Final = 1
_TOPIC_LEAST: Final = 3
_TOPIC_NAME_LIMIT: Final = 249
_PARTITION_LIMIT: Final = 10_000
_STATES: Final[tuple[TransactionState, ...]] = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
)  # fmt: skip


class TransactionHistory(Struct, frozen=True, kw_only=True):
    """All that a partition of `__transaction_state` tells, in its order; `skipped` counts the rest by name."""

    transactions: tuple[Transaction, ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    refusals: tuple[Refusal, ...] = ()


def transaction_history(records: Iterable[InternalRecord], origin: Origin) -> TransactionHistory:
    """The states in one partition's records."""
    transactions: list[Transaction] = []
    refusals: list[Refusal] = []
    skipped: Counter[str] = Counter()
    for record in records:
        if record.control_type is not None:
            skipped[f"control record {record.control_type}"] += 1
            continue
        try:
            row = _transaction(record, origin)
        except (Malformed, UnknownVersion) as error:
            refusals.append(refuse_record(origin, record, error))
            continue
        if isinstance(row, str):
            skipped[row] += 1
        else:
            transactions.append(row)
    return TransactionHistory(
        transactions=tuple(transactions), skipped=tuple(sorted(skipped.items())), refusals=tuple(refusals)
    )


def _transaction(record: InternalRecord, origin: Origin) -> Transaction | str:
    """The row of a record, or the name of a kind that is not told."""
    key, kind = record_key(record.key)
    if kind > 0:
        return f"type {kind}"
    transactional_id = key.string()
    key.finish()
    state = _TransactionValue() if record.value is None else _state(record.value)
    return Transaction(
        **record_columns(record, origin),
        topic=None,
        topic_id=None,
        partition=None,
        transactional_id=transactional_id,
        **asdict(state),
    )


class _TransactionValue(Struct, frozen=True, kw_only=True):
    producer_id: int | None = None
    producer_epoch: int | None = None
    previous_producer_id: int | None = None
    next_producer_id: int | None = None
    timeout_ms: int | None = None
    state: TransactionState | None = None
    partitions: str | None = None
    last_update_time: int | None = None
    start_time: int | None = None


def _state(value: bytes) -> _TransactionValue:
    """A value, version 0 or 1."""
    fields = Fields(value)
    fields.version(_LATEST_VERSION, flexible_from=_FLEXIBLE_FROM)
    producer_id, producer_epoch, timeout_ms = fields.int64(), fields.int16(), fields.int32()
    status = fields.int8()
    if not 0 <= status < len(_STATES):
        raise Malformed(f"a state from 0 to {len(_STATES) - 1}", str(status))
    partitions = _partitions(fields)
    last_update_time, start_time = fields.int64(), fields.int64()
    tags = fields.tags()
    fields.finish()
    return _TransactionValue(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        previous_producer_id=tagged_int64(tags.get(0)),
        next_producer_id=tagged_int64(tags.get(1)),
        timeout_ms=timeout_ms,
        state=_STATES[status],
        partitions=partitions,
        last_update_time=last_update_time,
        start_time=start_time,
    )


def _partitions(fields: Fields) -> str | None:
    """The partitions as Kafka prints them; None for a null list."""
    topics = fields.count(_TOPIC_LEAST)
    if topics is None:
        return None
    names: list[str] = []
    for _ in range(topics):
        topic = fields.string()
        if len(topic) > _TOPIC_NAME_LIMIT:
            raise TooLarge(f"a topic name of at most {_TOPIC_NAME_LIMIT} characters", str(len(topic)))
        partitions = fields.int32s()
        fields.tags()
        if len(names) + len(partitions) > _PARTITION_LIMIT:
            raise TooLarge(f"at most {_PARTITION_LIMIT} partitions", str(len(names) + len(partitions)))
        names += [f"{topic}-{partition}" for partition in partitions]
    return ",".join(names)
