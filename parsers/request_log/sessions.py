"""Incremental fetch sessions rebuilt: what an unchanged partition left unsaid, what a lost line leaves unknown.

A range of a log is folded to what it does to every session it touches. A session whose beginning lies before the range
stays an inherited one: a change upon something not yet known. `join` lays the later range's changes over the earlier
one's, so that `fold(a + b) == join(fold(a), fold(b))` wherever the log is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field

SessionKey: TypeAlias = tuple[str, int]
"""Serving endpoint and session id: ids are unique on one broker only."""
CONSUMER: Final = -1
FINAL_EPOCH: Final = -1
LAST_EPOCH: Final = (1 << 31) - 1
SESSION_NOT_FOUND: Final = 70
REFUSALS: Final = frozenset({SESSION_NOT_FOUND, 71, 106})


class PartitionKey(NamedTuple):
    """A partition as the fetch names it: topic or topic id, the other empty."""

    topic: str
    topic_id: str
    partition: int


class AskedPartition(NamedTuple):
    """A partition named in a fetch request."""

    key: PartitionKey
    fetch_offset: int | None
    last_fetched_epoch: int | None = None
    current_leader_epoch: int | None = None
    log_start_offset: int | None = None
    high_watermark: int | None = None


class AnsweredPartition(NamedTuple):
    """A partition named in a fetch answer."""

    key: PartitionKey
    error_code: int | None
    high_watermark: int | None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    records_size: int | None = None
    diverging_epoch: int | None = None
    diverging_end_offset: int | None = None
    leader: int | None = None
    leader_epoch: int | None = None


class Base(Enum):
    """What a session's partitions stand upon."""

    FULL = "full"  # a full fetch was seen: all partitions are known
    INHERITED = "inherited"  # begun before the range: partitions are changes upon what came before
    MISSING = "missing"  # used after it had ended: what came before cannot be known
    CLOSED = "closed"  # ended


class Cached(NamedTuple):
    """A partition of a session: what was last asked and answered, and whether either still stands before the range."""

    asked: AskedPartition | None = None
    asked_stale: bool = False
    asked_before: bool = False
    answered: AnsweredPartition | None = None
    answered_stale: bool = False
    answered_before: bool = False



class Session(Struct, frozen=True, kw_only=True):
    """One session after a range; a partition of an inherited session stands as None once it was forgotten."""

    base: Base
    first_epoch: int | None = None
    next_epoch: int = 0
    broken: bool = False
    """Whether a line of the session is missing inside the range."""
    partitions: Mapping[PartitionKey, Cached | None] = field(default_factory=dict)


class SessionState(Struct, frozen=True, kw_only=True):
    """Every session that a range touched."""

    sessions: Mapping[SessionKey, Session] = field(default_factory=dict)


NOTHING: Final = SessionState()


def join(earlier: SessionState, later: SessionState) -> SessionState:
    """Two neighbouring ranges as one."""
    sessions = dict(earlier.sessions)
    for key, session in later.sessions.items():
        before = sessions.get(key)
        sessions[key] = session if before is None else _over(before, session)
    return SessionState(sessions=sessions)


def epoch_after(epoch: int) -> int:
    """The session epoch that follows; it wraps to 1, because 0 would open a session."""
    return 1 if epoch >= LAST_EPOCH else epoch + 1


def missing_between(expected: int, found: int) -> int:
    """How many epochs were skipped; -1 where the epoch went back."""
    skipped = (found - expected) % LAST_EPOCH
    return skipped if skipped <= LAST_EPOCH // 2 else -1


def _over(before: Session, after: Session) -> Session:
    """The later range's change laid over what the earlier one left."""
    if after.base is not Base.INHERITED or after.first_epoch is None:
        return after
    if before.base is Base.CLOSED:
        known = {key: _settled(cached) for key, cached in after.partitions.items() if cached is not None}
        return Session(base=Base.MISSING, next_epoch=after.next_epoch, broken=after.broken, partitions=known)
    broken_here = after.broken or bool(missing_between(before.next_epoch, after.first_epoch))
    return Session(
        base=before.base,
        first_epoch=before.first_epoch,
        next_epoch=after.next_epoch,
        broken=before.broken or broken_here,
        partitions=_laid_over(before, after.partitions, broken_here),
    )


def _laid_over(
    before: Session, changes: Mapping[PartitionKey, Cached | None], broken: bool
) -> dict[PartitionKey, Cached | None]:
    inherits = before.base is Base.INHERITED
    partitions = {key: _stale(cached) if broken and cached else cached for key, cached in before.partitions.items()}
    for key, change in changes.items():
        old = partitions.get(key)
        if change is None and not inherits:
            partitions.pop(key, None)
        elif change is None:
            partitions[key] = None
        elif old is None:
            partitions[key] = change if inherits and key not in partitions else _settled(change)
        else:
            partitions[key] = _merged(old, change)
    return partitions


def _merged(old: Cached, change: Cached) -> Cached:
    asked = old if change.asked_before else change
    answered = old if change.answered_before else change
    return Cached(*asked[:3], *answered[3:])


def _settled(cached: Cached) -> Cached:
    """Nothing stands before it any more."""
    return cached._replace(asked_before=False, answered_before=False)


def _stale(cached: Cached) -> Cached:
    return cached._replace(asked_stale=cached.asked is not None, answered_stale=cached.answered is not None)
