"""TRUNC001: a replica cut records that it knew to be committed."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BrokerEvent, Fetch
from rules.evidence import CRASHED, WHEN_MADE, Cut, InferredCut, OffsetClaim, PartitionEvidence, Replica
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, sentences
from rules.rule import rule
from rules.words import from_to


@rule(
    id="TRUNC001",
    severity=Severity.CRITICAL,
    needs=(BrokerEvent, Fetch),
    law="NoTruncationBelowTrueHW",
    message="Broker {broker} truncated its log {from_to}, below its high watermark "
    "{high_watermark}. It removed the committed records at {offsets}.{when}",
    implied_by=("LEAD001",),
    bearing=Bearing(records=RecordsMeant()),
)
def committed_records_truncated(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A replica cut its log below the high watermark that it knew.

    Proves
    ------
    Records that this replica knew to be committed are gone from it. They are lost unless another replica holds them.

    Undecided when
    --------------
    The topic was made again before, and nothing tells that this log was: its records may be of the earlier life. Or no
    line before the cut tells the replica's high watermark, as none does before 1.0. Where records beyond the cut
    are known to have been committed before it, that is a question. A cut of which no log tells is inferred from
    segments that wait for their deletion. It is likely where the high watermark on disk is still above the log end.
    Where the log has grown again, nothing tells whether what went was committed. It is open too where a producer
    snapshot knows records at offsets that hold others now. And it is open where a new epoch begins with a sequence
    ahead of the one that was due. A producer snapshot beyond the log end tells only that the log was longer once.

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
        elif cut.committed_end is not None and cut.of_this_life > cut.offset and not cut.put_back:
            yield _open(cut, cut.committed_end, cut.older, WHEN_MADE, blocking=True)
        elif cut.committed_end is not None:
            # What retention or a client had deleted before was not there to be removed.
            begun = evidence.deleted.before(cut, evidence.chronicle.leaders.get(cut.former_epoch or 0))
            if begun < cut.committed_end:
                yield _violation(cut, max(begun, cut.of_this_life), cut.committed_end)
    for inferred in evidence.inferred_cuts:
        yield _untold(inferred) if inferred.high_watermark is None else _inferred(inferred, inferred.high_watermark)
    brokers = {cut.broker for cut in evidence.chronicle.cuts} | {cut.broker for cut in evidence.inferred_cuts}
    for replica in evidence.current:
        if replica.snapshot_beyond is not None and replica.broker not in brokers:
            yield _once_longer(replica, replica.snapshot_beyond, evidence.copied)


def _violation(cut: Cut, start: int, end: int) -> Violation:
    known = () if cut.known is None else (Exhibit(span=cut.known.span, role="the high watermark before it"),)
    return Violation(
        brokers=(cut.broker,),
        start_offset=start,
        end_offset=end,
        facts={
            "broker": cut.broker, "log_end_offset": cut.log_end_offset, "high_watermark": cut.high_watermark,
            "cut_to": cut.offset, "leader": cut.leader, "epoch": cut.epoch, "when": "",
            "from_to": from_to(cut.log_end_offset, cut.offset),
        },
        exhibits=(Exhibit(span=cut.moment.span, role="the cut"), *known),
    )


def _unknown_watermark(evidence: PartitionEvidence, cut: Cut) -> Iterator[Undecided]:
    """A cut of a broker before 1.0, which tells its high watermark nowhere, below what others had committed."""
    release = evidence.release_of(cut.broker, cut.moment)
    beyond = [c for c in evidence.committed_batches if c.end_offset > cut.offset and c.term < (cut.epoch or 0)]
    if beyond and release is not None and not release.at_least(1):
        last = max(beyond, key=lambda proof: proof.end_offset)
        why = (
            f"broker {cut.broker} truncated its log to {cut.offset}, and no line before 1.0 tells its high watermark:"
            f" records up to offset {last.end_offset} were committed, and nothing tells whether it held and knew them"
        )
        yield _open(cut, last.end_offset, why, f"broker {cut.broker}'s replication-offset-checkpoint as it was before the cut")


def _open(cut: Cut, end: int, reason: str, missing: str, *, blocking: bool = False) -> Undecided:
    return Undecided(
        reason=reason, missing=missing, brokers=(cut.broker,), start_offset=cut.offset, end_offset=end,
        blocking=blocking, exhibits=(Exhibit(span=cut.moment.span, role="the cut"),),
    )  # fmt: skip


def _once_longer(replica: Replica, snapshot: OffsetClaim, copied: str) -> Undecided:
    return Undecided(
        reason=f"it is not known why broker {replica.broker}'s log is shorter than it was. A producer snapshot of that log was made at "
        f"offset {snapshot.offset}, but its log end offset is {replica.log_end_offset} now. Either the broker truncated its log, or "
        f"it crashed{'' if copied in CRASHED else ', or its files were copied at two times'}",
        missing=f"broker {replica.broker}'s server.log up to the time of the copy" + ("" if copied else ", or audit again with --copied live, --copied stopped or --copied crashed"),
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=snapshot.offset,
        blocking=False,
        exhibits=(Exhibit(span=snapshot.span, role="the producer snapshot"),),
    )


def _inferred(cut: InferredCut, watermark: OffsetClaim) -> Violation:
    return Violation(
        brokers=cut.brokers,
        start_offset=cut.offset,
        end_offset=min(watermark.offset, cut.log_end_offset),
        severity=Severity.HIGH,
        confidence="likely" if cut.sound else "possible",
        facts={
            "broker": cut.broker, "log_end_offset": cut.log_end_offset, "high_watermark": watermark.offset,
            "cut_to": cut.offset, "leader": None, "epoch": None, "proof": cut.proof, "because": cut.because,
            "after": cut.after, "before": cut.before, "from_to": from_to(cut.log_end_offset, cut.offset),
            "when": f" No log tells of it. {sentences(cut.because)} It was truncated after {cut.after} and before {cut.before}.",
        },
        exhibits=(Exhibit(span=cut.span, role=cut.left), Exhibit(span=watermark.span, role="the high watermark on disk")),
    )


def _untold(cut: InferredCut) -> Undecided:
    return Undecided(
        reason=f"{cut.words}. {sentences(cut.because).removesuffix('.')}",
        missing=cut.told_by,
        brokers=cut.brokers,
        start_offset=cut.offset,
        end_offset=cut.log_end_offset,
        blocking=False,
        exhibits=(Exhibit(span=cut.span, role=cut.left),),
    )
