"""TRUNC002: an epoch answer left in place what it should have cut."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.tables import BatchHeader, BrokerEvent, EpochRequest
from rules.evidence import Inquiry, PartitionEvidence, Replica
from rules.evidence.written_in import written_in
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol.truncation import Truncation, truncate_by_epoch_end
from rules.rule import rule


@rule(
    id="TRUNC002",
    severity=Severity.CRITICAL,
    needs=(EpochRequest, BrokerEvent, BatchHeader),
    law="TruncationJustified",
    message="Broker {follower} kept its records{written} at {offsets} when it followed broker {leader}, which does not "
    "hold them. So the two logs differ there. Broker {follower} had asked where epoch {asked_epoch} ends. Broker {leader} "
    "has no such epoch and answered {answered_offset}, where {named}. The answer named no epoch, so broker {follower} took it "
    "for the end of epoch {asked_epoch}. {newer:.}",
    implied_by=("BUG001",),
)
def truncated_to_wrong_offset(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A follower cut to another offset than the epochs of both logs call for.

    Answers of OffsetsForLeaderEpoch version 0 do not say whose epoch ends at the offset they name (KIP-279). A
    leader that never knew the asked epoch answers with the start of a newer one.

    Proves
    ------
    Records that the leader does not hold stayed in the follower's log, and it went on from there.

    Undecided when
    --------------
    The follower's epochs at the time of the question cannot be told from its disk. Or the leader's log is no longer
    the one that it answered of: it begins no newer epoch at that offset.

    Upheld
    ------
    broker 1 0000022222|
    broker 2 0000022222|
    t1 asks 2 of 1 epoch 0 answer 5
    t2 keeps 2 at 5

    Violated
    --------
    broker 1 00000000022222|
    broker 2 00000111122222|
    t1 asks 2 of 1 epoch 1 answer 9
    t2 keeps 2 at 9
    """
    held = {replica.broker: replica for replica in evidence.current}
    for moment in evidence.moments:
        follower, leader = held.get(_id(moment.broker)), held.get(_id(moment.leader))
        if moment.kind != "epoch-asked" or moment.error not in (None, 0) or follower is None or leader is None:
            continue
        kept = moment.answer_offset
        if kept is None or kept < 0 or (moment.answered_epoch is not None and moment.answered_epoch >= 0):
            continue
        if not (follower.end_kept and leader.end_kept):
            yield Undecided(
                reason="a log does not end where its broker left it, so its epochs' ends are not known",
                missing="the whole logs of follower and leader",
                brokers=(follower.broker,),
                blocking=False,
            )
            continue
        due = _due(follower, leader, moment, kept)
        if due is None or due.offset >= kept:
            continue
        if not _still_answers(leader, moment, kept):
            yield Undecided(
                reason=f"broker {leader.broker}'s log on disk is not the one of which it answered {kept} for epoch"
                f" {moment.asked_epoch}",
                missing="its log as it was then",
                brokers=(follower.broker,),
                blocking=False,
                exhibits=(Exhibit(span=moment.span, role="the question and its answer"),),
            )
        else:
            yield _violation(moment, due, follower, min(kept, follower.log_end_offset))


def _id(broker: int | None) -> int:
    return -1 if broker is None else broker


def _still_answers(leader: Replica, asked: Inquiry, answer: int) -> bool:
    """Whether the leader would answer the same of the log that it has: where it begins the first epoch that is newer."""
    entries = leader.at(leader.log_end_offset).epochs
    newer = (entry.start_offset for entry in entries if entry.epoch > (asked.asked_epoch or 0))
    return next(newer, None) == answer


def _due(follower: Replica, leader: Replica, moment: Inquiry, kept: int) -> Truncation | None:
    """What KIP-279 makes of both logs as they stood: the follower up to where it went on."""
    asking = follower.at(kept)
    if not asking.epochs or asking.epochs[-1].epoch != moment.asked_epoch:
        return None
    return truncate_by_epoch_end(asking, leader.at(leader.log_end_offset))


def _violation(moment: Inquiry, due: Truncation, follower: Replica, kept: int) -> Violation:
    exchange = due.exchanges[0]
    older = exchange.answered_epoch
    return Violation(
        brokers=(_id(moment.broker),),
        start_offset=due.offset,
        end_offset=kept,
        facts={
            "follower": moment.broker,
            "leader": moment.leader,
            "asked_epoch": moment.asked_epoch,
            "answered_offset": moment.answer_offset,
            "answered_epoch": exchange.answered_epoch,
            "named": "a newer epoch begins" if older < 0 else f"epoch {older} ends in its log",
            "newer": _newer(due, follower.broker),
            "written": written_in(follower, due.offset, kept),
        },
        exhibits=(Exhibit(span=moment.span, role="the question and its answer"),),
    )


def _newer(due: Truncation, follower: int) -> str:
    """What an answer that names its epoch would have brought; why, where one answer would have been enough."""
    cut, older = f"broker {follower} would have truncated its log to {due.offset}", due.exchanges[0].answered_epoch
    if len(due.exchanges) > 1 or older < 0:
        return f"with releases that name the epoch, {cut}"
    return f"in newer releases, the answer names epoch {older}; in broker {follower}'s log, epoch {older} ends at {due.offset}, so {cut}"
