"""Recordings of which parts are left out, each judged beside the whole: what less evidence makes of a verdict."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from auditor.audit import prepare
from auditor.conclude import build_report
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import gather
from auditor.engines import local
from auditor.engines.plan.units import ReadUnit
from auditor.engines.progress import Progress
from auditor.engines.reading import UnitReader
from auditor.engines.settle import JUDGED
from auditor.report.model import AuditReport, Gate
from rules.evidence import Level
from rules.finding import Finding, Severity
from rules.loss.incurred import Loss
from rules.narrow.facts import Fact
from rules.protocol.offsets import without
from tests.ablations.leave_out import Ablation, sizes_under
from tests.lab.views import contradictions, of

CONFIDENCES: Final = ("possible", "likely", "certain")
SAMPLES: Final = Path(__file__).resolve().parents[2] / "sample_logs"


@dataclass(frozen=True, slots=True)
class Accusation:
    """A finding of weight, as far as two reports may be compared in it."""

    rule: str
    place: str
    severity: int
    confidence: int
    brokers: tuple[int, ...]
    start_offset: int | None
    end_offset: int | None
    message: str = field(compare=False)


def accusations(report: AuditReport) -> list[Accusation]:
    """What a report holds against replicas; what is information alone accuses nobody."""
    return [_accusation(f) for f in report.findings if f.verdict == "violated" and f.severity > Severity.INFO]


def _accusation(finding: Finding) -> Accusation:
    return Accusation(
        rule=finding.rule,
        place=f"{finding.topic}-{finding.partition}",
        severity=finding.severity,
        confidence=CONFIDENCES.index(finding.confidence),
        brokers=finding.brokers,
        start_offset=finding.start_offset,
        end_offset=finding.end_offset,
        message=finding.message,
    )


class CachingReader(UnitReader):
    """Reads a stretch of bytes once, however many dumps hold it."""

    __slots__ = ("_facts", "_told")

    def __init__(self, known: dict[object, Sequence[Fact]]) -> None:
        super().__init__()
        self._facts = known

    def read(self, unit: ReadUnit, level: Level) -> Sequence[Fact]:
        """All facts that a unit gives."""
        key = unit, level, tuple(_identity(unit, piece.source) for piece in (*unit.pieces, *unit.segments))
        if unit.kind == "request-log" and not _whole(unit):
            return super().read(unit, level)
        if key not in self._facts:
            self._facts[key] = super().read(unit, level)
        return self._facts[key]


def _whole(unit: ReadUnit) -> bool:
    return unit.ends_chain and unit.chain == unit.pieces[0].source


def _identity(unit: ReadUnit, source: str) -> tuple[int, int]:
    place = Path(unit.dump, source)
    if not place.exists():
        return 0, 0
    found = place.stat()
    return found.st_ino, found.st_mtime_ns


class Bench:
    """One recording: its files, the report on all of it, and a place where parts of it are laid out."""

    def __init__(
        self, name: str, room: Path, known: dict[object, Sequence[Fact]], recordings: Path = SAMPLES
    ) -> None:
        self.name = name
        self._known = known
        self._base, self._case = room / name / "whole", room / name / "case"
        shutil.copytree(recordings / name / "dump", self._base)
        self.files = sizes_under(self._base)
        self.whole = self._report(self._base)
        self.accused = accusations(self.whole)

    def judged(self, ablation: Ablation) -> AuditReport | None:
        """The report on what is left; None where nothing is left that could be audited."""
        shutil.rmtree(self._case, ignore_errors=True)
        kept = dict(ablation.cuts)
        made: set[Path] = set()
        for source in self.files:
            if source in ablation.gone:
                continue
            target = self._case / source
            if target.parent not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(target.parent)
            if source in kept:
                target.write_bytes(pieces((self._base / source).read_bytes(), kept[source]))
            else:
                target.hardlink_to(self._base / source)
        try:
            return self._report(self._case)
        except ConfigError:
            return None

    def _report(self, root: Path) -> AuditReport:
        config = AuditConfig(engine="local")
        prepared = prepare(gather(root), config)
        reader = CachingReader(self._known)
        verdicts = [*local.run(prepared.units, prepared.surroundings, Progress(), config.selection, reader)]
        return build_report(prepared.inventory, prepared.units, verdicts, config, "x", interrupted=False)


def pieces(data: bytes, kept: Sequence[tuple[int, int]]) -> bytes:
    """What is kept of a log; a file that is missing amid others takes whole lines, one that is cut short may not."""
    left = [data[start:end] for start, end in kept]
    left[1:] = [piece.partition(b"\n")[2] for piece in left[1:]]
    left[:-1] = [piece[: piece.rfind(b"\n") + 1] for piece in left[:-1]]
    return b"".join(left)


def broken(bench: Bench, report: AuditReport) -> Iterator[str]:
    """What a report on less evidence says that the law forbids."""
    for accusation in accusations(report):
        if not any(_covers(known, accusation) for known in bench.accused):
            brokers = ",".join(map(str, accusation.brokers))
            severity, confidence = Severity(accusation.severity).name, CONFIDENCES[accusation.confidence]
            where = f"{accusation.rule} {accusation.place} of {brokers}, {confidence}"
            yield f"accuses {severity} {where}: {accusation.message}"
    yield from _billed_more(bench, report)
    scope, whole = report.coverage.scope, bench.whole.coverage.scope
    absent = {*scope.absent} - {*whole.absent} or (scope.before_logs and not whole.before_logs)
    if report.verdict == "clean" and bench.whole.verdict != "clean" and not (absent and scope.words):
        yield f"clean where the whole is {bench.whole.verdict}"
    for line in report.coverage.undecided:
        if "failed: " in line.reason:
            yield f"fails {line.rule}: {line.reason}"
    yield from (f"gives up {one.path}: {one.found}" for one in report.refusals if one.expected == JUDGED)
    yield from (f"contradicts itself: {said}" for said in contradictions(report))


def _of_one_epoch(one: Loss, other: Loss) -> bool:
    """Whether the lost records may be of one epoch, by the bills' own words."""
    return one.epoch <= other.newest and other.epoch <= one.newest


