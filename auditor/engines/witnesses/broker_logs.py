"""Brokers' logs as a dump keeps them: packed or not, behind a collector's prefixes, several brokers' in one.

A log that stands as its broker wrote it is read in stretches, cut at any byte. One that is packed, wrapped by a
collector or of an unknown broker is read whole: its lines cannot be found from its middle, or it says whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, cast

from msgspec.structs import replace

from auditor.engines.plan.log_stretches import written_in
from parsers.broker_log import (
    HEAD_BYTES,
    USUAL_PATTERNS,
    GzipText,
    LayoutError,
    LogPart,
    Reading,
    WrappedLayout,
    no_part,
    parse_layout,
    read_log,
    read_written,
    speakers,
)
from parsers.files import GZIP
from parsers.inventory import broker_of_word
from parsers.provenance import Origin
from parsers.refusal import refuse

Speech: TypeAlias = Iterator[LogPart]
"""What one speaker says in a log, a part at a time, however long it is; none of it counts if one `is_nobodys`."""

_COPY: Final = re.compile(r"(.+)-\d{1,4}")
"""Compose numbers the copies of a service: `broker-1-1` is the first copy of `broker-1`."""


def read_stretch(path: Path, origin: Origin, patterns: Sequence[str], start: int, end: int) -> Speech:
    """What the entries tell that begin in bytes `[start, end)` of a log that may be cut; its head tells the layout."""
    try:
        with path.open("rb") as file:
            written = written_in(file.read(HEAD_BYTES), patterns)
            if written is not None:
                file.seek(0)
                reading = Reading(origin=origin, layout=written.layout)
                yield from _of_one(read_log(file, reading, start=start, end=end), origin, start, end)
    except OSError as error:
        yield _unreadable(error, origin)


def _unreadable(error: OSError, origin: Origin) -> LogPart:
    found = error.strerror or type(error).__name__
    return no_part(refuse(origin, "unreadable", 0, 0, expected="a readable log", found=found))


def read_broker_log(path: Path, origin: Origin, patterns: Sequence[str] = ()) -> Iterator[Speech]:
    """All that a log file tells, one speaker after the other; what is of unknown layout or origin is refused."""
    try:
        with _text(path) as text:
            head = text.read(HEAD_BYTES)
        if not head.strip():
            return
        size, written = path.stat().st_size, written_in(head, patterns)
        if written is None:
            expected = f"entries laid out as {' or '.join((*patterns, *USUAL_PATTERNS))}, or another --log-pattern"
            first = head.lstrip().partition(b"\n")[0]
            yield iter([no_part(refuse(origin, "malformed", 0, size, expected=expected, found=first))])
            return
        with _text(path) as text:
            named = speakers(text, written)
    except OSError as error:
        yield iter([_unreadable(error, origin)])
        return
    for speaker, words in named.items():
        broker = _broker(origin, speaker, words, alone=len(named) == 1)
        if len(words) > 1:
            yield iter([_of_several(origin, words, 0, size, speaker)])
        else:
            yield _spoken(path, replace(origin, broker=broker), written, speaker, size)


def _spoken(path: Path, origin: Origin, written: WrappedLayout, speaker: bytes | None, size: int) -> Speech:
    try:
        with _text(path) as text:
            parts = _owned(read_written(text, Reading(origin=origin), written, speaker), origin, speaker, size)
            yield from _of_one(parts, origin, 0, size)
            if isinstance(text, GzipText) and text.trouble:
                expected = "a compressed text to its end"
                yield no_part(refuse(origin, "damage", 0, size, expected=expected, found=text.trouble))
    except OSError as error:
        yield _unreadable(error, origin)


def _owned(parts: Iterator[LogPart], origin: Origin, speaker: bytes | None, size: int) -> Iterator[LogPart]:
    """The parts of a known broker; where nothing tells whose log it is, it is refused if it is a broker's at all."""
    for part in parts:
        if origin.broker is not None:
            yield part
        elif part.events.num_rows or part.settings.num_rows:
            expected = "lines that name their broker, or a folder, file or service that is named after it, as broker-1"
            found = f"a log of {speaker.decode(errors='replace')}" if speaker else "a log of an unknown broker"
            yield no_part(refuse(origin, "ambiguous", 0, size, expected=expected, found=found))
            return


def _of_one(parts: Iterable[LogPart], origin: Origin, start: int, end: int) -> Speech:
    """A log whose lines name several brokers is nobody's: most of its lines do not say whose they are.

    So is one in which a broker says that it starts in another cluster than its disks are of.
    """
    named: set[int] = set()
    clusters: set[str] = set()
    for part in parts:
        named |= set(part.events["broker"].unique().to_pylist()) - {None}
        clusters |= set(part.events["cluster_id"].unique().to_pylist()) - {None, origin.cluster_id}
        yield part
    if origin.cluster_id is not None and clusters:
        expected, found = f"lines of cluster {origin.cluster_id}", f"lines of cluster {' and '.join(sorted(clusters))}"
        yield no_part(refuse(origin, "ambiguous", start, end, expected=expected, found=found))
    if origin.broker is not None and not named <= {origin.broker}:
        yield _of_several(origin, named, start, end)


def _of_several(origin: Origin, named: Iterable[int], start: int, end: int, speaker: bytes | None = None) -> LogPart:
    of = "" if speaker is None else f" from {speaker.decode(errors='replace')}"
    found = f"lines of brokers {', '.join(map(str, sorted(named)))}{of}"
    return no_part(refuse(origin, "ambiguous", start, end, expected="the lines of one broker", found=found))


def is_nobodys(part: LogPart) -> bool:
    """Whether a part of a speech refuses all parts before it: by then it shows that nobody is known to say them."""
    return any(refusal.kind == "ambiguous" for refusal in part.refusals)


def _broker(origin: Origin, speaker: bytes | None, words: frozenset[int], *, alone: bool) -> int | None:
    """The broker as whom a speaker speaks; else whom its name means, or whose the file is as a whole.

    A number at the end of a name may count copies of a service: it contradicts nobody's words.
    """
    if speaker is None or (alone and origin.broker is not None):
        return origin.broker
    name = speaker.decode(errors="replace")
    copy = _COPY.fullmatch(name)
    named = broker_of_word(copy[1]) if copy else None
    if named is None and not (copy and words):
        named = broker_of_word(name)
    return next(iter(words)) if named is None and len(words) == 1 else named


def layout_trouble(pattern: str) -> str | None:
    """Why no log can be read by a layout; None where one can."""
    try:
        parse_layout(pattern)
    except LayoutError as error:
        return str(error)
    return None


@contextmanager
def _text(path: Path) -> Iterator[BinaryIO]:
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        yield cast("BinaryIO", opened.enter_context(GzipText(file))) if packed else file
