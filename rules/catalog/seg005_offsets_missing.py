"""SEG005: a hole in the offsets of a log that nothing lawful explains."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import EPOCHS_SINCE_MAGIC, PartitionEvidence, Replica
from rules.facts.stretch import OffsetStep
from rules.finding import Bearing, Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="broker {broker} holds nothing at offsets [{start_offset}, {end_offset}), in the middle of its log;"
    " brokers that do: {holders}",
    implied_by=("SEG002", "SEG006", "TRUNC005"),
    bearing=Bearing(
        calls_for="Operators: move the replica's log with the hole away while it is stopped; it copies the log again."
    ),
)
def offsets_missing(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Offsets are missing inside a log that was never compacted.

    A leader writes its offsets without holes. Compaction, the cleaning of transactions that goes with it, and the
    down-conversion of control batches for an old follower are lawful reasons; where one of them can apply, nothing is
    said. Holes below the log start offset count for nothing.

    Proves
    ------
    A segment or some batches are gone from this replica, or it appended past a hole after a cut inside a batch.

    Undecided when
    --------------
    Every replica has the same hole, or the copy lacks the checkpoints that would show a compaction: low severity. So is
    a hole between the last two segments of a copy taken live, which may be of different moments. A compressed legacy
    batch does not tell its first offset: a hole before it stays unseen.

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
        return
    for replica in evidence.current:
        if replica.log.unknown_bases:
            yield Undecided(
                reason="compressed batches of an old format do not tell their first offset",
                missing="their records",
                brokers=(replica.broker,),
                blocking=False,
            )
        for step in replica.log.gaps:
            lawful = step.found <= replica.log_start_offset or _converted(replica, evidence)
            if not lawful and not _unreadable(replica, step):
                yield _violation(evidence, replica, step)


def _violation(evidence: PartitionEvidence, replica: Replica, step: OffsetStep) -> Violation:
    peers = evidence.followers_of(replica)
    shared = bool(peers) and all(_has_hole(peer, step) for peer in peers)
    moved = evidence.copied_live and _between_last_segments(replica, step)
    doubtful = shared or moved or replica.bare
    return Violation(
        brokers=(replica.broker,),
        start_offset=step.expected,
        end_offset=step.found,
        severity=Severity.LOW if doubtful else Severity.HIGH,
        confidence="possible" if doubtful else "certain",
        facts={
            "broker": replica.broker,
            "holders": tuple(peer.broker for peer in peers if peer.holds(step.expected, step.found)),
            "gaps": replica.log.gap_count,
            "shared": shared,
        },
        exhibits=(
            Exhibit(span=step.before, role="the last batch before the hole"),
            Exhibit(span=step.after, role="the first batch behind it"),
        ),
    )


def _has_hole(peer: Replica, step: OffsetStep) -> bool:
    """Whether a peer has this hole too; of more holes than are kept, those beyond count as had."""
    # What lies beyond a peer's own log end it cannot testify to: only the part of the hole before that counts.
    end = min(step.found, peer.log_end_offset)
    if end <= max(step.expected, peer.log_start_offset):
        return True
    beyond_kept = peer.log.gap_count > len(peer.log.gaps) and end > peer.log.gaps[-1].found
    return beyond_kept or any(gap.expected <= step.expected and end <= gap.found for gap in peer.log.gaps)


def _between_last_segments(replica: Replica, step: OffsetStep) -> bool:
    last = replica.segments[-1].source if replica.segments else None
    return step.before.source != step.after.source == last


def _unreadable(replica: Replica, step: OffsetStep) -> bool:
    """Whether bytes that could not be read lie where the offsets are missing; SEG002 speaks of those."""
    return any(u.expected_offset == step.expected and u.next_offset == step.found for u in replica.log.unread)


def _converted(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the replica holds converted batches, from which control batches were dropped."""
    legacy = any(magic < EPOCHS_SINCE_MAGIC for magic in replica.log.magics)
    return legacy and any(other.log.control_batches for other in evidence.current if other is not replica)