def _billed_more(bench: Bench, report: AuditReport) -> Iterator[str]:
    """What a bill says that is lost for good and the whole one does not; a cluster's id may be left out."""
    whole = {where[1:]: losses for where, losses in of(bench.whole).items()}
    for where, losses in of(report).items():
        for loss in (each for each in losses if each.matters and not each.restored and not each.unread):
            known = [each for each in whole.get(where[1:], ()) if _of_one_epoch(loss, each) and not each.restored]
            ranges = [(each.start_offset, each.end_offset) for each in known]
            if more := [*without(loss.start_offset, loss.end_offset, ranges)]:
                yield f"bills {more} of epoch {loss.epoch} in {where}"


def freed(bench: Bench, report: AuditReport) -> Iterator[str]:
    """What may be done on less evidence, and must not on the whole."""
    barred = {(place, gate.action): gate for place, gate in _gates(bench.whole) if gate.going == "no-go"}
    for place, gate in _gates(report):
        known = barred.get((place, gate.action))
        if known is not None and gate.going == "go" and "This holds unless" not in gate.because:
            yield f"frees {place}: {gate.action} {gate.because} The whole: {known.because}"


def _gates(report: AuditReport) -> Iterator[tuple[str, Gate]]:
    return ((f"{told.topic}-{told.partition}", gate) for told in report.advice for gate in told.advice.gates)


def _covers(known: Accusation, accusation: Accusation) -> bool:
    """Whether the whole says as much: of the same records, of no other broker, as grave and as sure."""
    same = (known.rule, known.place) == (accusation.rule, accusation.place) and _overlap(known, accusation)
    weight = accusation.severity <= known.severity and accusation.confidence <= known.confidence
    return same and weight and set(accusation.brokers) <= set(known.brokers)


def _overlap(known: Accusation, accusation: Accusation) -> bool:
    """Whether two are of the same records, as far as both name some."""
    ends = known.start_offset, known.end_offset, accusation.start_offset, accusation.end_offset
    if None in ends:
        return True
    return max(known.start_offset or 0, accusation.start_offset or 0) <= min(
        known.end_offset or 0, accusation.end_offset or 0
    )


