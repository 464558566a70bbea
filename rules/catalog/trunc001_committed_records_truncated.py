"""TRUNC001: a replica cut records that it knew to be committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BrokerEvent, Fetch
from rules.evidence import Cut, InferredCut, OffsetClaim, PartitionEvidence, Replica
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, sentences
from rules.protocol.versions import parse_kafka_version
from rules.rule import rule


@rule(
    id="TRUNC001",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Fetch),
    law="NoTruncationBelowTrueHW",
    message="Broker {broker} cut its log from offset {log_end_offset} to {start_offset}, below its high watermark "
    "{high_watermark}. It removed the committed records at {offsets}.{when}",
    implied_by=("LEAD001",),
    bearing=Bearing(records=RecordsMeant()),
)
def committed_records_truncated(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A replica cut its log below the high watermark that it knew.

    Proves
    ------
    Records that this replica knew to be committed were removed from it. They are lost unless another replica holds
    them.

    Undecided when
    --------------
    No line before the cut tells the replica's high watermark, as none does before 1.0. Where records beyond the cut
    are known to have been committed before it, that is a question. A cut of which no log tells is inferred from
    segments that wait for their deletion. It is likely where the high watermark on disk is still above the log end.
    Where the log has grown again, nothing tells whether what went was committed. So it is where a producer snapshot
    knows records at offsets that hold others now. So it is where a new epoch begins with a sequence ahead of the
    one that was due. A producer snapshot beyond the log end tells only that the log was longer once.

    Upheld
    ------
    broker 1 00|11
    broker 2 00|11
    t1 follows 1 epoch 1 at 4 hw 2
    t2 truncates 1 to 2

    Violated
    --------
    broker 1 00|11
    broker 2 00|11
    t1 follows 1 epoch 1 at 4 hw 4
    t2 truncates 1 to 2
    """
    for cut in evidence.chronicle.cuts:
        if cut.high_watermark is None:
            yield from _unknown_watermark(evidence, cut)
        if cut.high_watermark is None or cut.offset >= cut.high_watermark:
            continue
        end = cut.high_watermark if cut.log_end_offset is None else min(cut.high_watermark, cut.log_end_offset)
        if end <= cut.offset:
            continue  # the log was no longer than that: whatever it lost, this cut removed nothing
        yield Violation(
            brokers=(cut.broker,),
            start_offset=cut.offset,
            end_offset=end,
            facts={
                "broker": cut.broker,
                "log_end_offset": cut.log_end_offset,
                "high_watermark": cut.high_watermark,
                "leader": cut.leader,
                "epoch": cut.epoch,
                "when": "",
            },
            exhibits=(
                Exhibit(span=cut.moment.span, role="the cut"),
                *((Exhibit(span=cut.known.span, role="the high watermark before it"),) if cut.known else ()),
            ),
        )
    told = {cut.broker for cut in evidence.chronicle.cuts} | {cut.broker for cut in evidence.inferred_cuts}
    for inferred in evidence.inferred_cuts:
        yield _inferred(evidence, inferred)
    for replica in evidence.current:
        snapshot = max(replica.snapshot_offsets, key=lambda claim: claim.offset, default=None)
        beyond = snapshot is not None and snapshot.offset > replica.log_end_offset
        if beyond and snapshot is not None and replica.broker not in told and replica.end_known:
            yield _once_longer(replica, snapshot)


def _unknown_watermark(evidence: PartitionEvidence, cut: Cut) -> Iterator[Undecided]:
    """A cut of a broker before 1.0, which tells its high watermark nowhere, below what others had committed."""
    known = (parse_kafka_version(v.binary) for v in evidence.versions if v.binary and v.broker == cut.broker)
    beyond = [c for c in evidence.committed_batches if c.end_offset > cut.offset and c.term < (cut.epoch or 0)]
    if beyond and any(version is not None and not version.at_least(1) for version in known):
        last = max(beyond, key=lambda proof: proof.end_offset)
        yield Undecided(
            reason=f"broker {cut.broker} cut its log to {cut.offset}, and no line before 1.0 tells its high watermark:"
            f" records up to offset {last.end_offset} were committed, and nothing tells whether it held and knew them",
            missing=f"broker {cut.broker}'s replication-offset-checkpoint as it was before the cut",
            brokers=(cut.broker,),
            start_offset=cut.offset,
            end_offset=last.end_offset,
            blocking=False,
            exhibits=(Exhibit(span=cut.moment.span, role="the cut"),),
        )


def _once_longer(replica: Replica, snapshot: OffsetClaim) -> Undecided:
    return Undecided(
        reason=f"broker {replica.broker} wrote down its producers when its log ended at {snapshot.offset}, and now it ends"
        f" at {replica.log_end_offset}: a cut, a crash, or files of two moments",
        missing="its server.log, which tells cuts and what it loaded",
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=snapshot.offset,
        blocking=False,
        exhibits=(Exhibit(span=snapshot.span, role="the producer snapshot"),),
    )


def _inferred(evidence: PartitionEvidence, cut: InferredCut) -> Violation | Undecided:
    replica = next((replica for replica in evidence.current if replica.broker == cut.broker), None)
    watermark = replica.high_watermark if replica is not None else None
    if cut.regrown or watermark is None or watermark.offset <= cut.offset:
        return _untold(cut)
    return Violation(
        brokers=() if cut.broker is None else (cut.broker,),
        start_offset=cut.offset,
        end_offset=min(watermark.offset, cut.log_end_offset),
        severity=Severity.HIGH,
        confidence="likely" if cut.sound else "possible",
        facts={
            "broker": cut.broker,
            "log_end_offset": cut.log_end_offset,
            "high_watermark": watermark.offset,
            "leader": None,
            "epoch": None,
            "proof": cut.proof,
            "because": cut.because,
            "after": cut.after,
            "before": cut.before,
            "when": f" No log tells of it. {sentences(cut.because)} It was cut after {cut.after} and before {cut.before}.",
        },
        exhibits=(Exhibit(span=cut.span, role=_ROLES[cut.proof]), Exhibit(span=watermark.span, role=_WATERMARK)),
    )


def _untold(cut: InferredCut) -> Undecided:
    """Whether the high watermark stood above the cut is open."""
    whose, missing = f"broker {cut.broker}'s log was", "its server.log, which tells the cut and the high watermark before it"
    if cut.broker is None:
        whose = f"records of epoch {cut.epoch} were"
        missing = f"the logs of the broker that led epoch {cut.epoch}, or its disk as it was"
    return Undecided(
        reason=f"{whose} cut at {cut.offset} or below, from {cut.log_end_offset}, after {cut.after} and before"
        f" {cut.before}. {sentences(cut.because).removesuffix('.')}",
        missing=missing,
        brokers=() if cut.broker is None else (cut.broker,),
        start_offset=cut.offset,
        end_offset=cut.log_end_offset,
        blocking=False,
        exhibits=(Exhibit(span=cut.span, role=_ROLES[cut.proof]),),
    )


_WATERMARK: Final = "the high watermark on disk"
_ROLES: Final = {
    "segments put aside": "what was put aside",
    "a producer snapshot": "the producer snapshot",
    "a sequence jump": "the batch whose sequence is ahead",
}
