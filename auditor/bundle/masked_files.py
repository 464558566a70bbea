"""The files of a dump that a bundle takes, each written anew into a folder with its contents masked."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from auditor.bundle.asked_lines import AskedLines, asked_of
from auditor.bundle.masked_logs import Place, masked_broker_log, masked_request_log
from auditor.bundle.masking import metadata_value
from parsers.broker_log import GzipText
from parsers.dump_text import told_before_contents
from parsers.files import FileFault, disk_name, locate, read_at, read_small
from parsers.inventory import Inventory
from parsers.provenance import FileKind, Source
from parsers.records.masked import HEADER, masked_entry
from parsers.segment import scan_source

LOG_LIMIT: Final = 512 << 20
STEP: Final = 1 << 20
METADATA_TOPIC: Final = "__cluster_metadata"
AS_THEY_ARE: Final[frozenset[FileKind]] = frozenset({
    "leader-epoch-checkpoint", "replication-offset-checkpoint", "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint", "cleaner-offset-checkpoint", "partition-metadata", "meta-properties",
    "clean-shutdown", "quorum-state", "offset-index", "time-index", "transaction-index", "producer-snapshot",
})  # fmt: skip
"""Files of numbers, of ids that Kafka draws, and of topics' names."""
TEXTS: Final[frozenset[FileKind]] = frozenset({"broker-log", "request-log", "dump-text"})
LOGS: Final[frozenset[FileKind]] = frozenset({"segment", "kraft-snapshot"})
ENDING: Final = 8
"""Bytes behind the packed text that say that it is whole."""
Mask = Callable[[bytes], bytes]
_NUMBER: Final = rb"-?[0-9]{1,19}"
_OTHERS: Final = re.compile(
    rb"Dumping [^\x00-\x1f]{1,1024}"
    rb"|(?:Log s|S)tarting offset: " + _NUMBER + rb"|Snapshot end offset: [0-9, epoch:=\-]{1,80}"
    rb"|offset: " + _NUMBER + rb" position: " + _NUMBER + rb"|timestamp: " + _NUMBER + rb" offset: " + _NUMBER + rb""
    rb"|producerId: [\w:(), .=\[\]\-]{1,400}|version: [0-9]{1,5} producerId: [\w:(), .=\[\]\-]{1,400}"
)
"""Lines of indexes, snapshots and files' names: numbers, but for the names of topics."""
_MARKS: Final = re.compile(rb"(\]? (?:key|payload): |\]$)")
"""Where a key or a payload begins; a reader looks for them."""


class Places(Struct, frozen=True, kw_only=True):
    """The partitions that a bundle is about."""

    asked: frozenset[Place]
    lines: AskedLines | None
    """The requests that speak of them; null where logs keep what they say of other partitions."""


class BundledFile(Struct, frozen=True, kw_only=True):
    """What became of one file of the dump."""

    source: str
    kind: FileKind
    how: str
    """As it is, masked, or left out and why."""
    checksums_held: int = 0
    checksums_failed: tuple[tuple[int, int], ...] = ()
    """Where batches lie whose checksum did not hold, before they were masked and after."""


def write_masked(
    root: Path, inventory: Inventory, places: Places, folder: Path, mask: Callable[[bytes], bytes]
) -> Iterator[BundledFile]:
    """Every file that the partitions' findings may rest on; all others are named as left out."""
    for file in inventory.files:
        reason = _left_out(file, places)
        if reason:
            yield BundledFile(source=file.origin.source, kind=file.kind, how=f"left out: {reason}")
            continue
        target = folder / disk_name(file.origin.source)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as written:
            yield _taken(root, file, written, places, mask)


def asked_lines(root: Path, inventory: Inventory, asked: frozenset[Place]) -> AskedLines | None:
    """The requests that speak of the partitions, in all request logs; null where any may."""
    topics = {topic for topic, _ in asked if topic is not None}
    numbers = {number for _, number in asked if number is not None}
    if not asked or any(None in place for place in asked):
        return None
    ids = {replica.origin.topic_id or "" for replica in inventory.replicas if replica.origin.topic in topics} - {""}
    logs = (file.origin.source for file in inventory.files if file.kind == "request-log")
    return asked_of(topics | ids, numbers, (_text(root, source) for source in logs))


def _text(root: Path, source: str) -> bytes:
    """A log's text; empty where it cannot be read, as whoever masks it will tell."""
    place = locate(root, source)
    if isinstance(place, FileFault):
        return b""
    text = unpacked(place, LOG_LIMIT) if source.endswith(".gz") else read_small(place, LOG_LIMIT)
    return text if isinstance(text, bytes) else b""


def _left_out(file: Source, places: Places) -> str:
    origin = file.origin
    if file.kind in TEXTS:
        return ""
    if file.kind not in AS_THEY_ARE | LOGS:
        return "its kind may hold anything"
    of_partition = origin.topic is not None
    if of_partition and origin.topic != METADATA_TOPIC and (origin.topic, origin.partition) not in places.asked:
        return "of another partition"
    return ""


