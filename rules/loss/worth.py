"""What was lost, by its worth: how much was committed, who produced it, and of which keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.extents import NO_OFFSETS, Extents
from rules.facts.stretch import BATCH_HEADER
from rules.facts.surviving_copies import CopiedBatch, CopyRead
from rules.history.repetitions import times_told
from rules.history.statements import Produced

Worth = Literal["committed", "acknowledged", "possibly acknowledged", "never committed"]
_SURE: Final = ("committed", "acknowledged")

PARTS_KEPT: Final = 32
PRODUCERS_KEPT: Final = 200
KEYS_KEPT: Final = 1000
SEQUENCES: Final = 1 << 31
SMALLEST_RECORD: Final = 7
"""Bytes of a record of format 2 without key, value and headers."""
SMALLEST_MESSAGE: Final = 26
"""The same of format 0, where every message stands alone."""


class Portion(Struct, frozen=True, kw_only=True):
    """A part of the lost offsets that is worth the same to everybody."""

    worth: Worth
    start_offset: int
    end_offset: int
    records: int | None
    """Null where no copy that still stands tells them all."""
    bytes: int | None
    """Of the batches of copies that tell them all; else null."""
    records_at_least: int = 0
    """What partial copies hold, and a record for every further batch that a producer was answered for."""
    bytes_at_least: int = 0
    """What partial copies hold, or what producers sent, as far as their requests tell it: the larger of both."""
    divided: bool = False
    """Whether a batch lies here in part only: its bytes are counted by its share of offsets then."""
    dense: bool = False
    """Whether a leader gave these offsets one after the other: each is a record's, or a transaction marker's."""

    @property
    def counted_records(self) -> int | None:
        """Records as copies count them, or as dense offsets do, markers among them; null where neither tells."""
        return self.records if self.records is not None or not self.dense else self.end_offset - self.start_offset

    @property
    def surely_told(self) -> bool:
        """Whether somebody was surely told that these records are written."""
        return self.worth in _SURE


class LostProducer(Struct, frozen=True, kw_only=True):
    """What one producer id and epoch wrote of the lost records."""

    producer_id: int
    """-1 for producers without idempotence, which are not told apart."""
    producer_epoch: int
    first_sequence: int
    last_sequence: int
    start_offset: int
    end_offset: int
    records: int
    transactional: bool


class LostClient(Struct, frozen=True, kw_only=True):
    """A client that was answered for lost records."""

    client_id: str | None
    answers: int
    first_offset: int
    last_offset: int
    """First offsets of the first and of the last batch that it was answered for."""
    bytes: int | None


class Contents(Struct, frozen=True, kw_only=True):
    """What the copies that still stand say of the lost records."""

    offsets: int
    """How many of the lost offsets they hold."""
    complete: bool
    """False where a batch of them cannot be believed, or more stand there than are kept: the rest is of a part then."""
    records: int
    bytes: int
    first_timestamp: int | None
    last_timestamp: int | None
    producers: tuple[LostProducer, ...]
    producer_count: int
    keys: tuple[str, ...]
    key_count: int | None
    """Different keys; null where records were not decoded, which level deep does."""
    null_keys: int


class ToldProducers(Struct, frozen=True):
    """What producers were told of a stretch."""

    answers: Sequence[Produced] = ()
    batches: Extents = NO_OFFSETS
    """Offsets of the batches that the answers name by their first records, as far as their ends are told."""
    unsure: frozenset[int] = frozenset()
    """First records of those that their producers may not have heard."""


def portions(
    stretch: tuple[int, int],
    committed_end: int,
    producers: ToldProducers,
    read: Sequence[CopyRead],
    *,
    dense: bool = False,
    markers: bool = True,
) -> tuple[Portion, ...]:
    """The stretch in parts; of very many the last ones are told as one, of which less is said."""
    (start, end), answers = stretch, producers.answers
    last = max((m.offset or 0 for m in answers), default=None)
    # An answer names the first record of its batch: only a copy tells where the batch ends.
    batches = _batches(read)
    batch_end = next((batch.end_offset for batch in batches if last is not None and batch.base_offset == last), end)
    answered = committed_end if last is None else max(committed_end, min(end, batch_end))
    named = Extents.of(_named(batches, producers) if producers.batches else ())
    parts: tuple[tuple[Worth, int, int], ...] = (
        ("committed", start, committed_end),
        *_beyond(committed_end, answered, producers.batches | named),
        ("never committed", answered, end),
    )
    found = (_portion(worth, low, high, answers, read) for worth, low, high in parts if low < high)
    return tuple(_dense(portion, markers=markers) if dense else portion for portion in found)


def _dense(portion: Portion, *, markers: bool) -> Portion:
    """With a record at each offset, or perhaps a transaction marker at some."""
    counted = markers or portion.records is not None
    number = portion.records if counted else portion.end_offset - portion.start_offset
    return replace(portion, dense=True, records=number)


def _named(batches: Sequence[CopiedBatch], producers: ToldProducers) -> Iterator[tuple[int, int]]:
    """Batches of copies that answers name by their first records."""
    bases = {m.offset for m in producers.answers} - producers.unsure
    return ((batch.base_offset, batch.end_offset) for batch in batches if batch.base_offset in bases)


def _beyond(start: int, end: int, batches: Extents) -> Iterator[tuple[Worth, int, int]]:
    """What was answered for, and what lies between and behind it: an answer to that may be missing."""
    sure = [*(Extents.of([(start, end)]) & batches).parts]
    for low, high in sure[:PARTS_KEPT]:
        yield "possibly acknowledged", start, low
        yield "acknowledged", low, high
        start = high
    yield "possibly acknowledged", start, end


def _portion(worth: Worth, low: int, high: int, answers: Sequence[Produced], read: Sequence[CopyRead]) -> Portion:
    within = [batch for batch in _batches(read) if batch.base_offset < high and batch.end_offset > low]
    copied = Extents.of((copy.start_offset, copy.end_offset) for copy in read)
    whole = Extents.of([(low, high)]) <= copied and all(copy.complete for copy in read)
    counts = [_records(batch, low, high) for batch in within if not batch.control]
    held = sum(_share(batch, low, high) for batch in within)
    own = [m for m in answers if low <= (m.offset or 0) < high]
    elsewhere = {m.offset for m in own if (m.offset or 0) not in copied}
    known = sum(count or 0 for count in counts) + len(elsewhere)
    exact = whole and None not in counts
    return Portion(
        worth=worth,
        start_offset=low,
        end_offset=high,
        records=known if exact else None,
        bytes=held if whole else None,
        records_at_least=known,
        bytes_at_least=held if whole else max(held, sum(size or 0 for size in _sent(own))),
        divided=whole and any(batch.base_offset < low or batch.end_offset > high for batch in within),
    )


def _sent(answers: Iterable[Produced]) -> Iterable[int | None]:
    """What was sent for each batch, once, although its answer may have been repeated."""
    return {answer.offset: answer.records_size for answer in answers}.values()


def _records(batch: CopiedBatch, low: int, high: int) -> int | None:
    """Records of a batch in a range; null where it has gaps and lies there in part: only its contents would tell."""
    inside = min(high, batch.end_offset) - max(low, batch.base_offset)
    width = batch.end_offset - batch.base_offset
    if inside >= width:
        return batch.records
    return inside if batch.records == width else None


def _share(batch: CopiedBatch, low: int, high: int) -> int:
    """Bytes of a batch by its offsets in a range, rounded so that the shares of all ranges are the whole."""
    width = batch.end_offset - batch.base_offset
    first, last = max(low, batch.base_offset) - batch.base_offset, min(high, batch.end_offset) - batch.base_offset
    return batch.size * last // width - batch.size * first // width


def _batches(read: Iterable[CopyRead]) -> list[CopiedBatch]:
    return [batch for copy in read for batch in copy.batches]


def contents(read: Sequence[CopyRead]) -> Contents | None:
    """What the copies say together; None where none stands."""
    batches = _batches(read)
    data = [batch for batch in batches if not batch.control]
    if not batches:
        return None
    producers = list(_producers(data))
    hashes = None if any(c.key_hashes is None for c in read) else sorted({k for c in read for k in c.key_hashes or ()})
    return Contents(
        offsets=sum(copy.end_offset - copy.start_offset for copy in read),
        complete=all(copy.complete for copy in read),
        records=sum(batch.records for batch in data),
        bytes=sum(batch.size for batch in batches),
        first_timestamp=min((b.first_timestamp for b in data if b.first_timestamp is not None), default=None),
        last_timestamp=max((b.last_timestamp for b in data if b.last_timestamp is not None), default=None),
        producers=tuple(producers[:PRODUCERS_KEPT]),
        producer_count=len(producers),
        keys=tuple((hashes or ())[:KEYS_KEPT]),
        key_count=None if hashes is None else len(hashes),
        null_keys=sum(copy.null_keys for copy in read),
    )


def _producers(batches: Iterable[CopiedBatch]) -> Iterator[LostProducer]:
    """By producer id and epoch; sequences are those of the first batch's first record and the last one's last."""
    own: dict[tuple[int, int], list[CopiedBatch]] = {}
    for batch in batches:
        own.setdefault((batch.producer_id, batch.producer_epoch), []).append(batch)
    for (producer_id, producer_epoch), written in sorted(own.items()):
        first = min(written, key=lambda batch: batch.base_offset)
        last = max(written, key=lambda batch: batch.base_offset)
        yield LostProducer(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            first_sequence=first.base_sequence,
            last_sequence=_last_sequence(last),
            start_offset=first.base_offset,
            end_offset=last.end_offset,
            records=sum(batch.records for batch in written),
            transactional=any(batch.transactional for batch in written),
        )


def _last_sequence(batch: CopiedBatch) -> int:
    """Sequences begin again at 0 after the largest one."""
    width = batch.end_offset - batch.base_offset
    return -1 if batch.base_sequence < 0 else (batch.base_sequence + width - 1) % SEQUENCES


def end_at_most(answer: Produced) -> int | None:
    """Where a batch ends at the latest that was sent uncompressed and of which only its answer is left."""
    size = answer.records_size
    if size is None or answer.offset is None:
        return None
    return answer.offset + max(1, (size - BATCH_HEADER) // SMALLEST_RECORD, size // SMALLEST_MESSAGE)


def clients(answers: Iterable[Produced]) -> tuple[LostClient, ...]:
    """Who was answered, by client id."""
    own: dict[str | None, list[Produced]] = {}
    for answer in answers:
        own.setdefault(answer.client_id, []).append(answer)
    return tuple(_client(name, own[name]) for name in sorted(own, key=lambda name: (name is None, name or "")))


def _client(client_id: str | None, answers: Sequence[Produced]) -> LostClient:
    offsets = [answer.offset or 0 for answer in answers]
    sizes, count = [answer.records_size for answer in answers], times_told(answers)
    # An answer need not tell what was sent, and of a busy log some answers are left out.
    whole = count == len(answers) and None not in sizes
    return LostClient(
        client_id=client_id,
        answers=count,
        first_offset=min(offsets),
        last_offset=max(offsets),
        bytes=sum(size or 0 for size in sizes) if whole else None,
    )
