"""Cuts by the high watermark, and what KIP-279 would have made of them where the logs still carry their epochs."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rules.evidence import PartitionEvidence
from rules.history.log_cuts import BY_HIGH_WATERMARK, Cut
from rules.history.statements import LogCut
from rules.protocol import replica_log as protocol
from rules.protocol.epochs import EpochChain, assign
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import Truncation, truncate_by_epoch_end
from rules.replicas.replica import Replica


class CutByHighWatermark(Struct, frozen=True, kw_only=True):
    """A cut that the high watermark decided, beside the one that epochs called for."""

    cut: Cut
    decision: LogCut
    leader: Replica | None
    """Whom it followed; null where the log end before the cut, or one of the two logs, is not here."""
    due: Truncation | None
    """Null where nothing was removed, or no epoch calls for any cut."""


def cuts_by_high_watermark(evidence: PartitionEvidence) -> Iterator[CutByHighWatermark]:
    """Every one of which a broker's log tells the decision, in the order of the cuts."""
    held = {replica.broker: replica for replica in evidence.current}
    for cut in evidence.chronicle.cuts:
        decision = evidence.chronicle.decision(cut)
        if decision is None or decision.kind not in BY_HIGH_WATERMARK:
            continue
        leader_id = decision.leader if decision.leader is not None else cut.leader
        follower, leader, due = held.get(cut.broker), held.get(-1 if leader_id is None else leader_id), None
        whole = follower is not None and leader is not None and follower.end_kept and leader.end_kept
        end = None if cut.former_epoch is None else cut.log_end_offset
        if end is None or follower is None or leader is None or not whole:
            leader = None
        elif cut.offset < end:
            due = due_cut(follower, leader, cut, end)
            if decision.kind == "epoch-answer-unknown" and _is_answered(due):
                # It asked, and its leader knew no such epoch: these are not the logs that were there then.
                leader = due = None
        yield CutByHighWatermark(cut=cut, decision=decision, leader=leader, due=due)


def _is_answered(due: Truncation | None) -> bool:
    return due is not None and bool(due.exchanges) and due.exchanges[-1].answered_epoch >= 0


def due_cut(follower: Replica, leader: Replica, cut: Cut, end: int) -> Truncation | None:
    """The cut that both logs call for; the least that stays where the epochs of the cut records are not certain."""
    kept = follower.at(cut.offset)
    found = []
    for chain in _chains(kept.epochs, cut):
        asking = replace(kept, epochs=chain, log_end_offset=Offset(end))
        found.append(truncate_by_epoch_end(asking, _as_it_stood(leader, cut)))
    return min(found, key=lambda due: due.offset, default=None)


def _chains(kept: EpochChain, cut: Cut) -> list[EpochChain]:
    """The records that went were of the last epoch that is left, or of a later one up to the follower's former role."""
    chains = [kept] if kept else []
    former = -1 if cut.former_epoch is None else cut.former_epoch
    if former >= 0 and (not kept or former > kept[-1].epoch):
        chains.append(assign(kept, Epoch(former), Offset(cut.offset)))
    return chains


def _as_it_stood(leader: Replica, cut: Cut) -> protocol.ReplicaLog:
    """The leader without the epochs that came after the cut; its log end then was at least where the next one began."""
    state = leader.at(leader.log_end_offset)
    later = [entry for entry in state.epochs if cut.epoch is not None and entry.epoch > cut.epoch]
    return leader.at(later[0].start_offset) if later else state
