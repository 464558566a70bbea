"""SEG005: a hole in the offsets of a log that nothing lawful explains."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import PartitionEvidence, Replica, same_topic
from rules.facts import OffsetStep
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="SEG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="broker {broker} holds nothing at offsets [{start_offset}, {end_offset}); brokers that do: {holders}",
    implied_by=("SEG002", "SEG006"),
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
    Every replica has the same hole: the topic may have been compacted before; it is reported with low severity.

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
        for step in replica.log.gaps:
            if step.found <= replica.log_start_offset or _unreadable(replica, step) or _converted(replica, evidence):
                continue
            peers = [r for r in evidence.current if r is not replica and same_topic(r, replica)]
            holders = tuple(r.broker for r in peers if _holds(r, step))
            shared = bool(peers) and all(step.expected in {gap.expected for gap in r.log.gaps} for r in peers)
            yield Violation(
                brokers=(replica.broker,),
                start_offset=step.expected,
                end_offset=step.found,
                severity=Severity.LOW if shared else Severity.HIGH,
                confidence="possible" if shared else "certain",
                facts={"broker": replica.broker, "holders": holders, "gaps": replica.log.gap_count, "shared": shared},
                exhibits=(
                    Exhibit(span=step.before, role="the last batch before the hole"),
                    Exhibit(span=step.after, role="the first batch behind it"),
                ),
            )


def _unreadable(replica: Replica, step: OffsetStep) -> bool:
    """Whether bytes that could not be read lie where the offsets are missing; SEG002 speaks of those."""
    return any(u.expected_offset == step.expected and u.next_offset == step.found for u in replica.log.unread)


def _converted(replica: Replica, evidence: PartitionEvidence) -> bool:
    """Whether the replica holds converted batches, from which control batches were dropped."""
    legacy = any(magic < 2 for magic in replica.log.magics)
    return legacy and any(other.log.control_batches for other in evidence.current if other is not replica)


def _holds(other: Replica, step: OffsetStep) -> bool:
    covers = any(run.start_offset < step.found and step.expected < run.end_offset for run in other.log.epochs)
    return covers and not any(gap.expected < step.found and step.expected < gap.found for gap in other.log.gaps)
