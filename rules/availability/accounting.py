"""The account of a partition's availability, where it was exposed or something grave was found in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from rules.availability.account import CONDITIONS, Availability, Condition, Exposure, StateRow
from rules.availability.lasting_states import state_rows
from rules.availability.safeguards import FOR_ALL, safeguards
from rules.chronicle.extents import Extents
from rules.evidence import METADATA_TOPIC, LeaderRow, PartitionEvidence
from rules.history.moments import succeeded
from rules.loss.incurred import Loss
from rules.protocol.numbers import whole_number
from rules.settings import MIN_IN_SYNC
from rules.words import counted

ROWS_KEPT: Final = 60
FEW_KEPT: Final = 8
"""Of a partition in which nothing grave was found: a cluster has very many of those."""
RANGES_KEPT: Final = 20


def availability(evidence: PartitionEvidence, losses: Sequence[Loss], *, grave: bool) -> Iterator[Availability]:
    """The account, or none."""
    rows = () if evidence.topic == METADATA_TOPIC else state_rows(evidence)
    shown: Sequence[StateRow] = rows if grave else exposed(rows)
    if evidence.topic == METADATA_TOPIC or not (shown or grave):
        return
    yield Availability(
        rows=tuple(shown[-(ROWS_KEPT if grave else FEW_KEPT) :]),
        rows_told=len(rows),
        exposures=tuple(exposures(evidence, rows)),
        safeguards=safeguards(evidence, rows, losses),
        silences=tuple(silences(evidence, rows)),
    )


def exposures(evidence: PartitionEvidence, rows: Sequence[StateRow]) -> Iterator[Exposure]:
    """One for each condition that any state is in, the worst one first."""
    for condition in CONDITIONS:
        own = [row for row in rows if condition in row.conditions]
        if own:
            yield _exposure(evidence, condition, rows, own)


def _exposure(
    evidence: PartitionEvidence, condition: Condition, rows: Sequence[StateRow], own: Sequence[StateRow]
) -> Exposure:
    timed = [row.milliseconds for row in own if row.milliseconds is not None]
    written = Extents.of((*_whole_epochs(evidence, condition, rows), *_answered(evidence, condition)))
    ranges = () if condition == "no-leader" else tuple(written.parts)
    return Exposure(
        condition=condition,
        states=len(own),
        milliseconds=sum(timed) if timed else None,
        untimed=len(own) - len(timed),
        lasting=own[-1] is rows[-1],
        sure=condition != "below-min-isr" or all(row.min_in_sync_sure for row in own),
        offsets=ranges[:RANGES_KEPT],
        ranges=len(ranges),
    )


def _whole_epochs(
    evidence: PartitionEvidence, condition: Condition, rows: Sequence[StateRow]
) -> Iterator[tuple[int, int]]:
    """Records of epochs of which every state is told, each in the condition."""
    before: StateRow | None = None
    for epoch, group in groupby(rows, key=lambda row: row.epoch):
        own = list(group)
        begun = own[0].partition_epoch == 0 if before is None else before.next_told
        if begun and all(row.next_told and condition in row.conditions for row in own):
            opening, end = evidence.openings.get(epoch), evidence.epoch_ends.get(epoch)
            known = opening is not None and not opening.doubtful and opening.broker == own[0].leader
            if known and opening is not None and opening.offset is not None and end is not None:
                yield opening.offset, end.offset
        before = own[-1]


def _answered(evidence: PartitionEvidence, condition: Condition) -> Iterator[tuple[int, int]]:
    """Records that a leader acknowledged while every ISR that may have been in force was in the condition."""
    for course in evidence.replayed.courses:
        lead = course.lead
        for row in course.rows:
            m = row.moment
            own = succeeded(m) and not m.doubtful and (m.offset or 0) >= (lead.start_offset or 0)
            if own and m.offset is not None and _exposed(evidence, row, lead.leader, condition):
                yield m.offset, evidence.batch_end(m.offset, m.term)


def _exposed(evidence: PartitionEvidence, row: LeaderRow, leader: int, condition: Condition) -> bool:
    """Whether an answer was surely given in the condition.

    Nobody but the leader was in sync where an answer for all replicas names a record that no other one had reached.
    """
    if not row.isr:
        return False
    most = max(map(len, row.isr))
    if condition == "one-copy":
        for_all = row.moment.kind == "produced" and row.moment.acks == FOR_ALL
        return most == 1 or (for_all and row.stands_alone(leader) is True)
    setting = evidence.setting(leader, MIN_IN_SYNC, row.moment) if condition == "below-min-isr" else None
    least = None if setting is None else whole_number(setting.value)
    return least is not None and most < least


def silences(evidence: PartitionEvidence, rows: Sequence[StateRow]) -> Iterator[str]:
    """What is not told of the states, in sentences."""
    if not rows:
        yield "Nothing tells who was in sync over time. Metadata, state-change.log or controller.log would."
        return
    yield from _gaps(rows)
    untimed = sum(row.next_told and row.milliseconds is None for row in rows)
    if untimed:
        yield f"No one clock tells both the beginning and the end of {counted(untimed, 'state')}."
    unset = sum(row.min_in_sync is None for row in rows)
    if unset:
        yield f"{MIN_IN_SYNC} is not told of {counted(unset, 'state')}."
    unassigned = sum(row.assigned is None for row in rows)
    if unassigned:
        yield f"The assignment is not told of {counted(unassigned, 'state')}."
    if not any(succeeded(m) for m in evidence.moments):
        yield "No answers to producers are told, so only offsets of whole leader epochs are named."


def _gaps(rows: Sequence[StateRow]) -> Iterator[str]:
    holes = [(a, b) for a, b in pairwise(rows) if not a.next_told]
    if holes:
        before, after = holes[0]
        first = f"partition epochs {before.partition_epoch} and {after.partition_epoch}"
        more = f", nor in {len(holes) - 1} other places" if len(holes) > 1 else ""
        yield f"No state is told between {first}{more}."


def exposed(rows: Iterable[StateRow]) -> list[StateRow]:
    """States in any condition, but for those of partitions that never had more than one replica."""
    return [row for row in rows if row.conditions and (row.assigned is None or len(row.assigned) > 1)]
