"""LOG005: deletes were compacted away before a replica copied them."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint, RecordRow
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.replicas.keys_apart import KeysApart
from rules.rule import rule


@rule(
    id="LOG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, RecordRow, OffsetCheckpoint),
    law="StateMachineSafety",
    message="{brokers:+Broker} kept {what} at {offsets}, which {without:+broker} dropped. {judgement:.} "
    "Under {brokers:+broker} as leader, readers get them.",
    implied_by=("LOG001",),
)
def compaction_raced_replication(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Deletes were compacted away before a replica copied them.

    Compaction keeps the last record of every key. A delete is such a record; the cleaner drops it once
    `delete.retention.ms` has passed. A replica that was away for longer never receives the delete, and keeps the older
    value. The end of a transaction can be dropped in the same way, so that aborted records are served.

    Proves
    ------
    The deleted keys live on at this replica, and nothing will remove them. Readers get them as soon as it leads. No
    metric shows it: the replica is in sync. The finding is certain where a delete still stands in a segment that waits
    for its removal or on another replica. It is likely where a delete may have stood in a hole of both logs.

    Undecided when
    --------------
    A log cannot be read to every key, or no high watermark tells how far records are committed.

    Upheld
    ------
    broker 1* ..0b0c|0d ; cleaner 4
    broker 2  0a0A0b0c|0d

    Violated
    --------
    broker 1* ..0b0c|0d ; cleaner 4
    broker 2  0a.0b0c|0d
    """
    yield from (
        Undecided(reason=point.reason, missing=point.missing, brokers=point.brokers, blocking=True)
        for point in evidence.keys_uncompared
    )
    yield from (_violation(gap) for gap in evidence.keys_apart if gap.outlived)


def _violation(gap: KeysApart) -> Violation:
    seen = gap.remains == "dead"
    return Violation(
        brokers=gap.holders,
        start_offset=gap.start_offset,
        end_offset=gap.end_offset,
        confidence=gap.confidence,
        facts={
            "what": gap.words,
            "keys": gap.keys,
            "without": gap.lacking,
            "judgement": "these keys were deleted, and it holds the old values still"
            if seen
            else "the deletes were compacted away before they were copied",
        },
        exhibits=tuple(Exhibit(span=span, role=f"broker {broker}'s first such record") for broker, span in gap.spans),
    )
