"""What a new leader lacked of the records that were written before its election, as far as anything tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rules.chronicle.silence import roles_of
from rules.evidence import LeaderChange, PartitionEvidence
from rules.finding import offsets_told
from rules.history.moments import succeeded
from rules.history.statements import RoleTaken
from rules.loss.held_on import wrote_older
from rules.replicas.epoch_ends import EpochReach


class Lacked(Struct, frozen=True, kw_only=True):
    """What an election cost."""

    known: Literal["committed records", "written records", "nothing told", "nothing", "no record"]
    words: str
    empty: bool = False
    """Whether nothing here names a record of the partition at all."""


def lacked(evidence: PartitionEvidence, change: LeaderChange) -> Lacked:
    """What committed records it is known to have lacked, what had been written besides, or why nothing tells it."""
    return replace(_lacked(evidence, change), empty=not _names_a_record(evidence))


def _lacked(evidence: PartitionEvidence, change: LeaderChange) -> Lacked:
    left_out = [(t.start_offset, t.committed.end_offset) for t in evidence.lost_terms if t.epoch == change.epoch]
    left_out += [(kept.start_offset, kept.end_offset) for kept in evidence.kept_older if kept.epoch == change.epoch]
    if left_out:
        start, end = min(start for start, _ in left_out), max(end for _, end in left_out)
        words = f"broker {change.leader} lacked committed records at {offsets_told(start, end)}"
        return Lacked(known="committed records", words=words)
    opening = evidence.openings.get(change.epoch)
    ends = evidence.epoch_ends.items()
    before = {epoch: _counted(evidence, epoch, end, change.epoch) for epoch, end in ends if epoch < change.epoch}
    some = [(end.last_epoch or 0, end) for _, end in evidence.ends_of_some_epoch]
    unsure = [_counted(evidence, last, end, change.epoch) for last, end in some if last < change.epoch]
    furthest = max((*before.values(), *unsure), key=lambda end: (end.offset, end.witnessed), default=None)
    if opening is None or opening.offset is None or furthest is None:
        return Lacked(known="nothing told", words=f"it is not known what broker {change.leader} lacked")
    start = max(opening.offset, _deleted_below(evidence, change, before, furthest))
    if furthest.offset > start:
        return _written(evidence, change, (start, furthest.offset))
    untold = _untold_of_roles(evidence, change) or _untold_of_its_log(evidence, change, before, furthest)
    if untold is not None:
        return Lacked(known="nothing told", words=untold)
    if _never_written(evidence):
        return Lacked(known="no record", words="no record is known to have been written to the partition")
    opened = f"broker {change.leader} opened epoch {change.epoch} at {opening.offset}"
    kept = ", but for what had been deleted" if furthest.offset > opening.offset else ""
    more = any(end.offset > furthest.offset for epoch, end in ends if epoch < change.epoch)
    had = "the leader before it had" if more else "is known to have been written"
    return Lacked(known="nothing", words=f"{opened} with all that {had}{kept}")


def _counted(evidence: PartitionEvidence, epoch: int, reach: EpochReach, following: int) -> EpochReach:
    """What had been written in an epoch, as far as the last leader before an election had it."""
    opened = ((e, o.offset) for e, o in evidence.openings.items() if o.offset is not None and not o.doubtful)
    _, had = max((one for one in opened if epoch < one[0] < following), default=(epoch, reach.offset))
    return reach if had >= reach.offset else replace(reach, offset=had)


def _written(evidence: PartitionEvidence, change: LeaderChange, lacking: tuple[int, int]) -> Lacked:
    """What had been written and the new leader lacked, unless another leader before it may have lacked that already."""
    start, end = lacking
    offsets = offsets_told(start, end)
    since = max(_epochs_with(evidence, end, change.epoch), default=-1)
    between = (e for e in range(change.epoch - 1, since, -1) if e not in evidence.chronicle.led_by_nobody)
    if since >= 0 and next(between, None) is not None:
        doubt = f"it is not known whether broker {change.leader} lacked {offsets}, or a leader before it did already"
        return Lacked(known="nothing told", words=doubt)
    words = f"broker {change.leader} lacked {offsets}, which {'was' if end == start + 1 else 'were'} written"
    return Lacked(known="written records", words=words)


def _epochs_with(evidence: PartitionEvidence, end: int, following: int) -> Iterator[int]:
    """The epochs before another one of which the leaders had what was written up to an offset."""
    yield from (epoch for epoch, reach in evidence.epoch_ends.items() if reach.offset >= end and epoch < following)
    some = (reach for _, reach in evidence.ends_of_some_epoch if reach.offset >= end)
    yield from (reach.last_epoch or 0 for reach in some if (reach.last_epoch or 0) < following)
    for epoch, opening in evidence.openings.items():
        if epoch < following and not opening.doubtful and (opening.offset or 0) >= end:
            yield epoch


def _deleted_below(
    evidence: PartitionEvidence, change: LeaderChange, before: Mapping[int, EpochReach], furthest: EpochReach
) -> int:
    """Where the log that reached furthest before an election began at last: what was below had been deleted."""
    epoch = max((epoch for epoch, end in before.items() if end == furthest), default=-1)
    leader = evidence.chronicle.leaders.get(epoch)
    return evidence.deleted.lost_later(leader, epoch, furthest.offset, change.epoch)


def _never_written(evidence: PartitionEvidence) -> bool:
    """Whether every replica is here and empty, and nothing that stands beside its log or was told names a record."""
    current = evidence.current
    if not current or not set(evidence.assignment) <= {replica.broker for replica in current}:
        return False
    read = all(r.end_known and not r.log.unread and not r.leftovers for r in current)
    return read and not _names_a_record(evidence)


def _names_a_record(evidence: PartitionEvidence) -> bool:
    """Whether any log holds a record, or anything beside one or any word names an offset that one had."""
    current = evidence.current
    claims = (claim for r in current for claim in (r.high_watermark, r.recovery_point, *r.snapshot_offsets))
    held = any(r.log_end_offset > 0 for r in current) or any(c is not None and c.offset > 0 for c in claims)
    return held or any((moment.offset or 0) > 0 or succeeded(moment) for moment in evidence.moments)


def _untold_of_roles(evidence: PartitionEvidence, change: LeaderChange) -> str | None:
    """Whether who led before or after an election tells of no epoch that it led: how far it wrote, or what it held."""
    led = evidence.chronicle.leaders
    former = max((epoch for epoch in led if epoch < change.epoch), default=None)
    telling = {m.broker for m in evidence.moments if m.kind == "leader-starts"}
    leaders = [change.leader] if former is None else [led[former], change.leader]
    untold = next((leader for leader in leaders if leader not in telling), None)
    if untold is None:
        return None
    own = roles_of(f"broker {untold}")
    tells = any(isinstance(m, RoleTaken) and m.broker == untold for m in evidence.moments)
    why = f"{own} tells of no epoch that it led" if tells else f"{own} is not here"
    return f"it is not known what broker {change.leader} lacked: {why}"


def _untold_of_its_log(
    evidence: PartitionEvidence, change: LeaderChange, before: Mapping[int, EpochReach], furthest: EpochReach
) -> str | None:
    """Why a log that is long enough need not hold what had been written."""
    if not furthest.witnessed:  # of records that every copy has lost since, none tells
        return f"no witness tells what broker {change.leader} lacked"
    if not before:
        return f"it is not known what broker {change.leader} lacked: nothing tells of which epoch the last records were"
    last = max(before)
    if _wrote_others(evidence, change.leader, last, before[last].offset):
        held = f"broker {change.leader} held the records of epoch {last}"
        return f"it is not known whether {held}, or older ones of its own in their place"
    return None


def _wrote_others(evidence: PartitionEvidence, leader: int, epoch: int, end: int) -> bool:
    """Whether a leader had written older records where another's stood, and is not seen to have had those."""
    opening = evidence.openings.get(epoch)
    if opening is None or opening.broker == leader or opening.offset is None:
        return False
    held = (run for r in evidence.current if r.broker == leader for run in r.runs_by_epoch.get(epoch, ()))
    return wrote_older(evidence, leader, epoch, opening.offset) and not any(run.end_offset >= end for run in held)
