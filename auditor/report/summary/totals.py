"""What was lost in all: offsets by their worth, partitions, and where copies survive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from auditor.report.model import Loss, PlacedHistory
from auditor.report.placed import Placed
from auditor.report.worths import PERHAPS, held_by_none, worths_counted
from rules.words import amount, counted, listed


class LostRange(Placed, frozen=True, kw_only=True):
    """One lost range and its partition."""

    loss: Loss


class SurvivorHolder(Struct, frozen=True, kw_only=True):
    """A broker that still has lost records, and in what."""

    broker: int
    kind: str
    partitions: int
    damaged: bool
    """Whether one of its copies is."""


class LossTotals(Struct, frozen=True, kw_only=True):
    """What several losses come to together; those that were served again later are told apart."""

    ranges: tuple[LostRange, ...]
    offsets: int
    committed: int
    acknowledged: int
    """Offsets that producers were surely answered for, beyond the committed ones."""
    possibly_acknowledged: int
    never_committed: int
    """The offsets by what they were worth, each once."""
    records: int | None
    """How many records these offsets held, transaction markers counted; null where nothing tells."""
    ends_known: bool
    standing: int
    """Offsets of which a copy still stands in the dump."""
    gone: int
    """Offsets of which none does, although disks are here to be searched."""
    unsearched: int
    """Offsets that no disk here could hold, or that lie where a disk was not copied whole."""
    holders: tuple[SurvivorHolder, ...]
    restored: tuple[LostRange, ...]
    """Left out for a time, and held again by the log that leads now."""
    perhaps: tuple[LostRange, ...]
    """Left out, and perhaps held by the log that leads now: nothing tells whose that is, or what it holds."""

    @property
    def partitions(self) -> int:
        """How many partitions lost something for good."""
        return len({(r.cluster_id, r.topic, r.partition) for r in self.ranges})

    @property
    def for_good(self) -> bool:
        """Whether anything is gone that was not served again."""
        return bool(self.ranges)

    @property
    def amount(self) -> str:
        """How much, in words: 50 records; at least 12 offsets; 980 offsets (977 records)."""
        least = "" if self.ends_known else "at least "
        return least + amount(self.offsets, self.records)

    @property
    def worth(self) -> str:
        """Who had been told that they were written, in words."""
        return worths_counted(
            {
                "committed": self.committed,
                "acknowledged": self.acknowledged,
                PERHAPS: self.possibly_acknowledged,
                "never committed": self.never_committed,
            }
        )

    @property
    def copies(self) -> str:
        """Where copies survive, in words."""
        return f"{self._on_disks}{self._in_remote_storage}"

    @property
    def _in_remote_storage(self) -> str:
        held = sum(end - start for each in self.ranges for start, end in each.loss.kept_remotely)
        return f" Remote storage holds {held} of the {self.offsets} offsets." if held else ""

    @property
    def _on_disks(self) -> str:
        whose = listed([_held(holder) for holder in self.holders]) if self.holders else ""
        if self.standing == self.offsets:
            return f"Copies of all of them survive on {whose}."
        if self.standing:
            rest = counted(self.offsets - self.standing, "offset")
            nowhere = f"Of {rest} no copy was found{' on disks' * bool(self._in_remote_storage)}."
            return f"Copies of {counted(self.standing, 'offset')} survive on {whose}. {nowhere}"
        if self.unsearched == self.offsets:
            return "No copy was found. Not every disk that may hold one was read whole."
        partly = f" {counted(self.unsearched, 'offset')} could not be searched for whole." if self.unsearched else ""
        return f"{held_by_none(self.offsets)}{partly}"


def _held(holder: SurvivorHolder) -> str:
    kind = "" if holder.kind == "replica" else f" ({holder.kind})"
    return f"broker {holder.broker}{kind}{', damaged' if holder.damaged else ''}"


def totals(histories: Iterable[PlacedHistory]) -> LossTotals | None:
    """The sum of all losses; null where nothing of worth is known to be lost."""
    known = [
        LostRange(cluster_id=history.cluster_id, topic=history.topic, partition=history.partition, loss=loss)
        for history in histories
        for loss in history.losses
        if loss.matters
    ]
    if not known:
        return None
    lost = [each for each in known if each.loss.for_good]
    portions = [portion for each in lost for portion in each.loss.portions]
    by_worth = {
        worth: sum(p.end_offset - p.start_offset for p in portions if p.worth == worth)
        for worth in ("committed", "acknowledged", "possibly acknowledged", "never committed")
    }
    standing = sum(end - start for each in lost for start, end in each.loss.standing)
    unsearched = sum(_unsearched(each.loss) for each in lost)
    offsets = sum(each.loss.offsets for each in lost)
    return LossTotals(
        ranges=tuple(lost),
        offsets=offsets,
        committed=by_worth["committed"],
        acknowledged=by_worth["acknowledged"],
        possibly_acknowledged=by_worth["possibly acknowledged"],
        never_committed=by_worth["never committed"],
        records=_records(lost),
        ends_known=all(each.loss.end_known for each in lost),
        standing=standing,
        gone=offsets - standing - unsearched,
        unsearched=unsearched,
        holders=tuple(_holders(lost)),
        restored=tuple(each for each in known if each.loss.restored),
        perhaps=tuple(each for each in known if not (each.loss.for_good or each.loss.restored)),
    )


def _unsearched(loss: Loss) -> int:
    """Offsets without a known copy of which one may lie where nothing was read."""
    if loss.searched and not loss.unsearched:
        return 0
    return loss.offsets - sum(end - start for start, end in loss.standing)


def _records(lost: Sequence[LostRange]) -> int | None:
    """Records as copies count them, or as dense offsets do; null where one stretch tells neither."""
    counts = [portion.counted_records for each in lost for portion in each.loss.portions]
    return None if None in counts else sum(count or 0 for count in counts)


def _holders(lost: Sequence[LostRange]) -> Iterator[SurvivorHolder]:
    """Brokers with copies, each kind by itself."""
    found: dict[tuple[int, str], set[tuple[str | None, str, int]]] = {}
    damaged: set[tuple[int, str]] = set()
    for each in lost:
        for survivor in each.loss.survivors:
            key = survivor.broker, survivor.kind
            found.setdefault(key, set()).add((each.cluster_id, each.topic, each.partition))
            damaged.update(() if survivor.sound else (key,))
    for (broker, kind), places in sorted(found.items()):
        yield SurvivorHolder(broker=broker, kind=kind, partitions=len(places), damaged=(broker, kind) in damaged)
