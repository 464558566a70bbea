"""Write the records of a loss from a copy that still stands to a file that can be replayed; the dump is only read."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from msgspec import Struct

from auditor.config import ConfigError
from auditor.memory import Remembered, recall, reopened
from auditor.outlet import require_place
from auditor.report.plain import plain
from auditor.salvage.copies_of_lost import (
    Lost,
    LostBatch,
    held_again,
    lost_log_dirs,
    lost_of,
    partition_evidence,
    places,
    sources,
    why_none,
    written_first,
)
from auditor.salvage.record_fates import Fate, Markers, fate_of, markers_of
from auditor.salvage.remotely import kept_remotely
from auditor.show import find_finding
from auditor.whole_files import whole_file
from parsers.files import FileFault, is_inside, locate, read_exactly
from parsers.provenance import Origin, Span
from parsers.records import BATCH_LIMIT
from parsers.records.record_contents import RecordContent, decode_contents
from parsers.tables import Refusal
from rules.finding import offsets_told
from rules.loss.survivors import Survivor
from rules.protocol.offsets import without
from rules.words import counted

WARNINGS: Final = (
    "Replaying appends: the records get new offsets and new places among the records that are there now.",
    "Whoever has read them before the loss reads them a second time; a retrying producer may have sent some again.",
    "Only their order within this file is known; between keys and against later records it is not what it was.",
    "Records are written whatever became of their transaction; each says so: committed, aborted, or unknown.",
)


class SalvageRequest(Struct, frozen=True, kw_only=True):
    """What to salvage, and to where."""

    finding: str
    target: Path
    report: Path | None = None
    dump: Path | None = None
    broker: int | None = None
    """Take the records from this broker's disk only."""
    understood: bool = False


class Salvaged(Struct, frozen=True, kw_only=True):
    """What came out."""

    records: int
    control: int
    """Transaction markers, which are not written: no producer can send them."""
    aborted: int
    """Records of aborted transactions, among those that were written."""
    undecided: int
    """Records of transactions whose end is not in the copy."""
    spans: tuple[Span, ...]
    refusals: tuple[Refusal, ...]
    missing: tuple[tuple[int, int], ...]
    """Offsets of which no record was found."""


def run_salvage(request: SalvageRequest) -> str:
    """Write the records; what was written and from where, as text."""
    with reopened(recall(request.report, request.dump)) as remembered:
        return _salvaged(request, remembered)


def _salvaged(request: SalvageRequest, remembered: Remembered) -> str:
    finding = find_finding(remembered, request.finding)
    lost = lost_of(finding, request.broker)
    _require_target(request.target, _protected(remembered.dump, lost_log_dirs(remembered, lost)))
    evidence = partition_evidence(remembered, lost)
    chosen = sources(evidence, lost, remembered.report)
    if not chosen:
        reasons = (why_none(evidence, lost, remembered.report), *kept_remotely(lost, remembered.report))
        raise ConfigError(f"{lost.finding}: {'. '.join(reasons)}")
    found = places(chosen, remembered.dump)
    warnings = [*_held_again(chosen, lost, remembered.report), *WARNINGS]
    remote = (f"  {sentence}" for sentence in kept_remotely(lost, remembered.report))
    described = [*_described(lost, chosen, written_first(found)), *remote]
    head = [*described, "", *(f"Warning: {warning}" for warning in warnings), ""]
    if not request.understood:
        asked = "Nothing was written. If this is what you want, say so with --yes-i-understand."
        return _shown([*head, asked])
    markers = markers_of(chosen, evidence, remembered.dump)
    done = _write(request.target, remembered, lost, found, markers)
    return _shown([*head, *_outcome(done, request.target)])


def _held_again(chosen: Sequence[Survivor], lost: Lost, report: Mapping[str, object]) -> Iterator[str]:
    """What of the chosen copies is no loss by the bill: replayed, it stands twice."""
    again = held_again(lost, report)
    for epoch in sorted({copy.epoch for copy in chosen}):
        for start, end in again.get(epoch, ()):
            if any(c.epoch == epoch and c.start_offset < end and c.end_offset > start for c in chosen):
                what = f"{offsets_told(start, end)} of epoch {epoch}"
                yield f"The leader's log has {what} again, by the report's bill: a replay doubles them."


def _shown(lines: Sequence[str]) -> str:
    return "".join(f"{plain(line)}\n" for line in lines)


def _protected(dump: Path, log_dirs: Sequence[str]) -> list[str]:
    """Folders that are the dump: where its parts have only the root of the file system in common, those parts."""
    root = os.path.realpath(dump)
    if str(Path(root).parent) != root:
        return [root]
    return [os.path.realpath(Path(root, path.split("/")[0])) for path in log_dirs]


def _require_target(target: Path, protected: Sequence[str]) -> None:
    if any(is_inside(os.path.realpath(target), folder) for folder in protected):
        raise ConfigError(f"--to: {target} lies inside the dump, which is never written into")
    if os.path.lexists(target):
        raise ConfigError(f"--to: {target} is there already, and is not overwritten")
    require_place(target, "--to")


def _described(lost: Lost, chosen: Sequence[Survivor], found: Sequence[LostBatch]) -> Iterator[str]:
    """The copies, and of each the batches that are read from it: a copy that others make needless is not named."""
    what = f"{lost.topic}-{lost.partition}, {offsets_told(lost.start, lost.end)}{_whose(lost)}"
    yield f"{lost.finding} {lost.rule}: {what}"
    for copy in chosen:
        own = [place for place in found if place.copy == copy.path and place.epoch == copy.epoch]
        read = [*_joined(place.span for place in own if place.start == copy.start_offset)]
        if read:
            stretch = f"{offsets_told(copy.start_offset, copy.end_offset)} of epoch {copy.epoch}"
            yield f"  from broker {copy.broker}, {copy.kind} {copy.path}: {stretch}"
            yield from (f"    {span.source} bytes {_range(span.start, span.end)}" for span in read)


