"""LOG001: two replicas hold different committed records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import Difference, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.rule import rule


@rule(
    id="LOG001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, OffsetCheckpoint),
    law="LogMatchingProperty",
    message="brokers {brokers} hold different records at offsets [{start_offset}, {end_offset}), which both count as"
    " committed: {judgement}",
    implied_by=("LOG003", "SEG006", "SEG007", "EPOCH001", "TRUNC002", "LEAD001"),
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
    if not evidence.pairs and len(evidence.current) == 1:
        alone = evidence.brokers_in_dump == 1
        yield Undecided(
            reason="one replica is at hand", missing="the log of another replica", blocking=alone,
            brokers=tuple(replica.broker for replica in evidence.current),
        )  # fmt: skip
    yield from _open_points(evidence)
    for (start, end), found in _by_range(evidence).items():
        yield _violation(evidence, start, end, found)


def _open_points(evidence: PartitionEvidence) -> Iterator[Undecided]:
    for gap in evidence.uncompared:
        yield Undecided(
            reason=gap.reason,
            missing=gap.missing,
            brokers=(gap.left.broker, gap.right.broker),
            start_offset=gap.start_offset,
            end_offset=gap.end_offset,
            blocking=gap.blocking,
        )
    for difference in evidence.differences:
        if not difference.watermarks_known and not difference.same_epoch:
            yield Undecided(
                reason="records differ, and whether they were committed is not known",
                missing="the replication-offset-checkpoint of both brokers",
                brokers=(difference.left.broker, difference.right.broker),
                start_offset=difference.start_offset,
                end_offset=difference.end_offset,
            )


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
    odd, why = _judgement(evidence, found, start, end)
    verified = all(difference.verified for difference in found)
    return Violation(
        brokers=brokers,
        start_offset=start,
        end_offset=end,
        confidence="certain" if verified else "likely",
        facts={
            "judgement": why,
            "wrong_side": odd,
            "epochs": tuple(sorted({epoch for d in found for epoch in (*d.left_epochs, *d.right_epochs)})),
            "high_watermarks": tuple(sorted({mark for d in found for mark in d.high_watermarks})),
            "exact": all(d.exact for d in found),
        },
        exhibits=tuple(
            Exhibit(span=span, role=f"broker {broker}'s first differing batch")
            for difference in found
            for broker, span in difference.first_batches
        ),
    )


def _judgement(
    evidence: PartitionEvidence, found: list[Difference], start: int, end: int
) -> tuple[tuple[int, ...], str]:
    """Which side is wrong, as far as the disks tell: whom the others contradict, or whose epoch was superseded."""
    sides = sorted({r.broker: r for d in found for r in (d.left, d.right)}.items())
    agreeing = {broker: _agreeing(evidence, replica, start, end) for broker, replica in sides}
    most = max(map(len, agreeing.values()))
    alone = tuple(broker for broker, others in agreeing.items() if not others)
    if most and alone and len(alone) < len(sides):
        majority = next({broker, *others} for broker, others in agreeing.items() if len(others) == most)
        return alone, f"broker {_names(alone)} stands alone, brokers {_names(sorted(majority))} agree"
    newest = {broker: _epoch_at(replica, start) for broker, replica in sides}
    highest = max(newest.values())
    older = tuple(broker for broker, epoch in newest.items() if epoch < highest)
    if older and min(newest.values()) >= 0:
        winner = next(broker for broker, epoch in newest.items() if epoch == highest)
        return older, (
            f"broker {_names(older)} holds what epoch {newest[older[0]]} wrote,"
            f" broker {winner} what the later epoch {highest} wrote in its place"
        )
    return (), "the disks alone do not tell which side is right"


def _names(brokers: Iterable[int]) -> str:
    return " and ".join(map(str, brokers))


def _agreeing(evidence: PartitionEvidence, replica: Replica, start: int, end: int) -> frozenset[int]:
    """Brokers whose replicas hold the whole range and hold the same there."""
    differing = {
        broker
        for d in evidence.differences
        if replica in (d.left, d.right) and d.start_offset < end and start < d.end_offset
        for broker in (d.left.broker, d.right.broker)
    }
    others = (r for r in evidence.followers_of(replica) if r.broker not in differing and r.holds(start, end))
    return frozenset(other.broker for other in others)


def _epoch_at(replica: Replica, offset: int) -> int:
    return next((run.epoch for run in replica.log.epochs if run.start_offset <= offset < run.end_offset), -1)
