"""SEG001: a stored batch no longer gives the checksum it carries."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader
from rules.evidence import ChecksumFault, PartitionEvidence, Replica, same_topic
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.loss.held_by_none import whole_beside
from rules.rule import rule


@rule(
    id="SEG001",
    severity=Severity.MEDIUM,
    needs=(BatchHeader,),
    law="TypeOk",
    message="Broker {broker} holds a damaged batch at {offsets}: its bytes do not match its checksum (CRC). "
    "{good_copies:+Broker holds} a good copy.",
    bearing=Bearing(calls_for=COPY_AGAIN, copies_again=True),
)
def batch_checksum_mismatch(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A stored batch does not give the checksum it carries.

    Kafka verifies checksums when a follower appends and when a log is recovered, not when it serves. A flipped bit
    in flushed data goes unnoticed until a consumer or a new follower reads it.

    Proves
    ------
    The bytes changed after the batch was written. The finding says whether another replica holds the same batch
    with a good checksum. Where none does and the offsets are committed, they are lost; unless an assigned replica,
    or a part of one, is not here.

    Undecided when
    --------------
    Checksums were not recomputed (level quick), or the bytes could not be read as a batch (see SEG002).

    Upheld
    ------
    broker 1 000|
    broker 2 000|

    Violated
    --------
    broker 1 000|
    broker 2 00!0|
    """
    for replica in evidence.replicas:
        for fault in replica.log.checksum_faults if replica.state in ("current", "future") else ():
            end = fault.end_offset
            good = tuple(r.broker for r in evidence.current if _holds_soundly(r, replica, fault.base_offset, end))
            yield Violation(
                brokers=(replica.broker,),
                start_offset=fault.base_offset,
                end_offset=end,
                severity=_severity(evidence, replica, fault, good),
                facts={
                    "broker": replica.broker,
                    "good_copies": good,
                    "whole": whole_beside(evidence, replica, (fault.base_offset, end)),
                    "faults_in_log": replica.log.checksum_fault_count,
                    "leader_epoch": fault.leader_epoch,
                    "below_high_watermark": _committed(replica, fault),
                },
                exhibits=(Exhibit(span=fault.span, role="the batch whose checksum does not fit"),),
            )


def _holds_soundly(other: Replica, faulty: Replica, start_offset: int, end_offset: int) -> bool:
    """Whether another replica covers the offsets with batches that verify."""
    if other is faulty or not same_topic(other, faulty) or not other.log.checksums_verified:
        return False
    return other.holds(start_offset, end_offset)


def _committed(replica: Replica, fault: ChecksumFault) -> bool:
    return replica.high_watermark is not None and fault.base_offset < replica.high_watermark.offset


def _severity(evidence: PartitionEvidence, replica: Replica, fault: ChecksumFault, good: tuple[int, ...]) -> Severity:
    lost = not good and _committed(replica, fault) and not _perhaps_elsewhere(evidence, fault)
    return Severity.CRITICAL if lost else Severity.MEDIUM


def _perhaps_elsewhere(evidence: PartitionEvidence, fault: ChecksumFault) -> bool:
    """Whether a good copy may be where nobody looked: an assigned replica, a folder or a segment is not here."""
    away = set(evidence.assignment).difference(replica.broker for replica in evidence.current)
    unseen = any(replica.unseen(fault.base_offset, fault.end_offset) for replica in evidence.current)
    return bool(away) or unseen or bool(evidence.unread_copies)
