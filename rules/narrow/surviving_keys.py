"""What compaction left of each key, compared among the replicas of a partition: see `rules.replicas.keys_apart`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import chain
from typing import Final

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.chronicle import Chronicle
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.lacked_markers import committed_by_all
from rules.history.moments import ROLE_KINDS
from rules.narrow.last_of_keys import LastRecords
from rules.protocol.epochs import epoch_at
from rules.protocol.offsets import Offset
from rules.replicas.alone import shares_a_batch
from rules.replicas.keys_apart import KeysApart, KeysUncompared, Remains
from rules.zoom.unequal_buckets import unequal_buckets

NOTHING_DELETED: Final = pl.DataFrame(schema={"key": pl.Int64, "offset": pl.Int64})
FEW: Final = 3
"""Last records of a log that show whether it has any in common with another."""
_HOLDS: Final = "holds"
_DEAD: Final = "dead"
_STALE: Final = "stale"
_GONE: Final = "gone"


class KeyedReplica(Struct, frozen=True, kw_only=True):
    """A replica with the last records of its keys."""

    replica: Replica
    last: LastRecords

    @property
    def copied_holes(self) -> bool:
        """Whether there are holes where its own cleaner has not been."""
        return self.last.last_hole >= 0 and self.replica.dense_from <= self.last.last_hole


def replicas_to_key(evidence: PartitionEvidence) -> tuple[Replica, ...]:
    """Replicas of a compacted partition whose batches differ from another's: of these the keys must be compared."""
    if not evidence.compacted or evidence.level == "quick":
        return ()
    unlike = [pair for pair in evidence.pairs if unequal_buckets(*pair)]
    return tuple(r for r in evidence.current if any(r is one for pair in unlike for one in pair))


def keyed(
    evidence: PartitionEvidence,
    read: Sequence[KeyedReplica],
    deleted: pl.DataFrame | None = None,
    *,
    texts: Sequence[int] = (),
) -> PartitionEvidence:
    """The evidence with what the keys of its replicas say, compared within each life of the topic."""
    gaps: list[KeysApart] = []
    open_points: list[KeysUncompared] = []
    if texts:
        open_points.append(_uncompared(texts, "a text of a log does not hold the bytes of keys", "its segment files"))
    for life in evidence.incarnations:
        own = [one for one in read if any(one.replica is replica for replica in life)]
        cut = [one.replica.broker for one in own if not one.last.whole]
        if cut:
            reason = "their logs could not be read to every key, so that what compaction left was not compared"
            open_points.append(_uncompared(cut, reason, "sound copies of their segments"))
        whole = [(one, _committed(evidence, one.replica)) for one in own if one.last.whole]
        untold = [one.replica.broker for one, committed in whole if committed is None]
        if len(whole) > 1 and untold:
            reason = "what compaction left differs, and how far records are committed is not known"
            open_points.append(_uncompared(untold, reason, "the replication-offset-checkpoint of a broker"))
        known = [(one, committed) for one, committed in whole if committed is not None]
        alike = _largest_family(known)
        strange = [one.replica.broker for one, _ in known if all(one is not own for own, _ in alike)]
        if strange:
            reason = "their logs have no last record of any key in common with others: one may be another partition's"
            missing = "what shows whose logs they are: topic ids, or the brokers' logs"
            open_points.append(_uncompared(strange, reason, missing))
        apart = keys_apart(alike, NOTHING_DELETED if deleted is None else deleted)
        for gap in apart:
            cut_off, perhaps_cut = _cut_off(evidence, gap), _perhaps_cut(evidence, gap)
            gaps.append(replace(gap, cut_off=cut_off, perhaps_cut=perhaps_cut))
    keyless = {one.replica.path: one.last.first_keyless for one in read if one.last.first_keyless is not None}
    return replace(evidence, keys_apart=tuple(gaps), keys_uncompared=tuple(open_points), keyless_from=keyless)


def _largest_family(
    known: Sequence[tuple[KeyedReplica, int]],
) -> Sequence[tuple[KeyedReplica, int]]:
    """The replicas but for those whose logs are of other records than most: copies of one log keep what is last.

    Of two families of equal size nothing tells which one is the partition's.
    """
    families: list[list[tuple[KeyedReplica, int]]] = []
    for each in known:
        akin = [family for family in families if not all(_strangers(each[0], other) for other, _ in family)]
        families = [family for family in families if family not in akin]
        families.append([*chain.from_iterable(akin), each])
    largest = max(map(len, families), default=0)
    most = [family for family in families if len(family) == largest]
    return [each for each in known if len(most) == 1 and any(each is own for own in most[0])]


