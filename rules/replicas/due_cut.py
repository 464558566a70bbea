"""What KIP-279 would have made of a cut by the high watermark, where the logs on disk still carry their epochs."""

from __future__ import annotations

from dataclasses import replace

from rules.history.turns import Cut
from rules.protocol import replica as protocol
from rules.protocol.epochs import EpochChain, assign
from rules.protocol.offsets import Epoch, Offset
from rules.protocol.truncation import Truncation, truncate_by_epoch_end
from rules.replicas.replica import Replica


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
    former = cut.former_epoch
    if former is not None and former >= 0 and (not kept or former > kept[-1].epoch):
        chains.append(assign(kept, Epoch(former), Offset(cut.offset)))
    return chains


def _as_it_stood(leader: Replica, cut: Cut) -> protocol.Replica:
    """The leader without the epochs that came after the cut; its log end then was at least where the next one began."""
    state = leader.at(leader.log_end_offset)
    later = [entry for entry in state.epochs if cut.epoch is not None and entry.epoch > cut.epoch]
    return leader.at(later[0].start_offset) if later else state