def _taken(
    root: Path, file: Source, written: BinaryIO, places: Places, mask: Callable[[bytes], bytes]
) -> BundledFile:
    if file.kind in LOGS:
        return _masked_log(root, file, written, mask)
    place = locate(root, file.origin.source)
    content = place if isinstance(place, FileFault) else _content(place, file, places, mask)
    if isinstance(content, FileFault):
        return BundledFile(source=file.origin.source, kind=file.kind, how=f"left empty: {content.found}")
    written.write(content)
    how = "as it is" if file.kind in AS_THEY_ARE else "masked"
    return BundledFile(source=file.origin.source, kind=file.kind, how=how)


def _content(place: Path, file: Source, places: Places, mask: Callable[[bytes], bytes]) -> bytes | FileFault:
    """A small file, or a log or text with its words masked."""
    masked: dict[FileKind, Callable[[bytes], bytes]] = {
        "broker-log": lambda data: masked_broker_log(data, file.origin, None if places.lines is None else places.asked),
        "request-log": lambda data: masked_request_log(data, mask, places.lines),
        "dump-text": lambda data: masked_dump_text(data, mask),
    }
    own = masked.get(file.kind)
    if own is not None and file.origin.source.endswith(".gz"):
        return repacked(place, LOG_LIMIT, own)
    content = read_small(place, LOG_LIMIT)
    return content if own is None or isinstance(content, FileFault) else own(content)


def _masked_log(root: Path, file: Source, written: BinaryIO, mask: Callable[[bytes], bytes]) -> BundledFile:
    """A log entry by entry; what lies between entries, or behind them, is no header that anybody could vouch for."""
    place = locate(root, file.origin.source)
    if isinstance(place, FileFault):
        return BundledFile(source=file.origin.source, kind=file.kind, how=f"left empty: {place.found}")
    own = metadata_value if file.origin.topic == METADATA_TOPIC or file.kind == "kraft-snapshot" else None
    at, held, failed = 0, 0, []
    for chunk in scan_source(root, file.origin):
        columns = (chunk.headers.column(name).to_pylist() for name in ("span_start", "span_end", "crc_valid"))
        for start, end, valid in zip(*columns, strict=True):
            if start < at:
                continue
            _between(place, at, start, written)
            written.write(masked_entry(_bytes(place, start, end), mask, own))
            at, held = end, held + (valid is True)
            if valid is False:
                failed.append((start, end))
    _between(place, at, file.size, written, tail=True)
    return BundledFile(
        source=file.origin.source, kind=file.kind, how="masked", checksums_held=held, checksums_failed=tuple(failed)
    )


def _between(place: Path, start: int, end: int, written: BinaryIO, *, tail: bool = False) -> None:
    """Zero bytes as zeros, all others as dots; of a batch that the file cuts short its header stays."""
    if tail and end - start >= HEADER and _begins_batch(head := _bytes(place, start, start + HEADER)):
        written.write(head)
        start += HEADER
    while start < end:
        piece = _bytes(place, start, min(end, start + STEP))
        if not piece:
            return
        written.write(piece.translate(_DOTS))
        start += len(piece)


_DOTS: Final = bytes([0]) + b"." * 255
_MAGIC: Final = 16


def _begins_batch(head: bytes) -> bool:
    """Whether it is a header of format 2 whose length reaches behind it, and whose counts agree."""
    if len(head) < HEADER or head[_MAGIC] != 2 or int.from_bytes(head[8:12]) <= HEADER - 12:  # noqa: PLR2004
        return False
    last_delta, records = int.from_bytes(head[23:27]), int.from_bytes(head[57:61])
    return 0 < records == last_delta + 1


def _bytes(place: Path, start: int, end: int) -> bytes:
    found = read_at(place, start, end - start)
    return b"" if isinstance(found, FileFault) else found


def repacked(place: Path, limit: int, masked: Callable[[bytes], bytes]) -> bytes | FileFault:
    """The log with its text masked; one that was cut short is cut short again."""
    content = read_small(place, limit)
    if isinstance(content, FileFault):
        return content
    text, whole = _read(content, limit)
    packed = gzip.compress(masked(text), mtime=0)
    return packed if whole else packed[:-ENDING]


def unpacked(place: Path, limit: int) -> bytes | FileFault:
    """Its text as far as it can be read."""
    content = read_small(place, limit)
    return content if isinstance(content, FileFault) else _read(content, limit)[0]


def _read(content: bytes, limit: int) -> tuple[bytes, bool]:
    """The text, and whether it ends as it should."""
    text = GzipText(io.BytesIO(content), limit=limit)
    return b"".join(iter(lambda: text.read(1 << 20), b"")), text.trouble is None


def masked_dump_text(data: bytes, mask: Mask) -> bytes:
    """Every line of as many bytes as before."""
    return b"".join(_line(line, mask) for line in data.splitlines(keepends=True))


def _line(line: bytes, mask: Mask) -> bytes:
    words = line.rstrip(b"\r\n")
    kept = told_before_contents(words)
    if kept is None:
        if _OTHERS.fullmatch(words):
            return line
        kept = 0
    # Equal contents read alike afterwards, so that what two replicas print of one record can be compared.
    hide = mask if kept else (lambda _: b"")
    pieces = _MARKS.split(words[kept:], maxsplit=2) if kept else [words]
    shown = (piece if place % 2 else _hidden(piece, hide) for place, piece in enumerate(pieces))
    return words[:kept] + b"".join(shown) + line[len(words) :]


def _hidden(piece: bytes, mask: Mask) -> bytes:
    return mask(piece)[: len(piece)].hex().encode()[: len(piece)].ljust(len(piece), b".")
