"""How far a line may be believed: by what it says, whatever release wrote it. No line tells its writer's release."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from parsers.tables import EventKind, TrustLevel


class Trust(Struct, frozen=True, kw_only=True):
    """The belief that a line deserves in the release that prints it worst, and the columns that some print wrongly."""

    level: TrustLevel = "high"
    reason: str | None = None
    doubtful: tuple[str, ...] = ()


BELIEVED: Final = Trust()
_NOISE: Final = Trust(
    reason="printed at most ordinary leader changes; a defect only if the partition is not fetched again afterwards"
)
_REWORDED: Final = Trust(level="medium", reason="the wording differs by release")

TRUST: Final[dict[EventKind, Trust]] = {
    "truncating-below-high-watermark": Trust(
        level="low",
        reason="from 2.8 up to 3.4.0 the follower may have taken the leader's watermark before truncating, so that only "
        "uncommitted records went; rarely printed from 2.4 up to 4.2, where silence tells nothing",
    ),
    "non-monotonic-high-watermark": Trust(
        level="medium",
        reason="not printed before 2.8; up to 3.4.0 the follower may have raised its watermark to the leader's before "
        "truncating",
        doubtful=("previous_offset",),
    ),
    "follower-starts": Trust(
        level="medium",
        reason="from 3.6 up to 4.2 the new leader and epoch are printed as the previous ones",
        doubtful=("previous_epoch", "previous_leader"),
    ),
    "reset-fetch-offset-to-start": Trust(
        level="low", reason="up to 3.5 also printed when nothing is truncated; look for a truncation behind it"
    ),
    "isr-shrinking": Trust(level="medium", reason="since 2.7 a proposal until the controller commits it"),
    "isr-expanding": Trust(
        level="medium", reason="since 2.8 a proposal until the controller commits it, and not printed at INFO"
    ),
    "isr-updated": Trust(reason="shrinks made by the controller print no such line"),
    "unclean-election": Trust(
        level="medium",
        reason="ZooKeeper controllers from 1.1 up to 2.8 print nothing; since 4.0 elections from the eligible leader "
        "replicas, which lose nothing, may be printed as UNCLEAN; a change to leader -1 is no election",
    ),
    "fetcher-added": Trust(
        level="medium",
        reason="up to 1.0 the offset is the log end offset, up to 2.7 the high watermark; since 2.8 it is the log end "
        "offset, or the high watermark where no epochs are known",
    ),
    "replica-loaded": Trust(
        level="medium",
        reason="printed for every assigned replica, the remote ones with 0: the local one is the largest of the group",
    ),
    "epoch-cache-updated": Trust(reason="the count is that before the new entry", doubtful=("count",)),
    "older-epoch": _NOISE,
    "newer-epoch": _NOISE,
    "marked-as-failed": _NOISE,
    "leader-and-isr-ignored": Trust(reason="a benign repeat of a request"),
    "controller-changed-partition": _REWORDED,
    "controller-shrunk-isr": _REWORDED,
    "segment-recovered": Trust(reason="benign for __cluster_metadata, which is recovered at every start"),
    "fetch-processing-error": Trust(level="medium", reason="the exception behind it decides what it means"),
}
"""Kinds that are missing here are believed as they stand."""


def trust_of(kind: EventKind) -> Trust:
    """The trust of a kind of line: the least that any release gives."""
    return TRUST.get(kind, BELIEVED)