def _whose(lost: Lost) -> str:
    if lost.newest_epoch is None:
        return ""
    if lost.oldest_epoch == lost.newest_epoch:
        return f", records of epoch {lost.newest_epoch}"
    since = f"{lost.oldest_epoch} to " if lost.oldest_epoch > 0 else ""
    return f", records of epoch{'s' if since else ''} {since}{lost.newest_epoch}{'' if since else ' or older'}"


def _write(
    target: Path, remembered: Remembered, lost: Lost, found: Sequence[LostBatch], markers: Mapping[str, Markers]
) -> Salvaged:
    """Into a file that must not be there yet, readable by its owner alone; there is never half of one."""
    try:
        with whole_file(target, replace=False, mode=0o600) as file:
            return _copy(file, remembered.dump, lost, found, markers)
    except OSError as error:
        raise ConfigError(f"--to: cannot write {target}: {error.strerror}") from error


def _copy(
    file: TextIO, dump: Path, lost: Lost, found: Sequence[LostBatch], markers: Mapping[str, Markers]
) -> Salvaged:
    """Epoch by epoch in the order of offsets, each record once."""
    refusals: list[Refusal] = []
    used: list[Span] = []
    held: dict[int, list[tuple[int, int]]] = {}
    control = 0
    fates: Counter[Fate | None] = Counter()
    for place in found:
        rows, refused = _contents(place, dump, lost)
        refusals.extend(refused)
        own = held.setdefault(place.epoch, [])
        due = own[-1][1] if own else 0
        new = [row for row in rows if row.offset >= due and place.start <= row.offset < place.end]
        for row in new:
            if not row.control:
                fate = fate_of(row.producer_id, row.offset, markers[place.copy]) if row.transactional else None
                fates[fate] += 1
                file.write(json.dumps(_line(row, lost, fate), separators=(",", ":")) + "\n")
        for row in new:
            _extend(own, row.offset)
        control += sum(row.control for row in new)
        used += [place.span] if new else []
    return Salvaged(
        records=fates.total(),
        control=control,
        aborted=fates["aborted"],
        undecided=fates["unknown"],
        spans=tuple(_joined(used)),
        refusals=tuple(refusals),
        missing=tuple(without(lost.start, lost.end, (run for own in held.values() for run in own))),
    )


def _contents(place: LostBatch, dump: Path, lost: Lost) -> tuple[tuple[RecordContent, ...], tuple[Refusal, ...]]:
    origin = Origin(source=place.span.source, topic=lost.topic, partition=lost.partition)
    path = locate(dump, place.span.source)
    if isinstance(path, FileFault):
        return (), (path.refusal(origin),)
    (entry,) = read_exactly(path, [(place.span.start, place.span.end)])
    parsed = decode_contents(entry, origin, place.span.start, limit=BATCH_LIMIT)
    return parsed.rows, parsed.refusals


def _line(row: RecordContent, lost: Lost, fate: Fate | None) -> Mapping[str, object]:
    return {
        "topic": lost.topic,
        "partition": lost.partition,
        "offset": row.offset,
        "timestamp": row.timestamp,
        "leaderEpoch": row.leader_epoch,
        "key": _text(row.key),
        "value": _text(row.value),
        "headers": [{"key": _text(key), "value": _text(value)} for key, value in row.headers],
        "producerId": row.producer_id,
        "producerEpoch": row.producer_epoch,
        "sequence": row.sequence,
        "transactional": row.transactional,
        "transaction": fate,
    }


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Neighbouring batches as one stretch of bytes."""
    held: Span | None = None
    for span in spans:
        if held is not None and held.source == span.source and held.end == span.start:
            held = Span(source=held.source, start=held.start, end=span.end)
        else:
            if held is not None:
                yield held
            held = span
    if held is not None:
        yield held


def _extend(runs: list[tuple[int, int]], offset: int) -> None:
    """Ascending offsets as runs, so that millions of them need no room."""
    if runs and runs[-1][1] == offset:
        runs[-1] = (runs[-1][0], offset + 1)
    else:
        runs.append((offset, offset + 1))


def _outcome(done: Salvaged, target: Path) -> Iterator[str]:
    written = counted(done.records, "record")
    yield f"Wrote {written} to {target}, one JSON object a line; key, value and headers are base64."
    yield from (f"  read from {span.source} bytes {_range(span.start, span.end)}" for span in done.spans)
    if done.control:
        yield f"  {counted(done.control, 'transaction marker')} left out: no producer sends them."
    if done.aborted:
        aborted = counted(done.aborted, "record")
        yield f"  {aborted} of aborted transactions: consumers with isolation.level=read_committed never saw them."
    if done.undecided:
        yield f"  {counted(done.undecided, 'record')} of transactions whose end is not in the copy."
    if done.missing:
        ranges = ", ".join(offsets_told(start, end) for start, end in done.missing[:20])
        yield f"  no record was found at {ranges}{' and more' if len(done.missing) > 20 else ''}"  # noqa: PLR2004
    for refusal in done.refusals:
        place = f"{refusal.source} bytes {_range(refusal.span_start, refusal.span_end)}"
        yield f"  not readable: {place}: expected {refusal.expected}, found {refusal.found}"


def _range(start: int, end: int) -> str:
    return f"[{start}, {end})"
