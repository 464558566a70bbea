"""Which segments of a replica's directory make up its log, as a broker that starts would decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from parsers.provenance import FileKind, Origin, Source

_INDEXES: Final[tuple[FileKind, ...]] = ("offset-index", "time-index", "transaction-index")
NO_SEGMENT: Final = "*.log"
"""The segments of a folder that holds none."""


class ExcludedFile(Struct, frozen=True, kw_only=True):
    """A file that is no part of the log, and why."""

    file: Source
    reason: str


class PlainSegments(Struct, frozen=True, kw_only=True):
    """The segments of a log in the order of their base offsets, and what was left out."""

    segments: tuple[Source, ...] = ()
    left_out: tuple[ExcludedFile, ...] = ()


def plain_segments(files: Iterable[Source], next_offsets: Mapping[str, int] | None = None) -> PlainSegments:
    """The log's segments among the files of one replica directory.

    `.swap` segments replace the plain ones from the lowest swap base up to the highest offset that one of them reaches.
    A swap segment is complete, unless a `.cleaned` file at or below its base shows that the set was not finished.
    `next_offsets` gives its reach by the swap file's source; without it the reach is just beyond the segment's base.
    """
    ordered = sorted(files, key=lambda file: (file.base_offset or 0, file.origin.source))
    left_out = [ExcludedFile(file=file, reason=_remnant_reason(file)) for file in ordered if file.kind == "leftover"]
    swaps, dropped = _judge_swaps(ordered)
    plain = [file for file in ordered if file.kind == "segment" and not file.suffix]
    kept, replaced = _replace(plain, swaps, next_offsets or {})
    segments, doubles = _one_a_base(sorted(kept + swaps, key=lambda file: file.base_offset or 0))
    bases = {segment.base_offset for segment in segments}
    left_out += dropped + replaced + doubles + _orphans(ordered, bases)
    return PlainSegments(
        segments=tuple(segments), left_out=tuple(sorted(left_out, key=lambda left: left.file.origin.source))
    )


def absent_segments(folder: Origin, files: Sequence[Source]) -> tuple[Source, ...]:
    """Segments that were on the disk and are not in this copy of a replica's folder.

    An index stands beside its segment, and every log has one segment at least: of a folder without any, the name of
    the segment is not known.
    """
    of_log = [file for file in files if file.kind == "segment" or _was_segment(file)]
    held = {file.base_offset for file in of_log}
    indexed = {f.base_offset for f in files if f.kind in _INDEXES and not f.suffix and f.base_offset is not None}
    missing = [(base, f"{base:020d}.log") for base in sorted(indexed - held)]
    if not missing and not any(file.kind == "segment" and file.suffix in ("", ".swap") for file in files):
        missing = [(0, NO_SEGMENT)]
    return tuple(
        Source(origin=replace(folder, source=f"{folder.source}/{name}"), kind="segment", size=0, base_offset=base)
        for base, name in missing
    )


def _was_segment(file: Source) -> bool:
    return file.kind == "leftover" and ".log" in file.origin.source.rpartition("/")[2]


def _remnant_reason(file: Source) -> str:
    if file.suffix.endswith(".deleted"):
        return "waits for its deletion"
    if ".cleaned" in file.suffix:
        return "output of a cleaning that was not finished"
    return "left behind by a write that was not finished"


def _judge_swaps(files: Sequence[Source]) -> tuple[list[Source], list[ExcludedFile]]:
    """The swap segments that count, and the swap files that an unfinished cleaning takes with it."""
    cleaned = [file.base_offset for file in files if file.suffix.endswith(".cleaned") and file.base_offset is not None]
    lowest = min(cleaned, default=None)
    swaps = [file for file in files if file.suffix == ".swap" and file.base_offset is not None]
    if lowest is None:
        return [file for file in swaps if file.kind == "segment"], []
    unfinished = [file for file in swaps if (file.base_offset or 0) >= lowest]
    counted = [file for file in swaps if file.kind == "segment" and (file.base_offset or 0) < lowest]
    reason = f"belongs to an unfinished cleaning: a .cleaned file begins at {lowest}"
    return counted, [ExcludedFile(file=file, reason=reason) for file in unfinished]


def _replace(
    plain: list[Source], swaps: list[Source], next_offsets: Mapping[str, int]
) -> tuple[list[Source], list[ExcludedFile]]:
    if not swaps:
        return plain, []
    low = min(swap.base_offset or 0 for swap in swaps)
    high = max(max(next_offsets.get(swap.origin.source, 0), (swap.base_offset or 0) + 1) for swap in swaps)
    kept = [file for file in plain if not low <= (file.base_offset or 0) < high]
    reason = f"replaced by the swap segments of [{low}, {high})"
    return kept, [ExcludedFile(file=file, reason=reason) for file in plain if low <= (file.base_offset or 0) < high]


def _one_a_base(segments: Sequence[Source]) -> tuple[list[Source], list[ExcludedFile]]:
    """Two names can spell one base offset (`1.log` and its padded form); the one named as Kafka names it counts."""
    chosen: dict[int | None, Source] = {}
    doubles: list[ExcludedFile] = []
    for segment in sorted(segments, key=lambda file: (-len(file.origin.source), file.origin.source)):
        first = chosen.setdefault(segment.base_offset, segment)
        if first is not segment:
            doubles.append(ExcludedFile(file=segment, reason=f"second file of base offset {segment.base_offset}"))
    return [segment for segment in segments if chosen[segment.base_offset] is segment], doubles


def _orphans(files: Sequence[Source], bases: set[int | None]) -> list[ExcludedFile]:
    """Indexes in plain use whose segment is not there; a broker deletes them when it starts."""
    return [
        ExcludedFile(file=file, reason="an index without its segment")
        for file in files
        if file.kind in _INDEXES and not file.suffix and file.base_offset not in bases
    ]
