"""Brokers' logs and request logs with every byte in its place, and what no rule reads of them made unreadable."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container
from typing import Final

from auditor.bundle.asked_lines import AskedLines
from auditor.bundle.masking import is_kept_setting
from auditor.engines.witnesses.log_statements import TELLING
from parsers.broker_log import Reading, read_log, witnesses
from parsers.provenance import Origin

Mask = Callable[[bytes], bytes]
Place = tuple[str | None, int | None]
_HEAD: Final = re.compile(rb"\[[0-9 :,.\-]{19,30}\] [A-Z]{4,5} |[\t ]+")
"""When a line was written, and how grave it is."""
_SETTING: Final = re.compile(rb"([\t ]+([\w.\-]+) = )(.*)", re.DOTALL)
_API: Final = re.compile(rb'"requestApiKeyName":"(\w+)"|RequestHeader\(apiKey=(\w+)')
_NAMED: Final = re.compile(
    rb'("(?:clientId|transactionalId|groupId|memberId|groupInstanceId|principal|softwareName|softwareVersion)":")'
    rb'((?:[^"\\]|\\.)*)'
    rb"|((?:clientId=|client_id=|transactional_id=|group_id=|member_id=|principal:|softwareName=|softwareVersion=))"
    rb"([^,)}\]]*)"
)
_OF_BROKERS: Final = re.compile(rb"(?:broker-\d+-fetcher-\d+|\d{1,10}|null|unknown)")
_TELLING: Final = frozenset(name.encode() for name in TELLING)


def masked_broker_log(data: bytes, origin: Origin, places: Container[Place] | None) -> bytes:
    """The lines that say something about replication, or whose log it is; of all others their time alone.

    With `places`, lines that speak of other partitions alone are among these others.
    """
    kept = _kept_lines(data, origin, places)
    at, made = 0, []
    for line in data.splitlines(keepends=True):
        made.append(line if at in kept else _unread(line))
        at += len(line)
    return b"".join(made)


def _kept_lines(data: bytes, origin: Origin, places: Container[Place] | None) -> set[int]:
    """Where the lines begin that are kept."""
    kept: set[int] = set()
    columns = ("span_start", "span_end", "topic", "partition")
    for part in read_log(io.BytesIO(data), Reading(origin=origin)):
        columns_read = (part.events.column(name).to_pylist() for name in columns)
        for start, end, topic, partition in zip(*columns_read, strict=True):
            if places is None or topic is None or (topic, partition) in places:
                kept.update(_beginnings(data, start, end))
    for witness in witnesses(data):
        kept.update(_beginnings(data, witness.start, witness.end))
    return kept


def _beginnings(data: bytes, start: int, end: int) -> list[int]:
    first = data.rfind(b"\n", 0, start + 1 if data[start : start + 1] != b"\n" else start) + 1
    places = [first]
    while (place := data.find(b"\n", places[-1], end - 1) + 1) > 0:
        places.append(place)
    return places


def _unread(line: bytes) -> bytes:
    """A line without its words; of a printed setting the name stays, and of some the value."""
    setting = _SETTING.fullmatch(line.rstrip(b"\r\n"))
    if setting is not None:
        return line if is_kept_setting(setting[2]) else _dotted(line, len(setting[1]))
    head = _HEAD.match(line)
    words = b"KafkaConfig values:"
    if head is not None and line[head.end() :].startswith(words):
        return line
    return _dotted(line, head.end() if head else 0)


def _dotted(line: bytes, kept: int) -> bytes:
    """The line up to a byte; its length stays, and its end."""
    words = line.rstrip(b"\r\n")
    return words[:kept] + b"." * (len(words) - kept) + line[len(words) :]


def masked_request_log(data: bytes, mask: Mask, lines: AskedLines | None) -> bytes:
    """Requests that rules read, with the names of clients, groups and people masked; of all others their time alone.

    With `lines`, requests that are none of these are among the others.
    """
    return b"".join(_request(line, mask, lines) for line in data.splitlines(keepends=True))


def _request(line: bytes, mask: Mask, lines: AskedLines | None) -> bytes:
    api = _API.search(line)
    if api is None or (api[1] or api[2]) not in _TELLING:
        return _unread(line)
    if lines is not None and not lines.holds(line) and _HEAD.match(line):  # a time of another layout would go with it
        return _unread(line)
    return _NAMED.sub(lambda found: _renamed(found, mask), line)


def _renamed(found: re.Match[bytes], mask: Mask) -> bytes:
    """A name of as many letters; the same name is the same again, and fetchers of brokers keep theirs."""
    before, name = (found[1], found[2]) if found[1] is not None else (found[3], found[4])
    if _OF_BROKERS.fullmatch(name):
        return found[0]
    masked = mask(name)[: len(name)].hex().encode()[: len(name)]
    return bytes(before + masked.ljust(len(name), b"."))