def _strangers(left: KeyedReplica, right: KeyedReplica) -> bool:
    """Whether two logs have records where both reach, one of them last records of some keys, and none in common."""
    start = max(left.replica.log_start_offset, right.replica.log_start_offset)
    end = min(left.replica.log_end_offset, right.replica.log_end_offset)
    ours, theirs = (one.last.frame.filter(pl.col("offset").is_between(start, end, "left")) for one in (left, right))
    few = [one for one, frame in ((left, ours), (right, theirs)) if frame.height < FEW]
    if len(few) > 1 or any(one.last.first_keyless is None or one.last.first_keyless >= end for one in few):
        return False
    alike = ours.join(theirs, on=["key", "offset"], how="semi")
    return alike.is_empty() and not shares_a_batch(left.replica, right.replica)


def _cut_off(evidence: PartitionEvidence, gap: KeysApart) -> tuple[int, int] | None:
    """What brokers that lack the keys cut off behind them: of what a cleaner had dropped a later record stood there."""
    own = [cut for cut in evidence.chronicle.cuts if cut.broker in gap.lacking]
    found = [(max(c.offset, gap.start_offset), end) for c in own if (end := c.log_end_offset or 0) > gap.end_offset]
    return (min(start for start, _ in found), max(end for _, end in found)) if found else None


def _perhaps_cut(evidence: PartitionEvidence, gap: KeysApart) -> tuple[int, int] | None:
    """The first later epoch that began behind the keys in a log that lacks them, if its broker tells no role in it.

    What the cleaner drops for a later record is gone for good where that record is cut off.
    """
    held = [r.log_chain for r in evidence.current if r.broker in gap.holders]
    written = max((epoch_at(chain, Offset(gap.start_offset)) or 0 for chain in held), default=0)
    begun: set[tuple[int, int]] = set()
    for replica in evidence.current:
        if replica.broker in gap.lacking:
            epochs = _roles_told(evidence.chronicle, replica.broker)
            starts = ((start.epoch, start.start_offset) for start in (*replica.log_chain, *replica.file_chain))
            begun |= {(e, start) for e, start in starts if e > written and e not in epochs and start > gap.start_offset}
    return min(begun, default=None)


def _roles_told(chronicle: Chronicle, broker: int) -> set[int | None]:
    """Epochs in which a broker tells its role, where its server.log is here too, which tells of cuts."""
    if not chronicle.has_server_log(broker):
        return set()
    return {moment.epoch for moment in chronicle.told_by(broker) if moment.kind in ROLE_KINDS}


def _uncompared(brokers: Sequence[int], reason: str, missing: str) -> KeysUncompared:
    return KeysUncompared(brokers=tuple(brokers), reason=reason, missing=missing)


def _committed(evidence: PartitionEvidence, replica: Replica) -> int | None:
    """How far a replica's own records are committed, by its high watermark or by what was told; the rest may be cut."""
    committed = committed_by_all(evidence, replica)
    return None if replica.high_watermark is None and not committed else committed


def keys_apart(committed: Sequence[tuple[KeyedReplica, int]], deleted: pl.DataFrame) -> tuple[KeysApart, ...]:
    """Keys whose last records differ where they may not, by the way in which they do.

    Each replica comes with the end of what is committed of its records. What lies behind is not judged: the protocol
    may cut it. `deleted` are the deletes that stand in segments which wait for their removal.
    """
    if len(committed) < 2:  # noqa: PLR2004 - nothing to compare
        return ()
    replicas = [one for one, _ in committed]
    joined = _joined(replicas, deleted)
    for one, end in committed:
        # What waits for the end of a transaction, or to be committed, is not served: what comes of it is not known.
        beyond = one.last.frame.filter(pl.col("offset") >= end).select("key")
        joined = joined.join(pl.concat([one.last.waiting, beyond]), on="key", how="anti")
    rows = joined.with_columns(
        **{f"role_{n}": _role(n, one.replica, end) for n, (one, end) in enumerate(committed)}
    )
    numbers = range(len(replicas))
    names = [f"role_{n}" for n in numbers]
    wrong = pl.any_horizontal(pl.col(name).is_in([_DEAD, _STALE, _GONE]) for name in names)
    found = rows.filter(wrong).sort("top").group_by(*names, "seen", maintain_order=True).agg(
        pl.len().alias("keys"),
        pl.concat_list(pl.col(f"offset_{n}").min() for n in numbers).alias("first"),
        pl.concat_list(pl.col(f"offset_{n}").max() for n in numbers).alias("last"),
        pl.concat_list(
            pl.col(f"place_{n}").sort_by(f"offset_{n}").drop_nulls().first() for n in numbers
        ).alias("places"),
    )  # fmt: skip
    return tuple(
        gap
        for row in found.iter_rows()
        for gap in _gaps(_Alike(tuple(row[: len(names)]), *row[len(names) :]), replicas)
    )


