"""Incremental fetch sessions rebuilt: what an unchanged partition left unsaid, what a lost line leaves unknown.

A range of a log is folded to what it does to every session it touches. A session whose beginning lies before the range
stays an inherited one: a change upon something not yet known. `join` lays the later range's changes over the earlier
one's, so that `fold(a + b) == join(fold(a), fold(b))` wherever the log is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

from parsers.request_log.call import Answered, Asked, FetchCall, PartitionKey, SessionKey

FINAL_EPOCH: Final = -1
LAST_EPOCH: Final = (1 << 31) - 1
SESSION_NOT_FOUND: Final = 70
REFUSALS: Final = frozenset({SESSION_NOT_FOUND, 71, 106})


class Base(Enum):
    """What a session's partitions stand upon."""

    FULL = "full"  # a full fetch was seen: all partitions are known
    INHERITED = "inherited"  # begun before the range: partitions are changes upon what came before
    MISSING = "missing"  # used after it had ended: what came before cannot be known
    CLOSED = "closed"  # ended


class Cached(NamedTuple):
    """A partition of a session: what was last asked and answered, and whether either still stands before the range."""

    asked: Asked | None = None
    asked_stale: bool = False
    asked_before: bool = False
    answered: Answered | None = None
    answered_stale: bool = False
    answered_before: bool = False


_UNSEEN: Final = Cached(asked_before=True, answered_before=True)
_ADDED: Final = Cached()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session after a range; a partition of an inherited session stands as None once it was forgotten."""

    base: Base
    first_epoch: int | None = None
    next_epoch: int = 0
    broken: bool = False
    """Whether a line of the session is missing inside the range."""
    partitions: Mapping[PartitionKey, Cached | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Every session that a range touched."""

    sessions: Mapping[SessionKey, Session] = field(default_factory=dict)


NOTHING: Final = SessionState()
_CLOSED: Final = Session(base=Base.CLOSED)

StepKind: TypeAlias = Literal["full", "incremental", "refused"]


@dataclass(slots=True)
class OpenSession:
    """A session while a range is folded; owned by the fold, never shared."""

    base: Base
    first_epoch: int | None
    next_epoch: int
    broken: bool
    partitions: dict[PartitionKey, Cached | None]

    def doubt(self) -> None:
        """Whatever was cached may have changed in a line that is missing."""
        self.broken = True
        for key, cached in self.partitions.items():
            if cached is not None:
                self.partitions[key] = _stale(cached)


class Step(NamedTuple):
    """What one fetch did: the session it is read against, how many requests are missing before it (-1: went back)."""

    kind: StepKind
    session: OpenSession | None = None
    lost: int = 0
    begun_unseen: bool = False


class SessionTable:
    """The sessions of one broker's log while it is read in order."""

    __slots__ = ("_open",)

    def __init__(self, state: SessionState = NOTHING) -> None:
        self._open = {key: _opened(session) for key, session in state.sessions.items()}

    def state(self) -> SessionState:
        """What has become of every session, as a value."""
        return SessionState(sessions={key: _closed(session) for key, session in self._open.items()})

    def advance(self, call: FetchCall) -> Step:
        """Apply one fetch."""
        sid, epoch = call.session_id, call.session_epoch
        if sid is None or epoch is None or epoch == FINAL_EPOCH:
            self._close(call, sid)
            return Step("full")
        if epoch == 0:
            self._close(call, sid)
            self._create(call)
            return Step("full")
        if call.session_error in REFUSALS:
            if call.session_error == SESSION_NOT_FOUND:
                self._close(call, sid)
            return Step("refused")
        return self._increment(call, sid, epoch)

    def _close(self, call: FetchCall, sid: int | None) -> None:
        if sid:
            self._open[call.endpoint, sid] = _opened(_CLOSED)

    def _create(self, call: FetchCall) -> None:
        if call.session_error or not call.answer_session_id:
            return
        session = OpenSession(Base.FULL, None, 1, False, {})
        _apply(session, call)
        self._open[call.endpoint, call.answer_session_id] = session

    def _increment(self, call: FetchCall, sid: int, epoch: int) -> Step:
        session = self._open.get((call.endpoint, sid))
        begun_unseen = session is None or session.base is Base.CLOSED
        if session is None or begun_unseen:
            base = Base.INHERITED if session is None else Base.MISSING
            session = OpenSession(base, epoch if session is None else None, epoch, False, {})
            self._open[call.endpoint, sid] = session
        lost = missing_between(session.next_epoch, epoch)
        if lost:
            session.doubt()
        _apply(session, call)
        session.next_epoch = epoch_after(epoch)
        if not call.answer_known or call.session_error:
            session.doubt()
        if call.answer_session_id == 0:
            self._close(call, sid)
        return Step("incremental", session, lost, begun_unseen)


def fold(calls: Iterable[FetchCall]) -> SessionState:
    """What a range of a broker's log does to the sessions it touches."""
    table = SessionTable()
    for call in calls:
        table.advance(call)
    return table.state()


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


def _apply(session: OpenSession, call: FetchCall) -> None:
    """Adds, then forgotten partitions, then what the answer tells."""
    partitions, inherits = session.partitions, session.base is Base.INHERITED
    for asked in call.asked:
        cached = partitions.get(asked.key) or _new(session, asked.key)
        partitions[asked.key] = cached._replace(asked=asked, asked_stale=False, asked_before=False)
    for key in call.forgotten:
        if inherits:
            partitions[key] = None
        else:
            partitions.pop(key, None)
    for answered in call.answered:
        if answered.key not in call.forgotten:
            cached = partitions.get(answered.key) or _new(session, answered.key)
            # An error is not cached: the broker states the partition again as soon as it can.
            told = None if answered.error_code else answered
            partitions[answered.key] = cached._replace(answered=told, answered_stale=False, answered_before=False)


def _new(session: OpenSession, key: PartitionKey) -> Cached:
    """A partition first named now; an inherited session may have had it before, unless it was forgotten since."""
    return _UNSEEN if session.base is Base.INHERITED and key not in session.partitions else _ADDED


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


def _opened(session: Session) -> OpenSession:
    return OpenSession(session.base, session.first_epoch, session.next_epoch, session.broken, dict(session.partitions))


def _closed(session: OpenSession) -> Session:
    return Session(
        base=session.base,
        first_epoch=session.first_epoch,
        next_epoch=session.next_epoch,
        broken=session.broken,
        partitions=dict(session.partitions),
    )
