"""Which lines of request logs a bundle needs: those that name its topics, and those of the sessions that fetch them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_SESSION: Final = re.compile(rb'"sessionId":(\d{1,10})|session_id=(\d{1,10})')
_NO_SESSION: Final = b"0"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLines:
    """The lines that speak of some topics, by name, by id, or by a fetch session that holds one of their partitions.

    A fetch of a session leaves out what has not changed, and still says where its follower stood.
    """

    names: re.Pattern[bytes]
    sessions: frozenset[bytes]

    def holds(self, line: bytes) -> bool:
        """Whether a line is one of them."""
        return self.names.search(line) is not None or not self.sessions.isdisjoint(sessions_in(line))


def asked_of(topics: Iterable[str], logs: Iterable[bytes]) -> AskedLines:
    """The lines that speak of topics, given by names and ids, and of their sessions, wherever these began."""
    words = b"|".join(re.escape(topic.encode()) for topic in sorted(topics))
    names = re.compile(rb"(?<![\w.])(?:" + words + rb")(?![\w.])")
    named = (line for text in logs for line in text.splitlines() if names.search(line))
    return AskedLines(names=names, sessions=frozenset(session for line in named for session in sessions_in(line)))


def sessions_in(line: bytes) -> Iterator[bytes]:
    """The fetch sessions that a line opens or is of."""
    for found in _SESSION.finditer(line):
        session = found[1] or found[2]
        if session != _NO_SESSION:
            yield session
