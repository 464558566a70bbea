"""Where records still stand that a later epoch left out: replicas, deposed leaders, and what waits for deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from parsers.provenance import ReplicaState, Span
from rules.chronicle.extents import Extents
from rules.evidence import Difference, PartitionEvidence, Replica, SegmentFile, same_topic
from rules.facts.stretch import EpochRun
from rules.protocol.offsets import UNDEFINED_EPOCH, without

CopyKind = Literal["replica", "future replica", "deleted file", "deleted dir", "stray dir"]

_KINDS: Final[Mapping[ReplicaState, CopyKind]] = {
    "current": "replica", "future": "future replica", "deleted": "deleted dir", "stray": "stray dir",
}  # fmt: skip
_CALLED: Final[Mapping[CopyKind, str]] = {
    "future replica": "-future folder", "deleted file": ".deleted file", "deleted dir": "-delete folder",
    "stray dir": "-stray folder",
}  # fmt: skip
FADING: Final = ("deleted file", "deleted dir")
"""Copies that the start of their broker, or a minute of its life, removes."""
_ORDER: Final = ("replica", "future replica", "stray dir", "deleted dir", "deleted file")
"""How long a copy may be counted on: a replica stays, a deleted file is gone when its broker starts."""


class Survivor(Struct, frozen=True, kw_only=True):
    """A stretch of records of one epoch on one broker's disk, and the bytes that hold it."""

    broker: int
    kind: CopyKind
    path: str
    """The replica's directory, or the file that waits for deletion."""
    epoch: int
    start_offset: int
    end_offset: int
    sound: bool
    """Whether no known damage touches the offsets."""
    spans: tuple[Span, ...]
    """Bytes of whole batches: those around the ends may hold offsets beyond the stretch."""

    @property
    def place(self) -> str:
        """In what on its broker's disk, behind the broker's name; nothing where it is the log itself."""
        return "" if self.kind == "replica" else f" ({_CALLED[self.kind]})"


def survivors(evidence: PartitionEvidence, epoch: int, start: int, end: int) -> tuple[Survivor, ...]:
    """Every copy of records that the epoch wrote at offsets of the range, the most lasting ones first."""
    own = [r for r in evidence.replicas if r.state != "foreign" and _of_the_topic(r, evidence)]
    found = [copy for replica in own for copy in copies(replica, epoch, start, end)]
    return in_order(found)


def in_order(found: Iterable[Survivor]) -> tuple[Survivor, ...]:
    """Copies, the most lasting ones first."""
    return tuple(sorted(found, key=lambda c: (_ORDER.index(c.kind), c.broker, c.path, c.start_offset)))


def copies(replica: Replica, epoch: int, start: int, end: int) -> Iterator[Survivor]:
    """What one replica's directory holds of an epoch at the offsets of a range, leftover files included."""
    kind = _KINDS[replica.state]
    for run, low, high in _overlaps(replica.runs_by_epoch.get(epoch, ()), epoch, start, end):
        yield Survivor(
            broker=replica.broker,
            kind=kind,
            path=replica.path,
            epoch=epoch,
            start_offset=low,
            end_offset=high,
            sound=replica.holds(low, high),
            spans=tuple(_spans(run, replica.segments, low, high)),
        )
    for leftover in replica.leftovers:
        file = SegmentFile(base_offset=leftover.base_offset, source=leftover.source, size=leftover.size)
        for run, low, high in _overlaps(leftover.epochs, epoch, start, end):
            yield Survivor(
                broker=replica.broker,
                kind="deleted file",
                path=leftover.source,
                epoch=epoch,
                start_offset=low,
                end_offset=high,
                sound=leftover.sound,
                spans=tuple(_spans(run, (file,), low, high)),
            )


def _overlaps(runs: Sequence[EpochRun], epoch: int, start: int, end: int) -> Iterator[tuple[EpochRun, int, int]]:
    for run in runs:
        low, high = max(run.start_offset, start), min(run.end_offset, end)
        if run.epoch == epoch and low < high:
            yield run, low, high


def _spans(run: EpochRun, files: Sequence[SegmentFile], start: int, end: int) -> Iterator[Span]:
    """The bytes of a run, file by file, without files whose names say that they hold none of the offsets."""
    sources = [file.source for file in files]
    if run.first.source not in sources or run.last.source not in sources:
        # A text that tells of the log names lines of its own.
        yield Span(source=run.first.source, start=run.first.start, end=run.last.end)
        return
    first, last = sources.index(run.first.source), sources.index(run.last.source)
    for place in range(first, last + 1):
        file, following = files[place], files[place + 1] if place < last else None
        ends_before = following is not None and following.base_offset <= start
        if file.base_offset < end and not ends_before:
            yield Span(
                source=file.source,
                start=run.first.start if place == first else 0,
                end=run.last.end if place == last else file.size,
            )


def untold_epochs(evidence: PartitionEvidence, leader: int | None, successor: int | None) -> Iterator[Difference]:
    """Where a deposed leader and its successor hold different records in a format that carries no epochs."""
    for difference in evidence.differences:
        brokers = {difference.left.broker, difference.right.broker}
        epochs = {*difference.left_epochs, *difference.right_epochs}
        if brokers == {leader, successor} and epochs == {UNDEFINED_EPOCH}:
            yield difference


def of_the_deposed(
    evidence: PartitionEvidence, leader: int | None, successor: int | None, start: int, end: int
) -> tuple[Survivor, ...]:
    """What the deposed leader holds without epochs and its successor does not, and who else holds the same."""
    own = next((replica for replica in evidence.current if replica.broker == leader), None)
    led = next((replica for replica in evidence.current if replica.broker == successor), None)
    if own is None or led is None or leader == successor or not _without_epochs(own):
        return ()
    held, taken = (Extents.of(held_alike(log, own, UNDEFINED_EPOCH, evidence)) for log in (own, led))
    lost = Extents.of([(start, end)]) & (held - taken)
    return in_order(
        copy
        for replica in evidence.current
        if _without_epochs(replica)
        for low, high in (lost & Extents.of(held_alike(replica, own, UNDEFINED_EPOCH, evidence))).parts
        for copy in copies(replica, UNDEFINED_EPOCH, low, high)
    )


def _without_epochs(replica: Replica) -> bool:
    return bool(replica.log.epochs) and all(run.epoch == UNDEFINED_EPOCH for run in replica.log.epochs)


def held_alike(other: Replica, replica: Replica, epoch: int, evidence: PartitionEvidence) -> list[tuple[int, int]]:
    """Offsets at which another replica holds the same records of an epoch; without epochs, those that do not differ."""
    same = [(run.start_offset, run.end_offset) for run in other.runs_by_epoch.get(epoch, ())]
    pair = {id(other), id(replica)}
    apart = [(d.start_offset, d.end_offset) for d in evidence.differences if {id(d.left), id(d.right)} == pair]
    return [part for start, end in same for part in without(start, end, apart)]


def _of_the_topic(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the copy is of the topic that is audited now, not of an earlier one of its name."""
    return not evidence.current or any(same_topic(replica, other) for other in evidence.current)


