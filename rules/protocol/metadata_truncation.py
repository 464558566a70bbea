"""Truncation of the KRaft metadata log `__cluster_metadata`, which has snapshots and a rule of its own."""

from __future__ import annotations

from rules.protocol.epochs import EpochEnd, latest_epoch
from rules.protocol.leader import answer_epoch
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.replica import Replica, truncate_fully, truncate_to
from rules.protocol.truncation import Exchange, Truncation, conclude


def truncate_metadata_log(follower: Replica, leader: Replica, *, leader_snapshot: EpochEnd | None = None) -> Truncation:
    """Every Fetch is checked; a follower asked to cut below its high watermark refuses (fatal since 3.0.0)."""
    state, because = follower, ""
    exchanges: tuple[Exchange, ...] = ()
    while True:
        asked = latest_epoch(state.epochs) or Epoch(0)
        if leader_snapshot is not None and _needs_snapshot(state, asked, leader, leader_snapshot):
            state = truncate_fully(state, leader_snapshot.end_offset)
            because = f"the leader answers with its snapshot {leader_snapshot.end_offset}-{leader_snapshot.epoch}"
            return conclude("kraft-metadata", follower, state, exchanges, because)
        answer = metadata_end_offset(leader, asked, leader_snapshot)
        exchanges += (Exchange.of(asked, state.log_end_offset, answer),)
        at_origin = state.log_end_offset == leader.log_start_offset == 0
        if at_origin or (answer.epoch == asked and answer.end_offset >= state.log_end_offset):
            because = because or f"the leader holds epoch {asked} up to offset {state.log_end_offset} too"
            return conclude("kraft-metadata", follower, state, exchanges, because)
        after = truncate_to(state, _metadata_cut(state, answer))
        because = f"the leader's epoch {answer.epoch} ends at {answer.end_offset}"
        if min(answer.end_offset, after.log_end_offset) < follower.high_watermark:
            because = f"refused below the high watermark {follower.high_watermark}: {because}"
            return conclude("kraft-metadata", follower, follower, exchanges, because)
        if after == state:
            return conclude("kraft-metadata", follower, state, exchanges, f"{because}; it fetches again in vain")
        state = after


def metadata_end_offset(log: Replica, asked: Epoch, snapshot: EpochEnd | None) -> EpochEnd:
    """Where an epoch ends in a metadata log; an epoch beyond all known ones ends with the log, in its last epoch."""
    answer = answer_epoch(log, asked)
    if answer is None:
        last = latest_epoch(log.epochs)
        known = last if last is not None else snapshot.epoch if snapshot is not None else Epoch(0)
        return EpochEnd(epoch=known, end_offset=log.log_end_offset)
    below_log = snapshot is not None and answer == EpochEnd(epoch=asked, end_offset=snapshot.end_offset)
    return snapshot if below_log and snapshot is not None else answer


def _metadata_cut(follower: Replica, answer: EpochEnd) -> Offset:
    if answer.epoch == 0:
        return min(answer.end_offset, follower.log_end_offset)
    own = metadata_end_offset(follower, answer.epoch, None)
    return min(own.end_offset, answer.end_offset) if own.epoch == answer.epoch else own.end_offset


def _needs_snapshot(follower: Replica, asked: Epoch, leader: Replica, snapshot: EpochEnd) -> bool:
    fetch_offset = follower.log_end_offset
    if fetch_offset == leader.log_start_offset == 0:
        return False
    at_start = fetch_offset == leader.log_start_offset and asked != snapshot.epoch
    return fetch_offset < leader.log_start_offset or at_start or asked < snapshot.epoch
