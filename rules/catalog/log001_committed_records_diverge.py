"""LOG001: two replicas hold different committed records."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import Difference, PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, OffsetCheckpoint),
    law="LogMatchingProperty",
    message="brokers {brokers} hold different records at offsets [{start_offset}, {end_offset}), below their high watermarks;"
    " {judgement}",
    implied_by=("LOG003", "SEG006", "EPOCH001"),
)
def committed_records_diverge(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas hold different committed records at one offset.

    Proves
    ------
    A consumer can read two different records at one offset, depending on who leads. No metric shows it, and no later
    fetch heals it.

    Undecided when
    --------------
    Only one replica is at hand, a high watermark is unknown, or a range that differs by digest could not be read again.

    Upheld
    ------
    broker 1* 0000|22
    broker 2  0000|1

    Violated
    --------
    broker 1* 000022|2
    broker 2  00001|1
    """
    if len(evidence.current) < 2:
        alone = evidence.brokers_in_dump < 2
        yield Undecided(
            reason="one replica is at hand", missing="the log of another replica", blocking=alone,
            brokers=tuple(replica.broker for replica in evidence.current),
        )  # fmt: skip
    for gap in evidence.uncompared:
        yield Undecided(
            reason=gap.reason,
            missing=gap.missing,
            blocking=gap.blocking,
            brokers=(gap.left.broker, gap.right.broker),
            start_offset=gap.start_offset,
            end_offset=gap.end_offset,
        )
    for (start, end), found in _by_range(evidence).items():
        yield _violation(evidence, start, end, found)


def _by_range(evidence: PartitionEvidence) -> dict[tuple[int, int], list[Difference]]:
    """Differences below both high watermarks; the same range between several pairs is one finding."""
    ranges: dict[tuple[int, int], list[Difference]] = {}
    for difference in evidence.differences:
        end = min(difference.end_offset, difference.committed_end)
        if difference.start_offset < end:
            ranges.setdefault((difference.start_offset, end), []).append(difference)
    return ranges


def _violation(evidence: PartitionEvidence, start: int, end: int, found: list[Difference]) -> Violation:
    brokers = tuple(sorted({broker for d in found for broker in (d.left.broker, d.right.broker)}))
    wrong, why = _wrong_side(evidence, found, brokers)
    return Violation(
        brokers=brokers,
        start_offset=start,
        end_offset=end,
        facts={
            "judgement": why,
            "wrong_side": wrong,
            "epochs": tuple(sorted({epoch for d in found for epoch in (*d.left_epochs, *d.right_epochs)})),
            "high_watermarks": tuple(found[0].high_watermarks),
            "exact": all(d.exact for d in found),
        },
        exhibits=tuple(exhibit for d in found for exhibit in first_batches(d)),
    )


def _wrong_side(
    evidence: PartitionEvidence, found: list[Difference], brokers: tuple[int, ...]
) -> tuple[tuple[int, ...], str]:
    """Who differs from the majority; with no majority, who differs from the replica that would lead."""
    against = {broker: sum(broker in (d.left.broker, d.right.broker) for d in found) for broker in brokers}
    most = max(against.values())
    alone = tuple(broker for broker, count in against.items() if count == most)
    if len(brokers) > 2 and len(alone) == 1:
        return alone, f"broker {alone[0]} differs from the others, which agree"
    leaders = {replica.broker for replica in evidence.presumed_leaders}
    others = tuple(broker for broker in brokers if broker not in leaders)
    if others and len(others) < len(brokers):
        return others, f"broker {others[0]} differs from broker {min(leaders)}, which holds the newest epoch and log end"
    return (), "the disks alone do not tell which side is right"


def first_batches(difference: Difference) -> Iterator[Exhibit]:
    """The first batch of each side that differs."""
    for replica, batches in ((difference.left, difference.left_batches), (difference.right, difference.right_batches)):
        for batch in batches[:1]:
            yield Exhibit(span=batch.span, role=f"broker {replica.broker}'s first differing batch")
