"""SEG005: a hole in the offsets of a log that nothing lawful explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import PartitionEvidence, Replica, Span
from rules.evidence.holes import Hole, has_it_too, holes, lies_before_the_last_segment, unlawful_holes
from rules.evidence.never_cleaned import NeverCleaned, never_cleaned
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.loss.held_by_none import held_by_none, whole_beside
from rules.protocol.offsets import without
from rules.rule import rule

_CHANGED: Final = " The log may have changed while it was copied."
_COMPACTED: Final = " Compaction may have removed them lawfully. Files of its log dir, which would tell, are missing here."


@rule(
    id="SEG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="Broker {broker} holds nothing at {offsets}, {where}. {holders:+Broker holds} {offsets}.{lawful}",
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
    never goes there. Or the hole reaches beyond what all cleaners wrote down. Or every log has records without keys
    below it, or below what its own cleaner wrote down. A cleaner that came so far would have taken those too. At most
    eight holes of a log are looked at for such records where replicas do not differ. A compressed legacy batch does not tell
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
        yield from map(_left_by_no_cleaning, never_cleaned(evidence))
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
        reason=f"no replica here holds offsets [{first.start_offset}, {first.end_offset}), {first.where}{also}, and"
        " nothing tells that they were compacted away",
        missing="a copy of the log that holds them, or the topic's cleanup.policy as it was",
        brokers=tuple(sorted({replica.broker for replica, _ in shared})),
        start_offset=first.start_offset,
        end_offset=first.end_offset,
        exhibits=tuple(exhibit for _, hole in shared if hole.start_offset == first.start_offset for exhibit in _exhibits(hole)),
    )


def _left_by_no_cleaning(found: NeverCleaned) -> Undecided:
    hole = found.hole
    nothing = f"broker {found.broker} has a hole at offsets [{hole.start_offset}, {hole.end_offset})"
    return Undecided(reason=f"{nothing}, which {found.because}", missing=found.missing, brokers=(found.broker,))


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
            "where": hole.where,
            "lawful": _CHANGED if moved else _COMPACTED if doubtful else "",
            "whole": whole_beside(evidence, replica, (hole.start_offset, hole.end_offset)),
        },
        exhibits=tuple(_exhibits(hole)),
    )


def _exhibits(hole: Hole) -> Iterator[Exhibit]:
    if hole.before is not None:
        yield Exhibit(span=hole.before, role="the last batch before the hole")
    if hole.named is not None:
        yield Exhibit(span=Span(source=hole.named, start=0, end=0), role="the segment, named after its first offset")
    if hole.after is not None:
        yield Exhibit(span=hole.after, role="the first batch behind it")
