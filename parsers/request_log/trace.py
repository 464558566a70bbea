"""What a range of a request log tells, in order, with its fetch sessions rebuilt: fetches and produces in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from parsers.provenance import Origin
from parsers.request_log.blocks import Blocks, LineReading, Other
from parsers.request_log.fetch_columns import RequestColumns
from parsers.request_log.folded import TOGETHER, Folded
from parsers.request_log.lines_of_range import Line, Unpackable, WholeLines, pieces_of
from parsers.request_log.presence import layout_in
from parsers.request_log.read import EVERY_API, FETCH, LineCounts, kept_refusals, unpackable, unreadable
from parsers.request_log.sessions import NOTHING, SessionState


class Trace:
    """One range of a log; `read` reads it once, and afterwards `sessions` says what became of the sessions.

    A partition that rests in its session is told once with a count, and requests in words of others without their rows;
    `runs` False tells all of them in full.
    """

    __slots__ = ("_apis", "_end", "_folded", "_origin", "_path", "_patterns", "_runs", "_start", "counts")

    def __init__(
        self,
        path: Path,
        origin: Origin,
        start: int = 0,
        end: int | None = None,
        *,
        before: SessionState = NOTHING,
        apis: Collection[str] = EVERY_API,
        runs: bool = True,
        patterns: Sequence[str] = (),
    ) -> None:
        self._path, self._origin, self._start, self._end = path, origin, start, end
        self._apis, self._patterns, self._runs = apis, patterns, runs
        self._folded = Folded(before, runs=runs)
        self.counts = LineCounts()

    def sessions(self) -> SessionState:
        """The sessions after the range."""
        return self._folded.sessions()

    def read(self) -> Iterator[RequestColumns | Other]:
        """Everything that is told, each partition's part of it in the order of the lines."""
        try:
            with self._path.open("rb") as file:
                layout = layout_in(self._path, self._patterns)
                reading = LineReading(self._origin, self.counts, self._apis, layout, self._runs)
                yield from read_pieces(pieces_of(file, self._start, self._end), reading, self._folded)
        except OSError as error:
            yield unreadable(error, self._origin)


def read_pieces(
    pieces: Iterable[WholeLines | Line], reading: LineReading, folded: Folded
) -> Iterator[RequestColumns | Other]:
    """The same of pieces of a log."""
    return kept_refusals(_read(pieces, reading, folded), reading.origin)


def sessions_after(
    path: Path, origin: Origin, start: int = 0, end: int | None = None, patterns: Sequence[str] = ()
) -> SessionState:
    """What a range does to sessions, whatever they were before it."""
    trace = Trace(path, origin, start, end, apis=frozenset((FETCH,)), patterns=patterns)
    for _ in trace.read():
        pass
    return trace.sessions()


def _read(
    pieces: Iterable[WholeLines | Line], reading: LineReading, folded: Folded
) -> Iterator[RequestColumns | Other]:
    place, added, blocks = 0, 0, Blocks(reading, folded)
    try:
        for piece in pieces:
            place = piece.end if isinstance(piece, Line) else piece.start + len(piece.data) - 1
            yield from blocks.of_block(piece) if isinstance(piece, WholeLines) else blocks.of_line(piece)
            added += len(piece.data)
            if added > TOGETHER:
                added = 0
                yield from folded.rest()
    except Unpackable as error:
        yield unpackable(error, reading.origin, place)
    yield from folded.rest()
