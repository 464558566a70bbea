"""Whether everything that was collected is here as it was: each folder's manifest against the files beneath it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.files import FileFault, disk_name, locate, printable, read_small
from parsers.inventory import Inventory, parse_file_name, parse_replica_name
from parsers.provenance import Origin, Source
from parsers.refusal import refuse
from parsers.tables import Refusal
from rules.evidence import Level

MANIFEST: Final = "tidemark-collect.manifest"
FORMAT: Final = "tidemark-collect/1"
MANIFEST_LIMIT: Final = 256 << 20
HASHED: Final = 64 << 20
"""Larger files are held against their length alone: batches of segments have checksums of their own."""
NO_SUM: Final = "-"
_FIELDS: Final = 3
_DIGITS: Final = 18
_SUM_LETTERS: Final = 64


class _CollectedFile(Struct, frozen=True, kw_only=True):
    """One file as it was collected."""

    path: str
    size: int
    sum: str


def refused_by_manifests(root: Path, inventory: Inventory, level: Level) -> Iterator[Refusal]:
    """What a manifest names and is not here, or not as it was; and manifests that cannot be believed."""
    files = {file.origin.source: file for file in inventory.files}
    for source, file in files.items():
        if source.rpartition("/")[2] == MANIFEST:
            yield from _held_against(root, file, files, level)


def _held_against(root: Path, manifest: Source, files: Mapping[str, Source], level: Level) -> Iterator[Refusal]:
    place = locate(root, manifest.origin.source)
    content = place if isinstance(place, FileFault) else read_small(place, MANIFEST_LIMIT)
    if isinstance(content, FileFault):
        yield content.refusal(manifest.origin)
        return
    lines = content.decode(errors="surrogateescape").split("\n")
    if lines[0] != FORMAT:
        expected = f"a manifest that begins with {FORMAT}"
        yield refuse(manifest.origin, "malformed", 0, len(content), expected=expected, found=lines[0])
        return
    base = manifest.origin.source.rpartition("/")[0]
    listed = [line.split(" ", _FIELDS) for line in lines if line.startswith("file ")]
    for words in listed:
        line = _line_of(words)
        if line is None:
            found = " ".join(words)
            yield refuse(manifest.origin, "malformed", 0, 0, expected="file, checksum, length, path", found=found)
        else:
            yield from _arrived(root, manifest.origin, f"{base}/{line.path}" if base else line.path, line, files, level)
    if f"end {len(listed)} files" not in lines[-2:]:
        expected = f"a collection that ended, with the line: end {len(listed)} files"
        yield refuse(manifest.origin, "unreadable", 0, len(content), expected=expected, found="no such end")


def _line_of(words: list[str]) -> _CollectedFile | None:
    if len(words) != _FIELDS + 1 or not (words[2].isascii() and words[2].isdigit() and len(words[2]) <= _DIGITS):
        return None
    steps = words[3].split("/")
    if not words[3] or any(step in ("", ".", "..") for step in steps):
        return None
    if words[1] != NO_SUM and len(words[1]) != _SUM_LETTERS:
        return None
    return _CollectedFile(path="/".join(map(printable, steps)), size=int(words[2]), sum=words[1])


def _arrived(
    root: Path, manifest: Origin, source: str, line: _CollectedFile, files: Mapping[str, Source], level: Level
) -> Iterator[Refusal]:
    """What is to be said of one file; nothing where it is here as it was."""
    here = files.get(source)
    if here is None:
        origin = _origin_of(manifest, source)
        yield refuse(origin, "not_copied", 0, 0, expected="a file that was collected", found="no such file")
    elif here.size != line.size:
        expected = f"a file of {line.size} bytes, as it was collected"
        yield refuse(here.origin, "unreadable", 0, here.size, expected=expected, found=f"{here.size} bytes")
    elif level != "quick" and line.sum != NO_SUM and line.size <= HASHED:
        place = locate(root, here.origin.source)
        content = place if isinstance(place, FileFault) else read_small(place, HASHED)
        if isinstance(content, bytes) and hashlib.sha256(content).hexdigest() != line.sum:
            expected, found = "the bytes that were collected", "other bytes: it has changed since"
            yield refuse(here.origin, "unreadable", 0, here.size, expected=expected, found=found)


def _origin_of(manifest: Origin, source: str) -> Origin:
    """Whose a missing file was, by its folder's name."""
    name = parse_replica_name(disk_name(source).split("/")[-2]) if "/" in source else None
    own = replace(manifest, source=source)
    if name is None or parse_file_name(disk_name(source).rpartition("/")[2]).kind == "unknown":
        return own
    return replace(own, topic=name.topic, partition=name.partition)
