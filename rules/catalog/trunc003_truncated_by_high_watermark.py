"""TRUNC003: a follower cut by its high watermark what the leader's epochs would have let it keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from parsers.tables import BatchHeader, BrokerEvent, EpochEntry
from rules.evidence import Cut, Moment, PartitionEvidence, Replica
from rules.finding import Exhibit, Severity, Undecided, Violation
from rules.protocol import replica as protocol
from rules.protocol.epochs import EpochChain, assign
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import Truncation, truncate_by_epoch_end
from rules.rule import rule

BY_HIGH_WATERMARK = ("cut-by-high-watermark", "epoch-answer-unknown")
DECISIONS = (*BY_HIGH_WATERMARK, "cut-by-epoch-answer", "epoch-answer-kept")


@rule(
    id="TRUNC003",
    severity=Severity.HIGH,
    needs=(BrokerEvent, BatchHeader, EpochEntry),
    law="TruncationJustified",
    message="broker {broker} cut records [{start_offset}, {end_offset}) by its high watermark; broker {leader} would have"
    " answered that epoch {asked_epoch} ends at {answered_offset}, and the records would have stayed",
    implied_by=("CONF001",),
)
def truncated_by_high_watermark(evidence: PartitionEvidence) -> Iterator[Violation | Undecided]:
    """A follower cut by its high watermark what epochs would have kept.

    A high watermark lags behind what is committed by one round of fetching. A cut that removed nothing, and the first
    contact of an empty log (`due to local high watermark 0`), are lawful and frequent. What lies below the leader's log
    start by now was deleted there too: nobody misses it.

    Proves
    ------
    Records that the leader held too were removed from this replica; if it leads before it has them again, they are lost.

    Undecided when
    --------------
    The log does not tell where it ended before the cut, or the epochs of both logs at that time cannot be told.

    Upheld
    ------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 loads 2 at 4
    t3 follows 2 epoch 0 at 4 hw 4 from 1
    t4 cuts 2 to 4 by hw
    t5 keeps 2 at 4

    Violated
    --------
    broker 1 0000|
    broker 2 0000|
    t1 leads 1 epoch 0 at 0 hw 0
    t2 loads 2 at 4
    t3 follows 2 epoch 0 at 4 hw 3 from 1
    t4 cuts 2 to 3 by hw
    t5 truncates 2 to 3
    """
    held = {replica.broker: replica for replica in evidence.current}
    for cut in evidence.chronicle.cuts:
        decision = _decision(evidence, cut)
        if decision is None or decision.kind not in BY_HIGH_WATERMARK:
            continue
        leader_id = decision.leader if decision.leader is not None else cut.leader
        follower, leader = held.get(cut.broker), held.get(-1 if leader_id is None else leader_id)
        whole = follower is not None and leader is not None and follower.end_kept and leader.end_kept
        if cut.log_end_offset is None or follower is None or leader is None or not whole:
            reason = f"broker {cut.broker} cut its log by its high watermark"
            missing = "its log end before the cut, and both logs to their ends with their epochs"
            yield Undecided(reason=reason, missing=missing, brokers=(cut.broker,), blocking=False)
        elif cut.offset < cut.log_end_offset:
            due = _due(follower, leader, cut, cut.log_end_offset)
            first = max(cut.offset, leader.log_start_offset)
            if due is not None and due.offset > first:
                yield _violation(cut, decision, leader, due, first)


def _decision(evidence: PartitionEvidence, cut: Cut) -> Moment | None:
    """The last line before the cut that says what decided it."""
    own = [m for m in evidence.moments if m.clock == cut.moment.clock]
    for moment in reversed(own[: own.index(cut.moment)]):
        if moment.kind in DECISIONS:
            return moment
        if moment.kind in ("leader-starts", "follower-starts", "log-loaded", "truncated"):
            return None
    return None


def _due(follower: Replica, leader: Replica, cut: Cut, end: int) -> Truncation | None:
    """What KIP-279 makes of both logs; the least that stays where the epochs of the cut records are not certain."""
    kept = follower.at(cut.offset)
    found = []
    for chain in _chains(kept.epochs, cut):
        asking = replace(kept, epochs=chain, log_end_offset=Offset(end))
        found.append(truncate_by_epoch_end(asking, _as_it_stood(leader, cut)))
    return min(found, key=lambda due: due.offset, default=None)


def _chains(kept: EpochChain, cut: Cut) -> list[EpochChain]:
    """The records that went were of the last epoch that is left, or of a later one up to the follower's former role's."""
    chains = [kept] if kept else []
    former = cut.former_epoch
    if former is not None and former >= 0 and (not kept or former > kept[-1].epoch):
        chains.append(assign(kept, Epoch(former), Offset(cut.offset)))
    return chains


def _as_it_stood(leader: Replica, cut: Cut) -> protocol.Replica:
    """The leader without the epochs that came after the cut; its log end then was at least where the next one began."""
    state = leader.at(leader.log_end_offset)
    later = [entry for entry in state.epochs if cut.epoch is not None and entry.epoch > cut.epoch]
    return leader.at(later[0].start_offset) if later else state


def _violation(cut: Cut, decision: Moment, leader: Replica, due: Truncation, first: int) -> Violation:
    exchange = due.exchanges[-1] if due.exchanges else None
    return Violation(
        brokers=(cut.broker,),
        start_offset=first,
        end_offset=due.offset,
        facts={
            "broker": cut.broker,
            "leader": leader.broker,
            "high_watermark": cut.high_watermark,
            "asked_epoch": exchange.asked_epoch if exchange else None,
            "answered_offset": exchange.answered_offset if exchange else None,
        },
        exhibits=(
            Exhibit(span=cut.moment.span, role="the cut"),
            Exhibit(span=decision.span, role="what decided it"),
        ),
    )
