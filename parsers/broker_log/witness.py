"""Whose a log is, by its own words: the lines with which a broker, or a controller, names itself.

A broker names itself in the prefix of most lines, and in the settings that it prints when it starts. Lines that name
another node, as the leader that is fetched from, have the writer before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from parsers.broker_log.collectors import COLLECTED, speaker_of

_ID: Final = rb"(\d{1,9})(?!\d)"
_NAMING: Final = re.compile(
    rb"\[[A-Z][A-Za-z]{3,60} [^\[\]\n]{0,300}?\b(?:replicaId|brokerId|nodeId|controllerId|broker|id)=" + _ID + rb"[^\]\n]{0,300}\]"
    rb"|\[[A-Z][\w\-]{2,60} [\w \-]{0,80}?on (?:[Bb]roker|[Cc]ontroller) " + _ID + rb"\]"
    rb"|\[(?:Kafka ?Server|Controller|GroupCoordinator|TransactionCoordinator|Transaction State Manager|Transaction Log Manager"
    rb"|Transaction Marker Channel Manager|Producer ?Id ?Manager|RPC ProducerId Manager|Admin Manager) " + _ID + rb"\]"
    rb"|\[(?:KafkaApi|ExpirationReaper|TxnMarkerSenderThread|(?:zk-)?broker|Controller)-" + _ID + rb"(?!-null\])(?:\]|-[\w\-]{1,80}\])"
    rb"|(?:\n|\\n|\||\ )(?:\t|\\t|\ )(?:broker|node)\.id = " + _ID + rb"(?=[\r\n\\])"
    rb"|\] (?:TRACE|DEBUG|INFO|WARN|ERROR) Broker " + _ID + rb" (?:received|handling|cached|completed|stopped|ignoring|truncated) "
    rb"|\] (?:TRACE|DEBUG|INFO|WARN|ERROR) Controller " + _ID + rb" epoch \d"
)  # fmt: skip
"""As Kafka 0.11 to 4.x words it; the last two are of state-change logs before 1.0.

4.0 names its reapers `ExpirationReaper-0-null` on every broker: they are named before they know whose they are.
"""
_LISTENERS: Final = re.compile(rb"(?:\t|\\t|\ )listeners = ([^\r\n\\]{1,2000})")
_PORT: Final = re.compile(rb"://[^,/]{0,255}:(\d{1,5})(?!\d)")
_CONNECTION: Final = re.compile(rb"connection(?:\":\"| )(?:[\w.\-]{1,255}|\[?[0-9a-fA-F:.%]{2,60}\]?):(\d{1,5})-")


class Witness(Struct, frozen=True, kw_only=True):
    """A line's word for who wrote it."""

    broker: int
    speaker: bytes | None
    """Who speaks, where a collector sets that before a line."""
    start: int
    end: int


def witnesses(data: bytes, offset: int = 0) -> Iterator[Witness]:
    """The first word for each broker of each speaker in a stretch of a log that begins at a byte of the file."""
    known: set[tuple[int, bytes | None]] = set()
    for found in _NAMING.finditer(data):
        broker, speaker = int(found[found.lastindex or 0]), speaker_at(data, found.start())
        if (broker, speaker) not in known:
            known.add((broker, speaker))
            end = found.end()
            # What stands before the words is none of them.
            words = found[0].lstrip(b"\n\\n|] ")
            yield Witness(broker=broker, speaker=speaker, start=offset + end - len(words), end=offset + end)


def speaker_at(data: bytes, place: int) -> bytes | None:
    """Whom a collector names before the line in which a byte stands."""
    begin = data.rfind(b"\n", 0, place + 1) + 1
    prefix = COLLECTED.match(data, begin)
    return speaker_of(prefix) if prefix else None


def several_speak(data: bytes) -> bool:
    """Whether a collector names more than one speaker in a stretch of a log."""
    return len({speaker_of(prefix) for prefix in COLLECTED.finditer(data) if prefix.end() > prefix.start()}) > 1


def printed_ports(data: bytes) -> frozenset[int]:
    """The ports at which a broker listens, as it prints its settings."""
    return frozenset(int(port) for found in _LISTENERS.findall(data) for port in _PORT.findall(found))


def answered_ports(data: bytes) -> frozenset[int]:
    """The ports at which the requests of a request log came in: the writer's side of each connection."""
    return frozenset(int(port) for port in _CONNECTION.findall(data))
