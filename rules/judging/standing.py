"""One replica as the report's table shows it: what it holds, what it must have held, and how it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rules.evidence import PartitionEvidence, Replica
from rules.evidence.expected import expected_high_watermark, expected_log_end
from rules.finding import Finding, Severity
from rules.protocol.epochs import EpochChain
from rules.verdict import EpochLine, ReplicaVerdict

TAIL_KINDS: Final = ("zero_tail",)


def replica_verdict(replica: Replica, evidence: PartitionEvidence, findings: Sequence[Finding]) -> ReplicaVerdict:
    """What the disk shows of a replica, what it must have held, and what was found about it."""
    expected, log_end = expected_high_watermark(replica, evidence), expected_log_end(replica, evidence)
    return ReplicaVerdict(
        broker=replica.broker,
        log_dir=replica.log_dir,
        path=replica.path,
        state=replica.state,
        topic_id=replica.topic_id,
        log_start_offset=replica.log_start_offset,
        log_end_offset=replica.log_end_offset,
        end_known=replica.end_known,
        high_watermark_on_disk=replica.high_watermark.offset if replica.high_watermark else None,
        expected_low=int(expected.interval.low or 0),
        expected_high=None if expected.interval.high is None else int(expected.interval.high),
        expected_because=expected.because,
        expected_end_low=log_end.interval.low,
        expected_end_high=log_end.interval.high,
        expected_end_because=log_end.because,
        epochs=_epochs(replica.file_chain or replica.log_chain),
        verdict=_standing(replica, findings),
        batches=replica.log.batches,
        records=replica.log.records,
        bytes_seen=replica.bytes_seen,
        bytes_read=replica.bytes_read,
        bytes_missing=_missing(replica, evidence),
        bytes_refused=sum(u.span.end - u.span.start for u in replica.log.unread if u.kind not in TAIL_KINDS),
        checksums_verified=replica.log.checksums_verified,
        min_timestamp=replica.log.min_timestamp,
        max_timestamp=replica.log.max_timestamp,
    )


def _missing(replica: Replica, evidence: PartitionEvidence) -> int:
    """About how many bytes of the log are not here, by the fullest replica; at least one where any are not."""
    if not replica.unopened:
        return 0
    return max(1, max(other.bytes_seen for other in evidence.current or (replica,)) - replica.bytes_seen)


def _epochs(chain: EpochChain) -> tuple[EpochLine, ...]:
    return tuple(EpochLine(epoch=entry.epoch, start_offset=entry.start_offset) for entry in chain)


def _standing(replica: Replica, findings: Sequence[Finding]) -> str:
    """The worst that was found about the replica, in one word."""
    if replica.state != "current":
        return replica.state
    own = [finding for finding in findings if replica.broker in _at_fault(finding)]
    worst = max((finding.severity for finding in own if finding.verdict == "violated"), default=-1)
    if worst >= Severity.LOW:
        return Severity(worst).label
    return "undecided" if any(finding.blocking for finding in own) else "sound"


def _at_fault(finding: Finding) -> tuple[int, ...]:
    """The brokers whose replicas a finding is held against: of those at odds the ones that deviate, if it tells."""
    deviating = finding.values().get("deviating")
    if deviating is None or isinstance(deviating, str | int):
        return finding.brokers
    return tuple(map(int, deviating)) or finding.brokers
