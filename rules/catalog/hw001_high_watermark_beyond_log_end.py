"""HW001: the high watermark on disk is above the log end."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint
from rules.evidence import OffsetClaim, PartitionEvidence, Replica, same_topic
from rules.evidence.absent_segments import perhaps_absent
from rules.finding import Exhibit, Severity, Undecided, Violation, capital, offsets_told
from rules.loss.written_up_to import (
    left_by_a_cut,
    perhaps_copied_before,
    perhaps_left_by_a_cut,
    shut_down_cleanly,
    wrong_alone,
)
from rules.rule import rule
from rules.words import numbered


@rule(
    id="HW001",
    severity=Severity.HIGH,
    needs=(BatchHeader, OffsetCheckpoint),
    law="TypeOk",
    message="Broker {broker} saved high watermark {end_offset}, but its log end offset is {start_offset}. {meaning:.}{held}",
    implied_by=("SEG008", "SEG003", "SEG002", "SEG001", "TRUNC001"),
)
def high_watermark_beyond_log_end(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The high watermark on disk is above the log end.

    The checkpoint is written every few seconds and at a clean shutdown, and a truncation does not rewrite it. After a
    crash it may therefore lawfully be ahead of the log for the last seconds of the broker's life.

    Proves
    ------
    Committed records are missing from this replica's tail. If it leads before it has copied them back, they are lost.

    Undecided when
    --------------
    The broker did not shut down cleanly: an unflushed tail is lost lawfully in a crash and copied back from another
    replica. Up to 2.3 a cut changed neither the high watermark nor its checkpoint until the leader answered again. In
    a copy taken live (`--copied live`) log and checkpoint are of different moments. Where nobody says whether brokers
    ran or had crashed, that is a question: after a crash the broker may lead without those records. Without the marker
    of a clean shutdown the log may end at a producer snapshot. Then the next segment may not have been copied, and that
    is a question too. All else is reported with low severity. It is medium where other replicas are at hand and none
    holds the records, or the checkpoint alone is wrong. It stays high where the tail had been flushed.

    Upheld
    ------
    broker 1 0000|0
    broker 2 0000|0

    Violated
    --------
    broker 1 0000 ; hw 6
    broker 2 000000|
    """
    for replica in evidence.current:
        claim = replica.high_watermark
        if claim is None or claim.offset <= replica.log_end_offset or not replica.end_known:
            continue
        holders = _holders(evidence, replica, claim.offset)
        absent = perhaps_absent(replica, evidence)
        if perhaps_copied_before(evidence, replica) and not (absent and holders):
            # A live copy takes the log a moment before its checkpoint; a crash takes what a new leader may then lack.
            why = f"its log end offset is {replica.log_end_offset}" if holders else "no log here reaches it"
            why += f". Either records are lost{' there' if holders else ''}, or the files were copied while brokers wrote"
            yield _undecided(replica, claim, why, "the option --copied live, stopped or crashed")
            continue
        if absent is not None:
            why = f"its log end offset is {replica.log_end_offset}. A producer snapshot is there: the next segment may not be"
            yield _undecided(replica, claim, f"{why} copied", f"{absent}, if the broker has it")
            continue
        alone = wrong_alone(evidence, replica)
        severity, meaning = _weigh(evidence, replica, holders, alone=alone)
        yield Violation(
            brokers=(replica.broker,),
            start_offset=replica.log_end_offset,
            end_offset=claim.offset,
            severity=severity,
            confidence="certain" if severity >= Severity.MEDIUM else "possible",
            facts={
                "broker": replica.broker,
                "holders": holders,
                "meaning": meaning,
                "held": "" if alone else _held(evidence, replica, claim.offset),
            },
            exhibits=(Exhibit(span=claim.span, role="the high watermark"),),
        )


def _undecided(replica: Replica, claim: OffsetClaim, why: str, missing: str) -> Undecided:
    return Undecided(
        reason=f"broker {replica.broker} saved high watermark {claim.offset}, and {why}",
        missing=missing,
        brokers=(replica.broker,),
        start_offset=replica.log_end_offset,
        end_offset=claim.offset,
        exhibits=(Exhibit(span=claim.span, role="the high watermark"),),
    )


def _holders(evidence: PartitionEvidence, replica: Replica, high_watermark: int) -> tuple[int, ...]:
    peers = (r for r in evidence.current if r is not replica and same_topic(r, replica))
    return tuple(r.broker for r in peers if r.log_end_offset >= high_watermark)


def _weigh(
    evidence: PartitionEvidence, replica: Replica, holders: tuple[int, ...], *, alone: bool
) -> tuple[Severity, str]:
    left = left_by_a_cut(evidence, replica)
    if left or perhaps_left_by_a_cut(evidence, replica):
        why = "its release leaves the high watermark where it was when it cuts the log (up to 2.3)"
        return Severity.LOW, why if left else f"either {why}, or the end of its log is lost"
    flushed = replica.recovery_point is not None and replica.recovery_point.offset > replica.log_end_offset
    if shut_down_cleanly(evidence, replica):
        return _since_its_stop(holders, alone=alone)
    if evidence.copied_live:
        return Severity.LOW, "either the end of its log was lost in a crash, or its files were copied while it ran"
    if flushed and (evidence.copied or not replica.may_be_live):
        return Severity.HIGH, "the end of its log was lost although it had been flushed"
    if holders or len(evidence.followers_of(replica)) == 0:
        return Severity.LOW, "either the unflushed end of its log was lost in a crash, or its files were copied while it ran"
    return Severity.MEDIUM, "the unflushed end of its log was lost in a crash, and no replica here holds it"


def _held(evidence: PartitionEvidence, replica: Replica, high_watermark: int) -> str:
    """Who holds all that the log lacks: one that only goes so far may have holes or damage in it."""
    peers = [r for r in evidence.current if r is not replica and same_topic(r, replica)]
    whole = [r.broker for r in peers if r.holds(replica.log_end_offset, high_watermark)]
    who = numbered("broker", whole, "holds" if whole else "in this dump holds")
    return f" {capital(who)} all of the missing records ({offsets_told(replica.log_end_offset, high_watermark)})."


def _since_its_stop(holders: tuple[int, ...], *, alone: bool) -> tuple[Severity, str]:
    """At a clean shutdown a broker writes the log end as its recovery point, and its high watermark beside it."""
    if alone:
        because = "by its recovery point the log ended there when the broker stopped, and nothing here goes further"
        return Severity.MEDIUM, f"the checkpoint alone is wrong: {because}"
    gone = "the end of its log went missing after it had shut down cleanly"
    return Severity.HIGH, gone if holders else f"{gone}, or the checkpoint alone is wrong"
