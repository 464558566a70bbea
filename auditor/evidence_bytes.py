"""Pieces of evidence as lines: batches by their headers, known text as it stands, everything else in hexadecimal."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Final

from auditor.report.moments import moment
from parsers.inventory.file_names import parse_file_name
from parsers.provenance import FileKind, Origin
from parsers.records import decode_entry, header_of

HEADER_BYTES: Final = 61
LEGACY_HEADER_BYTES: Final = 18
LEGACY_MAGICS: Final = (0, 1)
BATCHES_SHOWN: Final = 8
_LENGTH: Final = struct.Struct(">i")
_BATCHES: Final[tuple[FileKind, ...]] = ("segment", "kraft-snapshot")
_NUMBERS: Final[tuple[FileKind, ...]] = ("offset-index", "time-index", "transaction-index", "producer-snapshot")
_DUMP_LINE: Final = re.compile(r"(?:\| |- )?(?:baseOffset|offset|Dumping|Starting offset|Log starting offset)\b")
_CONTENTS: Final = re.compile(r" (?:headerKeys|key|payload): .*")


def content_lines(path: str, start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """What stands at byte `start` of a file."""
    kind = parse_file_name(path.rpartition("/")[2]).kind
    if kind in _BATCHES or (kind == "leftover" and ".log" in path):
        yield from _batches(path, start, data, bytes_shown, payloads=payloads)
    elif kind in _NUMBERS:
        yield from _hex(start, data[:bytes_shown])
    elif b"\0" in data:
        yield from _hidden(start, data, bytes_shown, payloads=payloads)
    else:
        # A file that no name explains may be a dump text, which holds what the records hold.
        yield from _text(data, bytes_shown, all_of_it=payloads or kind != "unknown")


def _text(data: bytes, bytes_shown: int, *, all_of_it: bool) -> Iterator[str]:
    hidden = 0
    shown = data if len(data) <= bytes_shown else data[:bytes_shown] + "…".encode()
    for line in shown.decode("utf-8", "replace").splitlines():
        if all_of_it:
            yield f"  | {line}"
        elif _DUMP_LINE.match(line):
            yield f"  | {_CONTENTS.sub(' …', line)}"
        else:
            hidden += 1
    if hidden:
        yield f"  … {hidden} lines are hidden (--print-data-log shows them)"


def _batches(path: str, start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """The batches of a stretch, each by its header; what is no batch stays hidden like a payload."""
    position = 0
    for _ in range(BATCHES_SHOWN):
        length = _LENGTH.unpack_from(data, position + 8)[0] + 12 if len(data) >= position + LEGACY_HEADER_BYTES else 0
        entry = data[position : position + length]
        if length < LEGACY_HEADER_BYTES or len(entry) < length or not _is_entry(entry):
            break
        yield from _batch(path, start + position, entry, bytes_shown, payloads=payloads)
        position += length
    if position < len(data):
        yield from _hidden(start + position, data[position:], bytes_shown, payloads=payloads)


def _is_entry(entry: bytes) -> bool:
    return entry[16] in LEGACY_MAGICS or header_of(entry) is not None


def _batch(path: str, start: int, entry: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    header = header_of(entry)
    if header is None:
        offset, crc = struct.unpack_from(">q4xI", entry)
        yield f"  entry of magic {entry[16]} at offset {offset}, crc {crc}"
    else:
        yield (
            f"  batch of {header.record_count} records, offsets {header.base_offset} to"
            f" {header.base_offset + header.last_offset_delta}, epoch {header.leader_epoch}, crc {header.crc},"
            f" producer {header.producer_id}/{header.producer_epoch}, written {_time(header.max_timestamp)}"
        )
    head = LEGACY_HEADER_BYTES if header is None else HEADER_BYTES
    yield from _hex(start, entry[:head])
    if payloads:
        yield from _records(path, start, entry, bytes_shown)
    elif len(entry) > head:
        yield f"  … {len(entry) - head} bytes of records are hidden (--print-data-log shows them)"


def _records(path: str, start: int, entry: bytes, bytes_shown: int) -> Iterator[str]:
    parsed = decode_entry(entry, Origin(source=path), start, payloads=True)
    for row in parsed.rows:
        key, value = (_payload(part, bytes_shown) for part in (row.key, row.value))
        yield f"  offset {row.offset}  key {key}  value {value}"
    for refusal in parsed.refusals:
        yield f"  records cannot be decoded: expected {refusal.expected}, found {refusal.found}"


def _hidden(start: int, data: bytes, bytes_shown: int, *, payloads: bool) -> Iterator[str]:
    """Bytes that nothing explains: zeros may be named, the rest may be anybody's payload."""
    if not data.strip(b"\0"):
        yield f"  {len(data)} bytes of zeros"
        return
    yield from _hex(start, data[: bytes_shown if payloads else LEGACY_HEADER_BYTES])
    if not payloads and len(data) > LEGACY_HEADER_BYTES:
        yield f"  … {len(data) - LEGACY_HEADER_BYTES} more bytes are hidden (--print-data-log shows them)"


def _payload(part: bytes | None, bytes_shown: int) -> str:
    if part is None:
        return "null"
    return repr(part[:bytes_shown])[1:] + ("…" if len(part) > bytes_shown else "")


def _hex(start: int, data: bytes) -> Iterator[str]:
    for row in range(0, len(data), 16):
        yield f"  {start + row:>12}  {data[row : row + 16].hex(' ')}"


def _time(milliseconds: int) -> str:
    time = moment(milliseconds)
    return f"{time} UTC" if time else "at no known time"
