"""quorum-state: what a KRaft node remembers of its quorum between starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from parsers.checkpoints.bounded_json import read_object
from parsers.provenance import Origin
from parsers.refusal import refuse
from parsers.tables import Refusal

_VERSIONS: Final = (0, 1)


class QuorumState(Struct, frozen=True, kw_only=True):
    """A quorum-state file; fields that its version does not have are null."""

    leader_id: int | None = None
    leader_epoch: int | None = None
    voted_id: int | None = None
    applied_offset: int | None = None
    current_voters: tuple[int, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def read_quorum_state(data: bytes, origin: Origin) -> QuorumState:
    """quorum-state of version 0 (static voters) and version 1."""
    content = read_object(data)
    if content is None or _number(content, "leaderEpoch") is None:
        refusal = refuse(origin, "malformed", 0, len(data), expected="JSON with leaderEpoch", found=data)
        return QuorumState(refusals=(refusal,))
    if _number(content, "data_version") not in _VERSIONS:
        refusal = refuse(origin, "unknown_version", 0, len(data), expected="data_version 0 or 1", found=data)
        return QuorumState(refusals=(refusal,))
    return QuorumState(
        leader_id=_number(content, "leaderId"),
        leader_epoch=_number(content, "leaderEpoch"),
        voted_id=_number(content, "votedId"),
        applied_offset=_number(content, "appliedOffset"),
        current_voters=_voters(content),
    )


def _number(content: Mapping[str, object], name: str) -> int | None:
    value = content.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _voters(content: Mapping[str, object]) -> tuple[int, ...]:
    voters = content.get("currentVoters")
    if not isinstance(voters, list):
        return ()
    ids = (_number(voter, "voterId") for voter in voters if isinstance(voter, dict))
    return tuple(voter for voter in ids if voter is not None)
