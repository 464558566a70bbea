"""Which lines of request logs a bundle needs: those about its partitions, and those of the sessions that fetch them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

_SESSION: Final = re.compile(rb'"sessionId":(\d{1,10})|session_id=(\d{1,10})')
_NO_SESSION: Final = b"0"
_NUMBERS: Final = (
    rb'(?:[pP]artition(?:Index|_index|Id|_id)?|\bindex)"?[=:] ?%(one)s|[pP]artitions"?[=:] ?\[[\d, ]*%(one)s'
)
"""How requests number partitions: one by one, and as plain lists."""
_ANY_NUMBER: Final = re.compile(_NUMBERS % {b"one": rb"\d"})


class AskedLines(Struct, frozen=True, kw_only=True):
    """The lines that speak of some partitions, or of a fetch session that holds one of them.

    Topics are told by name or id. A fetch of a session leaves out what has not changed, and still says where its
    follower stood.
    """

    names: re.Pattern[bytes]
    numbers: re.Pattern[bytes]
    placed: re.Pattern[bytes]
    """A partition by name and number in one word: pay-0."""
    sessions: frozenset[bytes]

    def holds(self, line: bytes) -> bool:
        """Whether a line is one of them."""
        return self._tells(line) or not self.sessions.isdisjoint(sessions_in(line))

    def _tells(self, line: bytes) -> bool:
        """Whether it is about one of the partitions, as far as it says about which it is."""
        if self.names.search(line) is None:
            return False
        numbered = self.numbers.search(line) or self.placed.search(line)
        return numbered is not None or _ANY_NUMBER.search(line) is None


def asked_of(topics: Collection[str], numbers: Collection[int], logs: Iterable[bytes]) -> AskedLines:
    """The lines about partitions of topics, these by names and ids, and of their sessions, wherever these began."""
    words = b"|".join(re.escape(topic.encode()) for topic in sorted(topics))
    own = b"(?:" + b"|".join(str(number).encode() for number in sorted(numbers)) + rb")(?!\d)"
    asked = AskedLines(
        names=re.compile(rb"(?<![\w.])(?:" + words + rb")(?![\w.])"),
        numbers=re.compile(_NUMBERS % {b"one": rb"(?<!\d)" + own}),
        placed=re.compile(rb"(?<![\w.])(?:" + words + rb")-" + own),
        sessions=frozenset(),
    )
    lines = (line for text in logs for line in text.splitlines() if asked.holds(line))
    return replace(asked, sessions=frozenset(session for line in lines for session in sessions_in(line)))


def sessions_in(line: bytes) -> Iterator[bytes]:
    """The fetch sessions that a line opens or is of."""
    for found in _SESSION.finditer(line):
        session = found[1] or found[2]
        if session != _NO_SESSION:
            yield session
