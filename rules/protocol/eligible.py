"""Eligible leader replicas (KIP-966): who left a small ISR with all that was committed, and the last leader known."""

from __future__ import annotations

from typing import Final

from rules.protocol.isr import Brokers
from rules.protocol.offsets import BrokerId
from rules.protocol.versions import ProtocolVersion, protocol

SUPPORTED: Final = protocol("4.0-IV1")
ON_BY_DEFAULT: Final = protocol("4.1-IV0")


def keeps_eligible_replicas(spoken: ProtocolVersion, switched: bool | None) -> bool:  # noqa: FBT001 - a feature's level
    """Whether a controller keeps them: since 4.0 where the feature is switched on, since 4.1 unless it is off."""
    return spoken >= SUPPORTED and (spoken >= ON_BY_DEFAULT if switched is None else switched)


def eligible_after(
    elr: Brokers, former_isr: Brokers, isr: Brokers, *, min_insync_replicas: int, lost: Brokers = frozenset()
) -> Brokers:
    """Who is eligible beside a new ISR: nobody where it is large enough, else whoever left it or was eligible before.

    `lost` are brokers that came back from an unclean shutdown: their disks may lack what they once acknowledged.
    """
    return frozenset() if len(isr) >= min_insync_replicas else (elr | former_isr) - isr - lost


def last_known_leader_after(
    known: BrokerId | None, former: BrokerId | None, leader: BrokerId | None, isr: Brokers
) -> BrokerId | None:
    """Who led last, while nobody leads and the ISR is empty; forgotten as soon as somebody leads."""
    if leader is not None:
        return None
    return former if former is not None and not isr else known
