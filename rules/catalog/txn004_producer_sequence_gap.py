"""TXN004: a producer's sequences leave some out or come a second time, or its epoch falls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence, SequenceBreak
from rules.evidence.forgotten_producers import AlikeBreaks, judged_breaks
from rules.finding import Confidence, Exhibit, Severity, Undecided, Violation
from rules.rule import rule

SHOWN: Final = 4
_SAYS: Final = {
    "gap": "records of {who} are missing between two batches that lie side by side",
    "again": "records of {who} are in the log twice",
    "fallen": "{who} wrote in an epoch that had been left for a higher one",
}


@rule(
    id="TXN004",
    severity=Severity.MEDIUM,
    needs=(BatchHeader,),
    law="idempotent producers",
    message="On {brokers:+broker}, {says}. {first:.}",
    implied_by=("LEAD001", "TRUNC001", "SEG004", "SEG006"),
)
def producer_sequence_gap(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A producer's sequences have a gap or come again, or its epoch falls.

    An idempotent producer numbers its records in each partition. A leader that knows the producer takes only the
    batch whose first number is next. So in one log, the batches of one producer id and epoch follow on. A higher
    producer epoch begins at 0, and 0 follows 2147483647. Producer epochs only rise: a leader refuses a lower one. Markers
    bear the epoch too. Where a coordinator fences a producer, its marker alone shows the higher one.

    Lawful are producers without an id, gaps that the log cleaner made, and what stood before the log's start.

    Proves
    ------
    A gap: the leader had taken batches which its log no longer holds, or its log was changed since. A number that
    comes again: the same records were written twice, so that nothing reads them exactly once. A lower epoch: a producer
    that had been fenced wrote on. By producers' own times alone that is possible, not likely. So it is where a marker
    alone shows the higher epoch, unless brokers are known to run 2.4 or later. Older ones forget fences as they restart.

    Undecided when
    --------------
    A leader forgets a producer after `producer.id.expiration.ms`, a day by default. Then it takes any number. It goes
    by the time in the producer's last batch, which the producer itself may have written. The gap is open unless
    brokers' times show that less time had passed. Where the batches' own times say so too, records may well be missing,
    and the verdict stays open. Open too is a producer that begins at 0 again in its epoch: clients
    before 2.5 did so when their leader had forgotten them. At level quick nothing vouches for the numbers.

    Upheld
    ------
    broker 1* 0{7:0}0{7:1}0{8:5}0{7:2}0{7.1:0}| ; pace 60, append-times
    broker 2  0{7:0}0{7:1}0{8:5}0{7:2}0{7.1:0}| ; pace 60, append-times

    Violated
    --------
    broker 1* 0{7:0}0{7:1}0{7:9}| ; pace 60, append-times
    broker 2  0{7:0}0{7:1}0{7:9}| ; pace 60, append-times
    """
    for alike in judged_breaks(evidence):
        if evidence.level == "quick":
            yield _unverified(alike.found[0][1])
            return
        yield _open(alike) if alike.sure is None else _violation(alike, alike.sure)


def _violation(alike: AlikeBreaks, confidence: Confidence) -> Violation:
    found = alike.found
    producers = {(each.producer_id, each.producer_epoch) for _, each in found}
    first = found[0][1]
    who = f"producer {first.producer_id}" if len(producers) == 1 else f"{len(producers)} producers"
    return Violation(
        brokers=tuple(sorted({broker for brokers, _ in found for broker in brokers})),
        start_offset=min(each.step.end_before for _, each in found),
        end_offset=max(each.step.offset for _, each in found) + 1,
        confidence=confidence,
        facts={
            "says": _SAYS[alike.kind].format(who=who),
            "first": first.words,
            "producers": len(producers),
            "breaks": len(found),
            "sequences": sum(each.missing for _, each in found),
            "subject": alike.kind,
        },
        exhibits=tuple(_exhibits([each for _, each in found[:SHOWN]])),
    )


def _exhibits(found: list[SequenceBreak]) -> Iterator[Exhibit]:
    for each in found:
        if each.step.before is not None:
            role = f"producer {each.producer_id}'s {'marker' if each.by_marker else 'batch'} before"
            yield Exhibit(span=each.step.before, role=role)
        yield Exhibit(span=each.step.span, role=f"producer {each.producer_id}'s next batch")


def _open(alike: AlikeBreaks) -> Undecided:
    found = alike.found
    others = f", and {len(found) - 1} more do the like" if len(found) > 1 else ""
    return Undecided(
        reason=f"{found[0][1].words}{others}; a leader that had forgotten the producer takes that",
        missing="brokers' times near those batches (message.timestamp.type=LogAppendTime), or the producer's own log",
        brokers=found[0][0],
        start_offset=min(each.step.end_before for _, each in found),
        end_offset=max(each.step.offset for _, each in found) + 1,
        blocking=alike.grave,
        exhibits=tuple(_exhibits([each for _, each in found[:SHOWN]])),
    )


def _unverified(found: SequenceBreak) -> Undecided:
    return Undecided(
        reason=f"{found.words}, by headers whose checksums were not recomputed",
        missing="audit again at level full",
        blocking=False,
        asked_at_level="full",
    )