class _Alike(Struct, frozen=True):
    """Keys that differ in one way: what each replica shows of them, and where."""

    roles: tuple[str, ...]
    seen: bool
    """Whether deletes behind them were seen."""
    keys: int
    first: Sequence[int]
    last: Sequence[int]
    places: Sequence[int]

    def having(self, role: str) -> list[int]:
        """The replicas of a role, by number."""
        return [number for number, own in enumerate(self.roles) if own == role]


def _joined(replicas: Sequence[KeyedReplica], deleted: pl.DataFrame) -> pl.DataFrame:
    """One row a key: every replica's last record of it, the latest of all, and whether a delete behind it was seen."""
    frames = [
        one.last.frame.rename({name: f"{name}_{n}" for name in ("offset", "deletes", "place")})
        for n, one in enumerate(replicas)
    ]
    joined = reduce(lambda left, right: left.join(right, on="key", how="full", coalesce=True), frames)
    joined = joined.with_columns(top=pl.max_horizontal(f"offset_{n}" for n in range(len(replicas))))
    joined = joined.with_columns(
        top_deletes=pl.any_horizontal(
            (pl.col(f"offset_{n}") == pl.col("top")) & pl.col(f"deletes_{n}") for n in range(len(replicas))
        ).fill_null(value=False)
    )
    deletes = deleted.group_by("key").agg(delete=pl.col("offset").max())
    return joined.join(deletes, on="key", how="left").with_columns(
        seen=(pl.col("delete") > pl.col("top")).fill_null(value=False)
    )


def _role(number: int, replica: Replica, committed: int) -> pl.Expr:
    """What a replica shows of a key: its last record, an older one, or nothing although its log covers the last one."""
    offset, top = pl.col(f"offset_{number}"), pl.col("top")
    covers = (top >= replica.log_start_offset) & (top < committed)
    dead = pl.when(pl.col(f"deletes_{number}")).then(pl.lit("")).otherwise(pl.lit(_DEAD))
    older = pl.when(pl.col("top_deletes")).then(dead).otherwise(pl.lit(_STALE))
    gone = pl.when(pl.col("top_deletes")).then(pl.lit("")).otherwise(pl.lit(_GONE))
    return (
        pl.when(offset == top).then(pl.lit(_HOLDS))
        .when(covers & offset.is_not_null()).then(older)
        .when(covers & offset.is_null()).then(gone)
        .otherwise(pl.lit(""))
    )  # fmt: skip


def _gaps(row: _Alike, replicas: Sequence[KeyedReplica]) -> Iterator[KeysApart]:
    holds = row.having(_HOLDS)
    if dead := row.having(_DEAD):
        yield _apart("dead", dead, holds, row, replicas)
    if stale := row.having(_STALE):
        yield _apart("stale", holds, stale, row, replicas)
    if gone := row.having(_GONE):
        behind = any(_may_have_deleted(replicas[h], replicas[g], row.last[h]) for h in holds for g in gone)
        yield _apart("dead" if row.seen else "unsure" if behind else "gone", holds, gone, row, replicas)


def _may_have_deleted(holder: KeyedReplica, lacking: KeyedReplica, offset: int) -> bool:
    """Whether a delete may have stood behind an offset that neither log holds any more, or the holder not yet."""
    hole = lacking.last.last_hole
    return hole > offset and (holder.last.last_hole > offset or hole >= holder.replica.log_end_offset)


def _apart(
    remains: Remains, holders: Sequence[int], lacking: Sequence[int], row: _Alike, replicas: Sequence[KeyedReplica]
) -> KeysApart:
    return KeysApart(
        remains=remains,
        holders=tuple(replicas[n].replica.broker for n in holders),
        lacking=tuple(replicas[n].replica.broker for n in lacking),
        keys=row.keys,
        start_offset=min(row.first[n] for n in holders),
        end_offset=max(row.last[n] for n in holders) + 1,
        copied=any(replicas[n].copied_holes for n in holders),
        spans=tuple((replicas[n].replica.broker, replicas[n].last.spans[row.places[n]]) for n in holders),
    )
