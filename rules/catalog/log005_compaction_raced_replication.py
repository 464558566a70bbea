"""LOG005: deletes or markers were compacted away before a replica copied them."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, OffsetCheckpoint, RecordRow
from rules.evidence import KeysApart, PartitionEvidence
from rules.evidence.lost_ends import LostEnd, lost_ends
from rules.finding import COPY_AGAIN, Bearing, Exhibit, Severity, Undecided, Violation, offsets_told
from rules.rule import rule
from rules.words import any_of, it_or_them, numbered


@rule(
    id="LOG005",
    severity=Severity.HIGH,
    needs=(BatchHeader, RecordRow, OffsetCheckpoint),
    law="StateMachineSafety",
    message="{says:.} {judgement:.} Whenever {leads} leads, {then}.",
    implied_by=("LOG001",),
    bearing=Bearing(
        calls_for=f"Keep this broker from leading. {COPY_AGAIN}",
        where_open="Compare these keys with their source to find the right side. Until then elect and delete nothing.",
    ),
)
def compaction_raced_replication(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """Deletes or markers were compacted away before a replica copied them.

    Compaction keeps the last record of every key. A delete is such a record; the cleaner drops it once
    `delete.retention.ms` has passed. A replica that was away for longer never receives the delete, and keeps the older
    value. The marker that ends a transaction is dropped in the same way, once all records of the transaction are gone.
    A replica that holds such records and missed the marker keeps the transaction open.

    Lawful is a transaction that has not ended. No cleaner goes on beyond it, on any replica.

    Proves
    ------
    Of deletes: the deleted keys live on at this replica, and nothing will remove them. Readers get them as soon as it
    leads. No metric shows it: the replica is in sync. The finding is certain where a delete still stands in a segment
    that waits for its removal or on another replica. It is likely where a delete may have stood in a hole of both logs. It is
    possible where the others cut their logs behind these records: a later record of a key may have stood there. It is
    possible too where as many replicas kept the keys as lack them, or more: those may have lost them.

    Of transactions: one that is open at this replica had ended, for a cleaner went on beyond it. Nothing will end it
    here. As soon as this replica leads, its last stable offset stays there, and its cleaner does too.

    Undecided when
    --------------
    A log cannot be read to every key, or no high watermark tells how far records are committed. Or a log has no last
    record of any key in common with the others: it may be another partition's (LOG007). Of transactions: no
    cleaner's checkpoint tells how far it went, or the replica's log ends before that.

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
    yield from (_violation(evidence, gap) for gap in evidence.keys_apart if gap.outlived)
    for end in lost_ends(evidence):
        yield _never_ends(end, live=evidence.copied_live) if end.proved else _open(end)


def _violation(evidence: PartitionEvidence, gap: KeysApart) -> Violation:
    where = offsets_told(gap.start_offset, gap.end_offset)
    either = gap.confidence == "possible" and gap.cut_off is None
    led = sorted({*gap.holders}.intersection(evidence.chronicle.leaders.values()))
    return Violation(
        brokers=tuple(sorted({*gap.holders, *gap.lacking})) if either else gap.holders,
        start_offset=gap.start_offset,
        end_offset=gap.end_offset,
        confidence=gap.confidence,
        facts={
            "says": f"{numbered('broker', gap.holders, 'has')} values of {gap.words} at {where};"
            f" {numbered('broker', gap.lacking, 'has')} none for {gap.those}",
            "what": gap.words,
            "keys": gap.keys,
            "without": gap.lacking,
            "leads": any_of("broker", gap.holders),
            "judgement": _judgement(gap),
            "then": "consumers read these values" + f", and {numbered('broker', led, 'has')} led" * bool(led),
        },
        exhibits=tuple(Exhibit(span=span, role=f"broker {broker}'s first such record") for broker, span in gap.spans),
    )


def _judgement(gap: KeysApart) -> str:
    if gap.remains == "dead":
        return f"tombstones deleted {gap.those}, so the values are outdated"
    raced = "the records that delete them were compacted away before they were copied"
    if gap.cut_off is None and gap.confidence == "possible":
        return f"either {raced}, or {numbered('broker', gap.lacking)} lost the last record of {it_or_them(gap.keys)}"
    cut_off = gap.cut_off and f"a later record of each key was cut off at {offsets_told(*gap.cut_off)}"
    return f"either {raced}, or {cut_off}" if cut_off else raced


def _never_ends(end: LostEnd, *, live: bool) -> Violation:
    start, others = end.begun.offset, f", and {end.count - 1} more," if end.count > 1 else ""
    return Violation(
        brokers=(end.broker,),
        start_offset=start,
        end_offset=start + 1,
        confidence="possible" if live else "likely",
        facts={
            "says": f"broker {end.broker} keeps producer {end.producer_id}'s transaction{others} open from offset"
            f" {start} on, and lacks the marker that ended it",
            "judgement": f"no cleaner goes on beyond an open transaction, and on"
            f" {numbered('broker', end.passed.brokers)} it reached offset {end.passed.cleaned}",
            "then": f"consumers with isolation.level=read_committed stop at offset {start}, its last stable offset",
            "leads": f"broker {end.broker}",
            "producer": end.producer_id,
            "transactions": end.count,
            "cleaned": end.passed.cleaned,
            "without": end.passed.brokers,
            "last_stable_offset": start,
            "subject": f"{end.producer_id} never ends",
        },
        exhibits=(Exhibit(span=end.begun.span, role="the transaction's first batch"),),
    )


def _open(end: LostEnd) -> Undecided:
    who, passed = f"broker {end.broker}", numbered("broker", end.passed.brokers)
    if end.passed.cleaned is None:
        why, missing = f"{numbered('broker', end.passed.brokers, 'lacks')} its records", f"the cleaner-offset-checkpoint of {passed}"
    elif end.may_follow:
        why = f"the cleaner of {passed} went beyond it, and beyond the end of {who}'s log"
        missing = f"a later copy of {who}'s log"
    else:
        why = f"the cleaner of {passed} went beyond it"
        missing = f"the replication-offset-checkpoint of {who}" if end.verified else "audit again at level full"
    return Undecided(
        reason=f"{who} may lack the marker of producer {end.producer_id}'s transaction, open from offset"
        f" {end.begun.offset} on: {why}",
        missing=missing,
        brokers=(end.broker,),
        start_offset=end.begun.offset,
        asked_at_level=None if end.verified else "full",
        exhibits=(Exhibit(span=end.begun.span, role="the transaction's first batch"),),
    )
