"""TRUNC004: the epoch protocol demands a cut that has not happened."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, EpochEntry, OffsetCheckpoint
from rules.evidence import PartitionEvidence, Replica
from rules.evidence.absent_segments import ends_unread
from rules.evidence.deleted_records import first_undeleted
from rules.evidence.electable import would_follow
from rules.evidence.follower_rule import knows_no_epoch
from rules.finding import Bearing, Exhibit, RecordsMeant, Severity, Undecided, Violation, capital, offsets_told
from rules.protocol.truncation import Exchange, Truncation, truncate_on_fetch
from rules.rule import rule


@rule(
    id="TRUNC004",
    severity=Severity.CRITICAL,
    needs=(BatchHeader, EpochEntry, OffsetCheckpoint),
    law="TruncationJustified",
    implied_by=("EPOCH002", "EPOCH003", "EPOCH004", "SEG006", "LEAD001"),
    message="Broker {follower} will truncate its log to offset {cut_to} when it follows broker {leader}. {meaning:.} "
    "{answer:.}",
    order="of epochs",
    bearing=Bearing(
        owes_a_cut=True,
        records=RecordsMeant(held_by="follower"),
        calls_for="Copy these records before the replica starts. It removes them when it starts as a follower.",
    ),
)
def truncation_owed(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """The epoch protocol demands a cut that has not happened yet.

    The replica with the newest epoch, then the longest log, is taken for the leader, as the protocol would have it.
    While nobody leads and that one is not in the ISR, a member of the ISR is taken. Its log has to be as its broker
    told it since.

    Proves
    ------
    When the replica returns as a follower, its records from the named offset on are removed. Above its high
    watermark that is the protocol at work and information only. Below it, or below what logs tell of records of
    their epochs, committed records are destroyed. This may be their last copy. Where the leader holds the same
    records the cut only costs a copy: low severity. What leaders had deleted is no part of them.

    Undecided when
    --------------
    One of the two knows no epoch: an old format, a lost leader-epoch-checkpoint, an empty log that would lead. Or the
    follower asks no leader, by its versions. The cut would be at the high watermark. A segment could not be read.

    Upheld
    ------
    broker 1* 00011|1
    broker 2  00011|

    Violated
    --------
    broker 1* 000222|2
    broker 2  0000011|
    """
    for follower, leader in would_follow(evidence):
        if not (follower.end_known and leader.end_known):
            reason, missing = ends_unread(follower, leader)
            yield Undecided(reason=reason, missing=missing, brokers=(follower.broker,), blocking=False)
        elif follower.log_end_offset <= follower.log_start_offset:
            continue  # an empty log has nothing to cut
        elif (ignorant := knows_no_epoch(evidence, follower, leader)) is not None:
            yield _by_watermark(ignorant, follower, leader)
        else:
            owed = truncate_on_fetch(follower.at(follower.log_end_offset), leader.at(leader.log_end_offset))
            begun = first_undeleted(evidence, owed.offset, follower.log_end_offset, follower)
            if owed.cuts and begun < follower.log_end_offset:
                yield _violation(evidence, follower, leader, owed, begun)


def _by_watermark(ignorant: Replica, follower: Replica, leader: Replica) -> Undecided:
    """No epoch decides where one of the two knows none: what does instead, and what would tell whether it is right."""
    whose, then, some = f"broker {ignorant.broker}", "", ""
    if ignorant.log_end_offset <= ignorant.log_start_offset:
        cause, missing = f"{whose}'s log, which would lead, is empty", f"{whose}'s disk as it was"
    elif ignorant.last_epoch < 0:
        cause = f"{whose}'s records carry no leader epochs (message format 0 or 1)"
        missing = "request logs (level DEBUG) of all brokers that led, with answers to producers or consumers. They tell what was committed and must stay"
    else:
        file, then = f"{whose}'s leader-epoch-checkpoint", f"If that is so on {whose} too"
        some, missing = " If the file there has entries for these records, leader epochs may decide instead.", f"{file}, copied again together with its log"
        cause = f"in this dump, there is no leader-epoch-checkpoint of {whose}" if ignorant.epoch_file.state == "missing" else f"in this dump, {file} has no entry for any record in its log"
    mark, end, kept, wrong = follower.high_watermark, follower.log_end_offset, "", "removes too much or too little"
    who, other, where = f"broker {follower.broker}", f"broker {leader.broker}", "" if mark is None else f" {mark.offset}"
    if mark is not None and mark.offset >= end:
        kept, wrong = f" Its log end offset is {end}, so it then removes nothing.", f"keeps records that {other} lacks and that should go"
    cuts = f"{who} will truncate to its high watermark{where} when it follows {other}"
    first = f"{cause}. {then}, {cuts}" if then else f"{cuts}. {capital(cause)}"
    return Undecided(reason=f"{first}.{kept}{some} Whether {who} then {wrong} is not known", missing=missing, brokers=(follower.broker,), blocking=False)


def _violation(evidence: PartitionEvidence, follower: Replica, leader: Replica, owed: Truncation, begun: int) -> Violation:
    watermark = follower.high_watermark
    on_disk = watermark.offset if watermark else follower.log_start_offset
    committed = min(max(on_disk, evidence.committed_by_proof(follower)), follower.log_end_offset)
    severity, meaning = _weigh(evidence, follower, leader, begun, committed)
    exchange = owed.exchanges[0]
    return Violation(
        brokers=(follower.broker,),
        start_offset=begun,
        end_offset=follower.log_end_offset,
        severity=severity,
        facts={
            "follower": follower.broker, "leader": leader.broker, "cut_to": owed.offset,
            "asked_epoch": exchange.asked_epoch, "asked_offset": exchange.asked_offset,
            "answered_epoch": exchange.answered_epoch, "answered_offset": exchange.answered_offset,
            "exchanges": len(owed.exchanges), "answer": _answer(leader.broker, exchange),
            "committed_end": committed, "meaning": meaning,
        },
        exhibits=tuple(_exhibits(follower, owed.offset)),
    )


def _answer(leader: int, exchange: Exchange) -> str:
    """What the leader says first of the epoch that it is asked for."""
    asked, answered, offset = exchange.asked_epoch, exchange.answered_epoch, exchange.answered_offset
    if answered < 0:
        return f"broker {leader} has neither epoch {asked} nor an older one"
    has = f"broker {leader} will" if answered == asked else f"broker {leader} has no epoch {asked}, and will"
    return f"{has} answer that epoch {answered} ends at {offset}"


def _weigh(
    evidence: PartitionEvidence, follower: Replica, leader: Replica, offset: int, committed: int
) -> tuple[Severity, str]:
    if offset >= committed:
        led = f"; broker {follower.broker} may have led last, and nothing here tells what it committed then"
        return Severity.INFO, f"this removes no record that is known to be committed{led * (follower in evidence.perhaps_led_since)}"
    apart = (
        d.start_offset < committed and offset < d.end_offset
        for d in evidence.differences
        if (d.left is follower and d.right is leader) or (d.left is leader and d.right is follower)
    )
    if leader.holds(offset, committed) and not any(apart):
        return Severity.LOW, "the leader holds the same records and will send them again"
    return Severity.CRITICAL, f"it then loses committed records at {offsets_told(offset, committed)}"


def _exhibits(follower: Replica, offset: int) -> Iterator[Exhibit]:
    first = next((run.first for run in follower.log.epochs if run.end_offset > offset), None)
    if first is not None:
        yield Exhibit(span=first, role="the first batch of the epoch in which the cut lies")
    if follower.high_watermark:
        yield Exhibit(span=follower.high_watermark.span, role="the high watermark that the replica knew")
