"""LOG001: two replicas hold different committed records."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.chronicle.silence import Silence, would_tell
from rules.evidence import METADATA_TOPIC, Difference, PartitionEvidence
from rules.evidence.committed_apart import CommittedApart, committed_apart
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, offsets_told
from rules.rule import rule
from rules.words import numbered


@rule(
    id="LOG001",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, OffsetCheckpoint),
    law="LogMatchingProperty",
    message="{brokers:+Broker} do not all hold the same records at {offsets}. Each counts its own as committed. "
    "{judgement:.}",
    implied_by=("LOG003", "SEG006", "SEG007", "EPOCH001", "TRUNC002", "LEAD001"),
    bearing=Bearing(
        healed_by_a_cut=True,
        records=RecordsMeant(held_by="wrongSide"),
        calls_for="Save these records of every broker named before you change anything. Then choose which broker leads, and let "
        "the others fetch its log again. tidemark advise ranks the brokers and names the steps.",
    ),
)
def committed_records_diverge(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Two replicas hold different committed records at one offset.

    Proves
    ------
    A consumer can read two different records at one offset, depending on who leads. No metric shows it, and no later
    fetch heals it. Of two epochs, the one that a later epoch replaced there is wrong. Within one epoch, a replica that
    stands alone against others that agree is wrong. Where neither tells, all that differ count as wrong. Records that
    leaders had deleted count no more, whatever files still hold of them.

    Undecided when
    --------------
    Only one replica is at hand of several, or of an unknown number: said once for all partitions. A high watermark is unknown.
    Or a range in which replicas differ could not be read again.

    Upheld
    ------
    broker 1* 0000|22
    broker 2  0000|1

    Violated
    --------
    broker 1* 000022|2
    broker 2  00001|1
    """
    if not evidence.pairs and len(evidence.current) == 1 and not _is_the_only_one(evidence):
        alone = evidence.brokers_in_dump == 1
        yield Undecided(
            reason="it is not known whether replicas differ: only one is in this dump", missing="the log of another replica", blocking=alone,
            brokers=tuple(replica.broker for replica in evidence.current),
        )  # fmt: skip
    yield from _open_points(evidence)
    for (start, end), found in _by_range(evidence).items():
        yield _violation(evidence, start, end, found)


def _is_the_only_one(evidence: PartitionEvidence) -> bool:
    """Whether the partition is told to have no other replica: by the newest assignment, and by every tool's output."""
    only = (evidence.current[0].broker,)
    described = [m.replicas for m in evidence.moments if m.kind == "described" and m.replicas]
    assigned = evidence.assignment == only and all(replicas == only for replicas in described)
    return assigned and evidence.topic != METADATA_TOPIC


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
    for apart in committed_apart(evidence) if evidence.topic != METADATA_TOPIC else ():
        difference = apart.difference
        start, end = apart.start_offset, difference.end_offset
        if apart.untold and start < end and not difference.same_epoch:
            brokers = (difference.left.broker, difference.right.broker)
            unlisted = apart.unlisted
            without = f". The replication-offset-checkpoint of {numbered('broker', unlisted, 'has')} no entry for this partition"
            yield Undecided(
                reason=f"{numbered('broker', brokers)} hold different records at {offsets_told(start, end)}. Whether both"
                f" count theirs as committed is not known{without if unlisted else ''}",
                missing=" and ".join(_would_tell(apart)),
                brokers=brokers,
                start_offset=start,
                end_offset=end,
            )


def _would_tell(apart: CommittedApart) -> Iterator[str]:
    """What tells how far each is committed: its checkpoint of high watermarks; where that has no entry, its logs."""
    unread = [broker for broker in apart.untold if broker not in apart.unlisted]
    if unread:
        yield f"the replication-offset-checkpoint of {numbered('broker', unread)}, which holds high watermarks"
    for broker in apart.unlisted:
        yield would_tell(Silence(broker=broker, log="roles"), Silence(broker=broker, log="requests"))


def _by_range(evidence: PartitionEvidence) -> dict[tuple[int, int], list[Difference]]:
    """Differences below both high watermarks; the same range between several pairs is one finding."""
    ranges: dict[tuple[int, int], list[Difference]] = {}
    for apart in committed_apart(evidence):
        difference = apart.difference
        end = min(difference.end_offset, apart.end_offset)
        if apart.start_offset < end:
            ranges.setdefault((apart.start_offset, end), []).append(difference)
    return ranges


def _violation(evidence: PartitionEvidence, start: int, end: int, found: list[Difference]) -> Violation:
    sides = evidence.sides(start, end, found)
    verified = all(difference.verified for difference in found)
    return Violation(
        brokers=sides.brokers,
        start_offset=start,
        end_offset=end,
        confidence="certain" if verified else "likely",
        facts={
            "judgement": sides.because,
            "deviating": sides.deviating,
            "with_leader": sides.with_leader,
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
