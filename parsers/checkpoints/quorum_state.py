"""quorum-state: what a KRaft node remembers of its quorum between starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from parsers.checkpoints.bounded_json import read_object
from parsers.provenance import Origin, Span
from parsers.refusal import refuse
from parsers.tables import Refusal

_VERSIONS: Final = (0, 1)


class QuorumState(Struct, frozen=True, kw_only=True):
    """A quorum-state file; fields that its version does not have are null."""

    span: Span
    data_version: int | None = None
    leader_id: int | None = None
    leader_epoch: int | None = None
    voted_id: int | None = None
    voted_directory_id: str | None = None
    applied_offset: int | None = None
    cluster_id: str | None = None
    current_voters: tuple[int, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def read_quorum_state(data: bytes, origin: Origin) -> QuorumState:
    """quorum-state of version 0 (static voters) and version 1."""
    span = origin.span(0, len(data))
    content = read_object(data)
    if content is None or _number(content, "leaderEpoch") is None:
        refusal = refuse(origin, "malformed", 0, len(data), expected="JSON with leaderEpoch", found=data)
        return QuorumState(span=span, refusals=(refusal,))
    version = _number(content, "data_version")
    if version not in _VERSIONS:
        refusal = refuse(origin, "unknown_version", 0, len(data), expected="data_version 0 or 1", found=data)
        return QuorumState(span=span, data_version=version, refusals=(refusal,))
    return QuorumState(
        span=span,
        data_version=version,
        leader_id=_number(content, "leaderId"),
        leader_epoch=_number(content, "leaderEpoch"),
        voted_id=_number(content, "votedId"),
        voted_directory_id=_text(content, "votedDirectoryId"),
        applied_offset=_number(content, "appliedOffset"),
        cluster_id=_text(content, "clusterId") or None,
        current_voters=_voters(content),
    )


def _number(content: Mapping[str, object], name: str) -> int | None:
    value = content.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(content: Mapping[str, object], name: str) -> str | None:
    value = content.get(name)
    # JSON may spell half of a surrogate pair, which no UTF-8 column can hold.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else None


def _voters(content: Mapping[str, object]) -> tuple[int, ...]:
    voters = content.get("currentVoters")
    if not isinstance(voters, list):
        return ()
    ids = (_number(voter, "voterId") for voter in voters if isinstance(voter, dict))
    return tuple(voter for voter in ids if voter is not None)
