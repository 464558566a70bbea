"""Where the chain of a sound file goes on behind a place at which it was cut, so that no reader seeks it twice."""

from __future__ import annotations

from parsers.segment.held_bytes import HeldSegment


class Links:
    """What one reader of a file's stretches learns from one of them for the next; of a file that changed, nothing."""

    __slots__ = ("_file", "_links")

    def __init__(self) -> None:
        self._file: tuple[int, ...] = ()
        self._links: dict[int, int] = {}

    def note(self, segment: HeldSegment, cut: int, position: int) -> None:
        """Remember that the first entry at or after a cut begins at this position, and nothing before it is broken."""
        if self._file != segment.identity:
            self._file, self._links = segment.identity, {}
        self._links[cut] = position

    def before(self, segment: HeldSegment, start: int) -> int:
        """The furthest known entry that is no further than the first one at or after `start`."""
        known = self._links.items() if self._file == segment.identity else ()
        return max((position for cut, position in known if cut <= start), default=0)
