"""SEG002: unreadable bytes with valid batches behind them."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, Refusal
from rules.evidence import UNOPENED, PartitionEvidence, UnreadBytes
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation
from rules.loss.held_by_none import whole_beside
from rules.rule import rule


@rule(
    id="SEG002",
    severity=Severity.HIGH,
    needs=(BatchHeader, Refusal),
    law="TypeOk",
    message="Broker {broker} has {bytes:unreadable byte} inside its log, {where}.",
    bearing=Bearing(calls_for=COPY_AGAIN, copies_again=True),
)
def damage_inside_log(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Unreadable bytes are followed by valid batches.

    Proves
    ------
    The log cannot be read through: Kafka stops at the damage, and after an unclean stop it would cut there and drop
    every later segment. The offsets between the batches around the damage are what it swallowed.

    Undecided when
    --------------
    Nothing valid follows in the whole log: then it is a torn tail (SEG003, which also speaks of segments that could not
    be opened). In a copy taken live a segment may be torn
    at its end, because the next one was begun before that was copied: low severity.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|_

    Violated
    --------
    broker 1 0#00|
    broker 2 0000|
    """
    for replica in evidence.current:
        for unread in replica.log.unread:
            if unread.next_offset is None or unread.kind in UNOPENED or _empty_space(unread):
                continue
            start = replica.log_start_offset if unread.expected_offset is None else unread.expected_offset
            end = max(unread.next_offset, start)
            moved = evidence.copied_live and unread.kind in ("torn_tail", "zero_tail")
            yield Violation(
                brokers=(replica.broker,),
                start_offset=start,
                end_offset=end,
                severity=Severity.LOW if moved else Severity.HIGH,
                confidence="possible" if moved else "certain",
                facts={
                    "broker": replica.broker,
                    "where": f"where offsets [{start}, {end}) should be" if start < end else f"at offset {start}",
                    "bytes": unread.span.end - unread.span.start,
                    "unread": unread.words,
                    "stretches": replica.log.unread_count,
                    "whole": whole_beside(evidence, replica, (start, end)),
                    "subject": str(unread.span.start),
                },
                exhibits=(Exhibit(span=unread.span, role="bytes that are no batch"),),
            )


def _empty_space(unread: UnreadBytes) -> bool:
    """Zeros behind which the next segment continues without a gap: space that was allocated and never used."""
    return unread.kind == "zero_tail" and unread.next_offset == unread.expected_offset
