"""SEG008: the log ends below its recovery point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import OffsetClaim, PartitionEvidence, Replica, same_topic
from rules.evidence.absent_segments import perhaps_absent
from rules.finding import Exhibit, Severity, Undecided, Violation, offsets_told
from rules.rule import rule
from rules.words import numbered


@rule(
    id="SEG008",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="Broker {broker} saved recovery point {end_offset}: its log was flushed to disk up to there. But its log end offset is "
    "{start_offset} now. {meaning:.} {elsewhere:.}",
    implied_by=("SEG001", "SEG002", "SEG003"),
)
def recovery_point_beyond_log_end(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The log ends below the offset up to which it was flushed.

    The recovery point is written after a flush, and at once after a truncation. A cut inside a batch can leave it less
    than a batch above the log end; nothing else on an untouched disk can.

    Proves
    ------
    Data that the disk had promised to keep is gone from this replica.

    Undecided when
    --------------
    The files were copied while the broker ran, so that checkpoint and log may be of different moments: low severity.
    Where nothing says that they were (`--copied`), and no log here reaches the recovery point, that is a question. So
    it is where the log ends at a producer snapshot: the next segment may not have been copied.

    Upheld
    ------
    broker 1 0000| ; recovery 3
    broker 2 0000|

    Violated
    --------
    broker 1 0000| ; recovery 9
    broker 2 000000000|
    """
    for replica in evidence.current:
        point = replica.recovery_point
        if point is None or point.offset <= replica.log_end_offset or not replica.end_known:
            continue
        doubtful = evidence.copied_live or (replica.may_be_live and not evidence.copied)
        peers = [r for r in evidence.current if r is not replica and same_topic(r, replica)]
        untold = evidence.copied_live and not evidence.copied
        absent = perhaps_absent(replica, evidence)
        if untold and peers and all(peer.log_end_offset < point.offset for peer in peers):
            yield _undecided(replica, point, "no log here reaches it", "the option --copied live, stopped or crashed")
            continue
        if absent is not None:
            why = f"its log end offset is {replica.log_end_offset}. A producer snapshot is there: the next segment may not be copied"
            yield _undecided(replica, point, why, f"{absent}, if the broker has it")
            continue
        yield Violation(
            brokers=(replica.broker,),
            start_offset=replica.log_end_offset,
            end_offset=point.offset,
            severity=Severity.LOW if doubtful else Severity.HIGH,
            confidence="possible" if doubtful else "certain",
            facts={
                "broker": replica.broker,
                "meaning": _MEANING[doubtful],
                "longer": tuple(r.broker for r in peers if r.log_end_offset > replica.log_end_offset),
                "elsewhere": _elsewhere(peers, replica.log_end_offset, point.offset),
                "shut_down_cleanly": replica.clean_shutdown is not None,
            },
            exhibits=(Exhibit(span=point.span, role="the recovery point"),),
        )


_MEANING: Final = (
    "so flushed records are gone from its disk",
    "either flushed records are gone from its disk, or its files were copied while it ran",
)


def _elsewhere(peers: Sequence[Replica], start: int, end: int) -> str:
    """Who has records at the offsets that it lacks; one whose log goes on there may have holes or damage in it."""
    whole = [peer.broker for peer in peers if peer.holds(start, end)]
    part = [peer for peer in peers if peer.log_end_offset > start and peer.broker not in whole]
    if not whole and not part:
        return "no other log here has a higher log end offset"
    has = [f"{numbered('broker', whole, 'has')} records at {offsets_told(start, end)}"] if whole else []
    ends = [f"broker {peer.broker}'s log end offset is {peer.log_end_offset}" for peer in part]
    return "; ".join([*has, *ends])


def _undecided(replica: Replica, point: OffsetClaim, why: str, missing: str) -> Undecided:
    return Undecided(
        reason=f"broker {replica.broker} had flushed its log up to {point.offset}, and {why}",
        missing=missing,
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=point.offset,
        exhibits=(Exhibit(span=point.span, role="the recovery point"),),
    )
