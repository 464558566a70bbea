"""SEG005: a hole in the offsets of a log that nothing lawful explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import PartitionEvidence, Replica, Span
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.loss.held_by_none import held_by_none, whole_beside
from rules.protocol.offsets import without
from rules.replicas.holes import (
    Hole,
    has_it_too,
    holes,
    is_empty,
    lies_before_the_last_segment,
    never_cleaned_from,
    unlawful_holes,
)
from rules.rule import rule


@rule(
    id="SEG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="Broker {broker} holds nothing at {offsets}, {where}. Brokers that hold these: {holders}.",
    implied_by=("SEG002", "SEG006", "TRUNC005"),
    bearing=Bearing(calls_for=COPY_AGAIN, copies_again=True),
)
def offsets_missing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Offsets are missing inside a log that was never compacted.

    A leader writes its offsets without holes, and a segment is named after the first offset in it. Three reasons are
    lawful: compaction, the cleaning of transactions that goes with it, and the down-conversion of control batches for
    an old follower. Where one can apply, nothing is said. Holes below the log start offset count for nothing.

    Proves
    ------
    A segment or some batches are gone from this replica, its first or last ones too. Or it appended past a hole
    after a cut inside a batch.

    Undecided when
    --------------
    Every replica has the same hole, and LOG008 does not ask: something lawful may have taken the records.
    A compacted log has a hole that reaches beyond the high watermark on disk, which may be older than the log: cleaning
    never goes there. Or the hole reaches beyond what all cleaners wrote down. A compressed legacy batch does not tell
    its first offset: a hole before it stays unseen. A segment of which only a snapshot or an index tells was not
    copied, and SEG003 names it. Where the checkpoint that would show a compaction was not copied or could not be read,
    the severity is low. So it is for a hole between the last two segments of a copy taken live, which may be of
    different moments.

    Upheld
    ------
    broker 1 0..0|0 ; cleaner 4
    broker 2 0000|0

    Violated
    --------
    broker 1 0..0|0
    broker 2 0000|0
    """
    if evidence.compacted:
        yield from _never_compacted(evidence)
        return
    untold = "compressed batches of an old format do not tell their first offset"
    for broker in (replica.broker for replica in evidence.current if replica.log.unknown_bases):
        yield Undecided(reason=untold, missing="their records", brokers=(broker,), blocking=False)
    yield from _of_holes([*unlawful_holes(evidence)], evidence)


def _of_holes(found: Sequence[tuple[Replica, Hole]], evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A hole that some replica here does not have is a finding; those that all have are one question.

    LOG008 asks it of what somebody was told is written.
    """
    shared: list[tuple[Replica, Hole]] = []
    for replica, hole in found:
        peers = evidence.followers_of(replica)
        if peers and all(has_it_too(peer, hole) for peer in peers):
            shared.append((replica, hole))
        else:
            yield _violation(evidence, replica, hole, peers)
    asked = [(each.start_offset, each.end_offset) for each in held_by_none(evidence)]
    open_ones = [(r, hole) for r, hole in shared if any(without(hole.start_offset, hole.end_offset, asked))]
    if open_ones:
        yield _question(open_ones)


def _question(shared: Sequence[tuple[Replica, Hole]]) -> Undecided:
    first = min((hole for _, hole in shared), key=lambda hole: hole.start_offset)
    places = len({hole.start_offset for _, hole in shared})
    also = f", one of {places} places" if places > 1 else ""
    return Undecided(
        reason=f"no replica here holds offsets [{first.start_offset}, {first.end_offset}), {_where(first)}{also}, and"
        " nothing tells that they were compacted away",
        missing="a copy of the log that holds them, or the topic's cleanup.policy as it was",
        brokers=tuple(sorted({replica.broker for replica, _ in shared})),
        start_offset=first.start_offset,
        end_offset=first.end_offset,
        exhibits=tuple(exhibit for _, hole in shared if hole.start_offset == first.start_offset for exhibit in _exhibits(hole)),
    )


def _never_compacted(evidence: PartitionEvidence) -> Iterator[Undecided]:
    """Holes that no cleaning left: it stays below the high watermark, and writes down how far it went."""
    cleaned = never_cleaned_from(evidence)
    for replica in evidence.current:
        broker, claim = replica.broker, replica.high_watermark
        found = [*holes(replica)]
        reach = None if claim is None else max(claim.offset, replica.log_start_offset)
        beyond = next((hole for hole in found if reach is not None and hole.end_offset > reach), None)
        if claim is not None and beyond is not None:
            where = f"reach beyond its high watermark {claim.offset}, where cleaning never goes"
            missing = f"broker {broker}'s high watermark as of the end of its log"
            yield _left_by_none(replica, beyond, where, missing)
            continue
        dirty = (hole for hole in found if cleaned is not None and hole.end_offset > cleaned)
        if (hole := next((hole for hole in dirty if is_empty(replica, hole)), None)) is not None:
            where = f"reach beyond offset {cleaned}, up to which the log was cleaned"
            yield _left_by_none(replica, hole, where, f"a copy of broker {broker}'s log that holds them")


def _left_by_none(replica: Replica, hole: Hole, where: str, missing: str) -> Undecided:
    return Undecided(
        reason=f"broker {replica.broker} holds nothing at offsets [{hole.start_offset}, {hole.end_offset}), which {where}",
        missing=missing,
        brokers=(replica.broker,),
    )


def _violation(evidence: PartitionEvidence, replica: Replica, hole: Hole, peers: Sequence[Replica]) -> Violation:
    moved = evidence.copied_live and lies_before_the_last_segment(replica, hole)
    doubtful = moved or replica.bare or "cleaner-offset-checkpoint" in replica.untold
    return Violation(
        brokers=(replica.broker,),
        start_offset=hole.start_offset,
        end_offset=hole.end_offset,
        severity=Severity.LOW if doubtful else Severity.HIGH,
        confidence="possible" if doubtful else "certain",
        facts={
            "broker": replica.broker,
            "holders": tuple(peer.broker for peer in peers if peer.holds(hole.start_offset, hole.end_offset)),
            "gaps": len([*holes(replica)]) + replica.log.gap_count - len(replica.log.gaps),
            "where": _where(hole),
            "whole": whole_beside(evidence, replica, (hole.start_offset, hole.end_offset)),
        },
        exhibits=tuple(_exhibits(hole)),
    )


def _where(hole: Hole) -> str:
    if hole.before is None:
        return "at the beginning of its log"
    return "in the middle of its log" if hole.after is not None else "below the name of its last segment"


def _exhibits(hole: Hole) -> Iterator[Exhibit]:
    if hole.before is not None:
        yield Exhibit(span=hole.before, role="the last batch before the hole")
    if hole.named is not None:
        yield Exhibit(span=Span(source=hole.named, start=0, end=0), role="the segment, named after its first offset")
    if hole.after is not None:
        yield Exhibit(span=hole.after, role="the first batch behind it")
