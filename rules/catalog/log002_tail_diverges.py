"""LOG002: tails differ above the high watermark."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import Difference, PartitionEvidence
from rules.evidence.committed_apart import committed_apart
from rules.evidence.written_in import written_in
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG002",
    severity=Severity.INFO,
    needs=(BatchHeader, OffsetCheckpoint),
    law="LogMatchingProperty",
    message="Brokers {left} and {right} hold different records at {offsets}{whose}. That is normal after a change of leader. "
    "As far as this dump tells, at most one of them had its records committed. If one of these brokers follows the other, it replaces its "
    "records there by the leader's.",
)
def tail_diverges(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas hold different records above a high watermark.

    Proves
    ------
    Nothing bad: a deposed leader's suffix that was never committed differs from what its successor wrote, and the next
    fetch will cut it. TRUNC004 says where, and whether a replica thought part of it committed.

    Undecided when
    --------------
    The epochs of both sides are the same: then no protocol will cut it (LOG003). Or leader epochs began again, so that no log
    tells what of it was committed, nor who will follow.

    Upheld
    ------
    broker 1* 0000|
    broker 2  0000|0

    Violated
    --------
    broker 1* 0000|22
    broker 2  0000|1
    """
    for apart in committed_apart(evidence):
        difference = apart.difference
        start = max(difference.start_offset, apart.end_offset)
        if start >= difference.end_offset or difference.same_epoch:
            continue
        if evidence.epochs_used_twice:
            yield Undecided(
                reason=f"brokers {difference.left.broker} and {difference.right.broker} hold different records"
                " beyond the high watermarks on their disks. Whether these were committed is not known",
                missing="the high watermarks that both brokers wrote last, each beside its log of that time",
                brokers=(difference.left.broker, difference.right.broker),
                start_offset=start,
                end_offset=difference.end_offset,
            )
            continue
        yield Violation(
            brokers=(difference.left.broker, difference.right.broker),
            start_offset=start,
            end_offset=difference.end_offset,
            facts={
                "left": difference.left.broker,
                "right": difference.right.broker,
                "whose": _whose(difference, start),
            },
            exhibits=tuple(
                Exhibit(span=span, role=f"broker {broker}'s first differing batch")
                for broker, span in difference.first_batches
            ),
        )


def _whose(difference: Difference, start: int) -> str:
    """Of which epochs the records of either side are, where both tell it."""
    sides = [(side.broker, written_in(side, start, difference.end_offset)) for side in (difference.left, difference.right)]
    whose = ", ".join(f"broker {broker}'s are{epochs}" for broker, epochs in sides)
    return f" ({whose})" if all(epochs for _, epochs in sides) else ""
