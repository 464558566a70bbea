"""TXN004: a producer's sequences leave some out, or come a second time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers.tables import BatchHeader
from rules.evidence import PartitionEvidence
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.replicas.sequences import SequenceBreak, merged, remembered, sequence_breaks
from rules.rule import rule

EXPIRY: Final = ("producer.id.expiration.ms", "transactional.id.expiration.ms")
"""Settings by which leaders forget producers; before 3.4 it was the second."""
DEFAULT_EXPIRY_MS: Final = 86_400_000
SHOWN: Final = 4
_SAYS: Final = {
    "gap": "records of {who} are missing between two batches that lie side by side",
    "again": "records of {who} stand in the log twice",
}
Found = tuple[tuple[int, ...], SequenceBreak]


@rule(
    id="TXN004",
    severity=Severity.MEDIUM,
    needs=(BatchHeader,),
    law="idempotent producers",
    message="On {brokers:+broker}, {says}. {first:.}",
    implied_by=("LEAD001", "TRUNC001", "SEG004", "SEG006"),
)
def producer_sequence_gap(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A producer's sequences have a gap, or come a second time.

    An idempotent producer numbers its records in each partition. A leader that knows the producer takes only the
    batch whose first number is next. So in one log, the batches of one producer id and epoch follow on. A higher
    producer epoch begins at 0, and 0 follows 2147483647.

    Lawful are producers without an id, gaps that the log cleaner made, and what stood before the log's start.

    Proves
    ------
    A gap: the leader had taken batches which its log no longer holds, or its log was changed since. A number that
    comes again: the same records were written twice, so that nothing reads them exactly once.

    Undecided when
    --------------
    A leader forgets a producer after `producer.id.expiration.ms`, a day by default. Then it takes any number. It goes
    by the time in the producer's last batch, which the producer itself may have written. The gap is open unless
    brokers' times show that less time had passed. Open too is a producer that begins at 0 again in its epoch: clients
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
    if evidence.compacted:
        return
    held = {replica.broker: replica for replica in evidence.current}
    found = [(replica.broker, each) for replica in evidence.current for each in sequence_breaks(replica)]
    if not found:
        return
    if evidence.level == "quick":
        yield _unverified(found[0][1])
        return
    expiry = _expiry(evidence)
    sure: dict[str, list[Found]] = {}
    for brokers, each in merged(found):
        known = each.kind == "again" or any(remembered(held[broker], each.step, expiry) for broker in brokers)
        sure.setdefault(each.kind if known and each.kind != "anew" else "open", []).append((brokers, each))
    for kind, says in _SAYS.items():
        if kind in sure:
            yield _violation(kind, says, sure[kind])
    if "open" in sure:
        yield _open(sure["open"])


def _expiry(evidence: PartitionEvidence) -> int:
    told = (s.value for s in evidence.settings.statements if s.name in EXPIRY and s.value is not None)
    return min((int(value) for value in told if value.isdecimal()), default=DEFAULT_EXPIRY_MS)


def _violation(kind: str, says: str, found: list[Found]) -> Violation:
    producers = {(each.producer_id, each.producer_epoch) for _, each in found}
    first = found[0][1]
    who = f"producer {first.producer_id}" if len(producers) == 1 else f"{len(producers)} producers"
    return Violation(
        brokers=tuple(sorted({broker for brokers, _ in found for broker in brokers})),
        start_offset=min(each.step.end_before for _, each in found),
        end_offset=max(each.step.offset for _, each in found) + 1,
        confidence="likely",
        facts={
            "says": says.format(who=who),
            "first": first.words,
            "producers": len(producers),
            "breaks": len(found),
            "sequences": sum(each.missing for _, each in found),
            "subject": kind,
        },
        exhibits=tuple(_exhibits([each for _, each in found[:SHOWN]])),
    )


def _exhibits(found: list[SequenceBreak]) -> Iterator[Exhibit]:
    for each in found:
        if each.step.before is not None:
            yield Exhibit(span=each.step.before, role=f"producer {each.producer_id}'s batch before")
        yield Exhibit(span=each.step.span, role=f"producer {each.producer_id}'s next batch")


def _open(found: list[Found]) -> Undecided:
    others = f", and {len(found) - 1} more do the like" if len(found) > 1 else ""
    return Undecided(
        reason=f"{found[0][1].words}{others}; a leader that had forgotten the producer takes that",
        missing="brokers' times near those batches (message.timestamp.type=LogAppendTime), or the producer's own log",
        brokers=found[0][0],
        start_offset=min(each.step.end_before for _, each in found),
        end_offset=max(each.step.offset for _, each in found) + 1,
        blocking=False,
        exhibits=tuple(_exhibits([each for _, each in found[:SHOWN]])),
    )


def _unverified(found: SequenceBreak) -> Undecided:
    return Undecided(
        reason=f"{found.words}, by headers whose checksums were not recomputed",
        missing="an audit at level full",
        blocking=False,
        asked_at_level="full",
    )
