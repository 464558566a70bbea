"""What logs say of whose they are: a bounded look at the head and end of each, and between where both are silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from msgspec import Struct

from parsers.broker_log import GzipText, Witness, answered_ports, printed_ports, several_speak, witnesses
from parsers.files import GZIP, FileFault, is_wide_text, locate, read_at
from parsers.provenance import Source

HEAD: Final = 256 << 10
TAIL: Final = 128 << 10
BETWEEN: Final = 16
"""Further looks into a log that is silent at both ends, each as long as the one at its end."""
_DIRECTORY: Final = re.compile(rb"\blog\.dirs? = ([^\r\n\\]{1,2000})|[ ,]dir=([^\],\r\n]{1,1000})\]")


class Voice(Struct, frozen=True, kw_only=True):
    """What a log says of its writer, as far as it was looked at."""

    witnesses: tuple[Witness, ...] = ()
    """The first word for each broker, of each speaker that a collector names."""
    several: bool = False
    """Whether several speak in it: whose a line is, is told line by line."""
    listening: frozenset[int] = frozenset()
    """Ports at which its writer listens."""
    answering: frozenset[int] = frozenset()
    """Ports at which the requests came in that it tells of."""
    directories: frozenset[str] = frozenset()
    """Log dirs as its writer names them."""

    @property
    def brokers(self) -> frozenset[int]:
        """Every broker as which it speaks."""
        return frozenset(witness.broker for witness in self.witnesses)


SILENT: Final = Voice()


def voice_of(root: Path, file: Source) -> Voice:
    """A log's own words; a request log has none but where its connections came in."""
    place = locate(root, file.origin.source)
    heard = SILENT
    for count, (at, data) in enumerate(() if isinstance(place, FileFault) else _looks(place, file.size)):
        # The head and the end are both heard: a file may begin as one broker's and end as another's.
        if count > 1 and (heard.witnesses or heard.answering):
            break
        heard = _both(heard, _said(file, data, at))
    return heard


def _said(file: Source, data: bytes, at: int) -> Voice:
    if file.kind == "request-log":
        return Voice(answering=answered_ports(data))
    named = (part for found in _DIRECTORY.findall(data) for part in (found[0] or found[1]).split(b","))
    return Voice(
        witnesses=tuple(witnesses(data, at)),
        several=several_speak(data),
        listening=printed_ports(data),
        directories=frozenset(name.decode(errors="replace").strip().rstrip("/") for name in named),
    )


def _both(first: Voice, second: Voice) -> Voice:
    known = {(witness.broker, witness.speaker) for witness in first.witnesses}
    speakers = {witness.speaker for witness in (*first.witnesses, *second.witnesses)}
    return Voice(
        witnesses=(*first.witnesses, *(w for w in second.witnesses if (w.broker, w.speaker) not in known)),
        several=first.several or second.several or len(speakers) > 1,
        listening=first.listening | second.listening,
        answering=first.answering | second.answering,
        directories=first.directories | second.directories,
    )


def _looks(place: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Stretches of a log with the byte at which each begins; of a packed one its text, from the beginning on alone."""
    head = read_at(place, 0, HEAD)
    if isinstance(head, FileFault) or is_wide_text(head):
        return
    if head.startswith(GZIP):
        yield from _unpacked(place)
        return
    yield 0, head
    if size > HEAD:
        yield from _look(place, max(HEAD, size - TAIL))
    step = max(TAIL, (size - HEAD - TAIL) // BETWEEN)
    for start in range(HEAD, max(size - TAIL, HEAD), step):
        yield from _look(place, start)


def _look(place: Path, start: int) -> Iterator[tuple[int, bytes]]:
    data = read_at(place, start, TAIL)
    if isinstance(data, bytes):
        yield start, data


def _unpacked(place: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with place.open("rb") as file:
            text, at = GzipText(file), 0
            while at < HEAD + BETWEEN * TAIL and (data := cast("BinaryIO", text).read(HEAD)):
                yield at, data
                at += len(data)
    except OSError:
        return
