"""How far a line may be believed: by what it says and by the version of the broker that wrote it."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from parsers.broker_log.version import KafkaRelease
from parsers.tables import EventKind, TrustLevel

_RANK: Final[dict[TrustLevel, int]] = {"low": 0, "medium": 1, "high": 2}


class Trust(Struct, frozen=True, kw_only=True):
    """The belief a line deserves, the columns its version prints wrongly, and whether its absence tells anything."""

    level: TrustLevel = "high"
    reason: str | None = None
    doubtful: tuple[str, ...] = ()
    silence_tells: bool = False


class VersionedTrust(Struct, frozen=True, kw_only=True):
    """Trust that holds for versions from `since` on, up to `until` exclusive."""

    since: KafkaRelease
    until: KafkaRelease
    trust: Trust


def _from(since: str, until: str, trust: Trust) -> VersionedTrust:
    return VersionedTrust(since=_version(since), until=_version(until), trust=trust)


def _version(text: str) -> KafkaRelease:
    return KafkaRelease(*(int(part) for part in text.split(".")))


_EVERY: Final = ("0.0", "999.0")
_NEVER_SILENT: Final = Trust(silence_tells=True)
_NOISE: Final = "printed at most ordinary leader changes; a defect only if the partition is not fetched again afterwards"
_HIGH_AND_TELLING: Final = (_from(*_EVERY, _NEVER_SILENT),)

TRUST: Final[dict[EventKind, tuple[VersionedTrust, ...]]] = {
    "truncating": _HIGH_AND_TELLING,
    "truncation-no-effect": _HIGH_AND_TELLING,
    "leader-starts": _HIGH_AND_TELLING,
    "corruption-found": _HIGH_AND_TELLING,
    "truncating-below-high-watermark": (
        _from("2.0", "2.4", _NEVER_SILENT),
        _from("2.4", "2.8", Trust(
            level="medium", reason="truncation lowers the watermark before the comparison: rarely printed, silence tells nothing")),
        _from("2.8", "3.4.1", Trust(
            level="low", reason="the follower may have taken the leader's watermark before truncating, so that only "
            "uncommitted records went; rarely printed, silence tells nothing")),
        _from("3.4.1", "4.3", Trust(reason="seen it is evidence, but it is rarely printed: silence tells nothing")),
        _from("4.3", "999.0", _NEVER_SILENT),
    ),
    "non-monotonic-high-watermark": (
        _from("0.0", "2.8", Trust(level="medium", reason="releases before 2.8 do not print this line")),
        _from("2.8", "3.4.1", Trust(
            level="medium", reason="the follower may have raised its watermark to the leader's before truncating",
            doubtful=("previous_offset",))),
        _from("3.4.1", "999.0", _NEVER_SILENT),
    ),
    "follower-starts": (
        _from("2.6", "3.6", _NEVER_SILENT),
        _from("3.6", "4.3", Trust(
            reason="the new leader and epoch are printed as the previous ones", silence_tells=True,
            doubtful=("previous_epoch", "previous_leader"))),
        _from("4.3", "999.0", _NEVER_SILENT),
    ),
    "reset-fetch-offset-to-start": (
        _from("0.0", "3.6", Trust(level="low", reason="also printed when nothing is truncated; look for a truncation behind it")),
        _from("3.6", "999.0", Trust()),
    ),
    "isr-shrinking": (
        _from("0.0", "2.7", Trust(silence_tells=True)),
        _from("2.7", "999.0", Trust(level="medium", reason="a proposal until the controller commits it")),
    ),
    "isr-expanding": (
        _from("0.0", "2.8", Trust()),
        _from("2.8", "999.0", Trust(level="medium", reason="a proposal until the controller commits it; not printed at INFO")),
    ),
    "isr-updated": (_from(*_EVERY, Trust(reason="shrinks made by the controller print no such line")),),
    "unclean-election": (
        _from("0.0", "1.1", _NEVER_SILENT),
        _from("1.1", "3.0", Trust(reason="ZooKeeper controllers since 1.1 print nothing: silence tells nothing")),
        _from("3.0", "4.0", _NEVER_SILENT),
        _from("4.0", "999.0", Trust(
            level="medium", reason="elections from the eligible leader replicas, which lose nothing, may be printed as UNCLEAN; "
            "a change to leader -1 is no election", silence_tells=True)),
    ),
    "fetcher-added": (
        _from("0.0", "1.1", Trust(reason="the offset is the log end offset")),
        _from("1.1", "2.8", Trust(reason="the offset is the high watermark")),
        _from("2.8", "999.0", Trust(reason="the offset is the log end offset, or the high watermark where no epochs are known")),
    ),
    "replica-loaded": (_from(*_EVERY, Trust(
        level="medium", reason="printed for every assigned replica, the remote ones with 0: the local one is the largest of the group",
    )),),
    "epoch-cache-updated": (_from(*_EVERY, Trust(reason="the count is that before the new entry", doubtful=("count",))),),
    "older-epoch": (_from(*_EVERY, Trust(reason=_NOISE)),),
    "newer-epoch": (_from(*_EVERY, Trust(reason=_NOISE)),),
    "marked-as-failed": (_from(*_EVERY, Trust(reason=_NOISE)),),
    "leader-and-isr-ignored": (_from(*_EVERY, Trust(reason="a benign repeat of a request")),),
    "controller-changed-partition": (_from(*_EVERY, Trust(level="medium", reason="the wording differs by release")),),
    "controller-shrunk-isr": (_from(*_EVERY, Trust(level="medium", reason="the wording differs by release")),),
    "segment-recovered": (_from(*_EVERY, Trust(reason="benign for __cluster_metadata, which is recovered at every start")),),
    "fetch-processing-error": (_from(*_EVERY, Trust(level="medium", reason="the exception behind it decides what it means")),),
}  # fmt: skip
"""Kinds that are missing here are believed as they stand."""


@cache
def trust_of(kind: EventKind, version: KafkaRelease | None) -> Trust:
    """The trust of a kind of line; under an unknown version the least that any version gives."""
    known = TRUST.get(kind, ())
    if version is None:
        return _least(known)
    return next((each.trust for each in known if each.since <= version < each.until), Trust())


def _least(known: tuple[VersionedTrust, ...]) -> Trust:
    """What holds whatever the version: never more than medium, every doubt, no conclusion from silence unless all allow it."""
    if not known:
        return Trust()
    lowest = min(known, key=lambda each: _RANK[each.trust.level]).trust
    if len(known) == 1:
        return lowest
    doubtful = dict.fromkeys(column for each in known for column in each.trust.doubtful)
    reason = "version unknown" + (f"; in some releases: {lowest.reason}" if lowest.reason else "")
    silence = all(each.trust.silence_tells for each in known)
    level: TrustLevel = "medium" if lowest.level == "high" else lowest.level
    return Trust(level=level, reason=reason, doubtful=tuple(doubtful), silence_tells=silence)
