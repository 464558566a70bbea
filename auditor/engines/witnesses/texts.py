"""What kafka-dump-log printed, read as the log that it tells of, where the log itself is not in the dump."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from auditor.engines.opened.opening import unread_file
from auditor.engines.opened.unit_facts import unit_fact, unread_fact
from auditor.engines.plan.units import ReadUnit, TextHome
from parsers.files import place_of, read_head
from parsers.inventory import begins_dump_text
from parsers.provenance import Origin, ReplicaState
from parsers.refusal import refuse
from parsers.tables import Refusal
from rules.evidence import SegmentFile
from rules.facts.join import join_all
from rules.facts.stretch import LogFacts
from rules.narrow.facts import DirectoryFacts, Fact
from rules.narrow.fold import fold

if TYPE_CHECKING:
    from parsers.dump_text import DumpChunk, DumpedFile, Note

SEGMENT: Final = ".log"
TAILS: Final = ("torn_tail", "zero_tail")
"""Refusals of a text that speak of the log; the others speak of the text."""
ReplicaName = tuple[str, int, ReplicaState]
ReadDirectory = Callable[[ReadUnit], DirectoryFacts]


class _Section(Struct, frozen=True, kw_only=True):
    """What one text says of one segment."""

    source: str
    base_offset: int
    folds: list[LogFacts] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def cut_short(self) -> bool:
        """Whether the tool died before it had told all: then nothing is known of where the log ends."""
        died = any(note.text.startswith("Exception in thread") for note in self.notes)
        return died or any(refusal.kind == "truncated_line" for refusal in self.refusals)

    @property
    def log(self) -> LogFacts:
        """The segment, folded."""
        return join_all(self.folds)


def is_text(path: Path) -> bool:
    """Whether a file is the text that kafka-dump-log printed, rather than a segment."""
    head = read_head(path, 64)
    return isinstance(head, bytes) and begins_dump_text(head)


def told_headers(path: Path, origin: Origin, topic: str, partition: int, base_offset: int) -> Iterator[pa.RecordBatch]:
    """The batches that a text tells of one segment."""
    from parsers.dump_text import read_dump_text

    for chunk in read_dump_text(path, origin):
        file = chunk.file
        if file and (file.topic, file.partition, file.base_offset) == (topic, partition, base_offset) and chunk.rows:
            yield chunk.headers


def read_texts(unit: ReadUnit, read_directory: ReadDirectory) -> Iterator[Fact]:
    """The replicas that the texts of one broker tell of, but for those whose logs are in the dump."""
    sections, refusals = _sections(unit)
    homes: dict[ReplicaName, TextHome] = {(home.topic, home.partition, "current"): home for home in unit.homes}
    for name, own in sections.items():
        home = homes.pop(name, None)
        if home is not None and home.has_segments:
            continue
        if any(section.cut_short for section in own):
            refusals += [refusal for section in own for refusal in _unended(unit, section)]
            continue
        chosen, doubled = _one_a_base(unit, own)
        refusals += doubled
        yield from _replica(unit, name, home, chosen, read_directory)
    for name, home in homes.items():
        if not home.has_segments:
            yield from _replica(unit, name, home, (), read_directory)
    if refusals:
        yield unread_fact(unit, refusals)


def _sections(unit: ReadUnit) -> tuple[dict[ReplicaName, list[_Section]], list[Refusal]]:
    """Sections by replica in the order of the texts, and refusals that belong to no segment."""
    from parsers.dump_text import read_dump_text

    found: dict[ReplicaName, list[_Section]] = {}
    refusals: list[Refusal] = []
    for piece in unit.pieces:
        current: DumpedFile | None = None
        for chunk in read_dump_text(place_of(unit.dump, piece.source), unit.origin(piece.source)):
            file = chunk.file
            if file is None or file.topic is None or file.partition is None or file.base_offset is None:
                refusals.extend(chunk.refusals)
            elif file.suffix == SEGMENT:
                own = found.setdefault((file.topic, file.partition, file.state), [])
                if file is not current:
                    own.append(_Section(source=piece.source, base_offset=file.base_offset))
                _add(own[-1], chunk)
            current = file
    return found, refusals


def _add(section: _Section, chunk: DumpChunk) -> None:
    tails = [refusal for refusal in chunk.refusals if refusal.kind in TAILS]
    section.refusals.extend(refusal for refusal in chunk.refusals if refusal.kind not in TAILS)
    if chunk.rows or tails:
        headers = chunk.headers
        files = pa.array([0] * headers.num_rows, pa.int32())
        section.folds.append(fold(headers.append_column("file", files), [section.source], tails))
    section.notes.extend(chunk.notes)


def _unended(unit: ReadUnit, section: _Section) -> list[Refusal]:
    """Why a text that stops in the middle is no account of its log."""
    if not section.cut_short:
        return []
    origin, expected = unit.origin(section.source), "a text that tells its segment to the end"
    place = [r for r in section.refusals if r.kind == "truncated_line"] or section.notes
    start, end = place[0].span_start, place[0].span_end
    found = f"it stops within segment {section.base_offset}"
    return [refuse(origin, "truncated_line", start, end, expected=expected, found=found)]


def _one_a_base(unit: ReadUnit, sections: Sequence[_Section]) -> tuple[list[_Section], list[Refusal]]:
    """One section a segment: a second one that tells the same is left out, one that tells otherwise is refused."""
    chosen: dict[int, _Section] = {}
    refusals: list[Refusal] = []
    for section in sections:
        first = chosen.setdefault(section.base_offset, section)
        if first is not section and not _same(first.log, section.log):
            found = f"{first.source} and {section.source} differ on segment {section.base_offset}"
            origin = unit.origin(section.source)
            refusals.append(refuse(origin, "ambiguous", 0, 0, expected="one account of a segment", found=found))
    return [chosen[base] for base in sorted(chosen)], refusals


def _same(left: LogFacts, right: LogFacts) -> bool:
    return (left.digests, left.end_offset, left.checksum_fault_count) == (
        right.digests, right.end_offset, right.checksum_fault_count,
    )  # fmt: skip


def _replica(
    unit: ReadUnit,
    name: ReplicaName,
    home: TextHome | None,
    sections: Sequence[_Section],
    read_directory: ReadDirectory,
) -> Iterator[Fact]:
    """The facts of one replica: its directory, as far as there is one, and its segments in order."""
    topic, partition, state = name
    place = unit_fact(unit, topic, partition)
    path = f"{unit.log_dir}/{topic}-{partition}".removeprefix("./")
    place = replace(place, path=path if state == "current" else f"{path}.{state}", state=state)
    directory = DirectoryFacts()
    if home is not None:
        place = replace(
            place, path=home.path, log_dir=home.log_dir, topic_id=home.topic_id, clean_shutdown=home.clean_shutdown
        )
        directory = read_directory(replace(unit, pieces=home.pieces))
    segments = tuple(SegmentFile(base_offset=s.base_offset, source=s.source, size=s.log.bytes) for s in sections)
    unread = tuple(unread_file(refusal) for section in sections for refusal in section.refusals)
    yield replace(
        place, order=-1, directory=replace(directory, segments=segments, refusals=directory.refusals + unread)
    )
    for order, section in enumerate(sections):
        log = section.log
        yield replace(place, order=order, log=log, bytes_seen=log.bytes, bytes_read=log.bytes)
