"""The bundle command: audit, take what the findings rest on, mask it, and try whether it still tells the same."""

from __future__ import annotations

import json
import shlex
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

import pyarrow as pa
from msgspec import Struct

from auditor.archives import at_hand
from auditor.audit import audit, prepare
from auditor.bundle.masked_files import BundledFile, Places, asked_lines, write_masked
from auditor.bundle.masked_logs import Place
from auditor.bundle.masking import new_mask
from auditor.bundle.wanted import BundleRequest, wanted
from auditor.config import AuditConfig, ConfigError
from auditor.dumps import DumpParts, gather
from auditor.engines.plan.selection import Selection
from auditor.exit_codes import ExitCode
from auditor.outlet import require_place
from auditor.progress_bar import watched
from auditor.report.model import AuditReport
from auditor.report.named_places import named_places
from auditor.report.plain import plain
from auditor.report.sheet import COLUMNS, Sheet, size
from auditor.stopping import listen
from auditor.streams import say
from auditor.version import tool_version
from auditor.whole_files import whole_draft
from parsers.files import found_at
from parsers.inventory import Inventory
from rules.evidence import METADATA_TOPIC
from rules.finding import Finding
from rules.words import counted

MANIFEST: Final = "tidemark-bundle.json"
FORMAT: Final = "tidemark-bundle/1"
PACKED_BY_ZSTD: Final = (".tar.zst", ".tzst")
ENDINGS: Final = (".tar.gz", ".tgz", *PACKED_BY_ZSTD)
MEANING: Final = (
    "Keys, values and headers of records are masked: their first 8 bytes are a keyed digest whose key was thrown "
    "away, the rest are zeros. Packed batches are unpacked and cut to the same length. Checksums "
    "that held hold again; those that failed fail by the same bits. Names of clients, of their libraries, of groups "
    "and of principals are masked too. So are lines of logs that no rule reads, lines of brokers' logs that speak of "
    "other partitions alone, and requests for these, unless the findings need these lines. Names of "
    "topics, hosts and brokers, offsets, epochs and times stand as they were."
)


class Held(Struct, frozen=True, kw_only=True):
    """The partitions whose replicas are in the bundle, and of how many in the dump."""

    partitions: tuple[tuple[str, int], ...]
    of: int

    @property
    def options(self) -> str:
        """By which an audit speaks of these partitions."""
        topics, numbers = (sorted(set(own)) for own in zip(*self.partitions, strict=True))
        return _options(Selection(topics=tuple(topics), partitions=tuple(numbers)))


class Proof(Struct, frozen=True, kw_only=True):
    """What an audit of the masked evidence finds again."""

    reproduced: tuple[Finding, ...]
    lost: tuple[Finding, ...]
    added: tuple[Finding, ...]
    """Findings that the dump does not have: the masking has made them."""


def run_bundle(request: BundleRequest, config: AuditConfig) -> int:
    """Write the bundle and say what it reproduces; the exit code."""
    with at_hand(request.dumps, quiet=config.quiet) as here:
        dump = gather(here.folders, here.archives)
        _require_target(request.target, dump, force=config.force)
        with watched(quiet=config.quiet) as progress:
            report = _whole(audit(here.folders, config, progress))
        chosen = wanted(report, request)
        inventory = prepare(dump, config).inventory

        def _tried(places: Places) -> tuple[tuple[BundledFile, ...], Proof]:
            taken = tuple(write_masked(dump.root, inventory, places, home, new_mask()))
            return taken, _proof(_whole(audit(home, config)), report, chosen, asked)

        home = Path(tempfile.mkdtemp(prefix="tidemark-"))
        try:
            asked = _all_of(frozenset((finding.topic, finding.partition) for finding in chosen), report)
            lines = asked_lines(dump.root, inventory, asked)
            taken, proof = _tried(Places(asked=asked, lines=lines))
            if proof.lost or proof.added:  # what a line says of one partition may bear on another
                shutil.rmtree(home)
                home.mkdir(mode=0o700)
                taken, proof = _tried(Places(asked=asked, lines=None))
            held = _held(asked, inventory)
            (home / MANIFEST).write_text(_manifest(taken, proof, held), encoding="utf-8")
            _pack(home, request.target, replace=config.force)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    outcome = _outcome(request, taken, proof, held, config.selection)
    say("".join(f"{plain(line)}\n" for line in outcome))
    return int(ExitCode.UNKNOWN if proof.lost else ExitCode.CLEAN)


def _whole(report: AuditReport) -> AuditReport:
    """A stop ends the command at any time: nothing is told before the bundle is tried."""
    listen()
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _require_target(target: Path, dump: DumpParts, *, force: bool) -> None:
    if not target.name.lower().endswith(ENDINGS):
        names = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise ConfigError(f"--output: {target}: expected a name that ends in {names}")
    if dump.holds(target):
        raise ConfigError(f"--output: {target} lies inside the dump, which is never written into")
    require_place(target, "--output")
    if found_at(target) == "a regular file" and not force:
        raise ConfigError(f"--output: {target} is there already: give another name, or --force to replace it")


def _all_of(places: frozenset[Place], report: AuditReport) -> frozenset[Place]:
    """The partitions; of findings about a topic or the whole dump all that they may mean."""
    every = {(placed.topic, placed.partition) for placed in report.replicas}
    return frozenset(
        (topic, number)
        for topic, number in every | places
        if any(asked in (None, topic) and which in (None, number) for asked, which in places)
    )


def _held(asked: frozenset[Place], inventory: Inventory) -> Held:
    """Metadata logs are in every bundle, and no partition that anybody asks about."""
    here = (replica.origin for replica in inventory.replicas if replica.origin.topic != METADATA_TOPIC)
    every = {(origin.topic, origin.partition) for origin in here}
    named = ((topic, number) for topic, number in asked & every if topic is not None and number is not None)
    return Held(partitions=tuple(sorted(named)), of=len(every))


def _options(selection: Selection) -> str:
    return "".join(f" --{name.replace('_', '-')} {shlex.quote(value)}" for name, value in selection.given())


def _proof(again: AuditReport, report: AuditReport, chosen: Sequence[Finding], asked: frozenset[Place]) -> Proof:
    """By fingerprints, as reports are compared; what logs tell of partitions that it does not hold is not its own."""
    found = {f.fingerprint for f in again.findings if f.verdict == "violated"}
    own = [f for f in again.findings if f.topic is None or (f.topic, f.partition) in asked]
    before = {f.fingerprint for f in report.findings}
    return Proof(
        reproduced=tuple(f for f in chosen if f.fingerprint in found),
        lost=tuple(f for f in chosen if f.fingerprint not in found),
        added=tuple(f for f in own if f.verdict == "violated" and f.fingerprint not in before),
    )


def _manifest(taken: Sequence[BundledFile], proof: Proof, held: Held) -> str:
    document: dict[str, object] = {
        "format": FORMAT,
        "tool": {"name": "tidemark", "version": tool_version()},
        "description": MEANING,
        "partitions": [{"topic": topic, "partition": number} for topic, number in held.partitions],
        "ofPartitions": held.of,
        "reproduced": [_finding(finding) for finding in proof.reproduced],
        "notReproduced": [_finding(finding) for finding in proof.lost],
        "madeByMasking": [_finding(finding) for finding in proof.added],
        "files": [
            {
                "path": each.source,
                "kind": each.kind,
                "how": each.how,
                "checksumsHeld": each.checksums_held,
                "checksumsFailed": [list(span) for span in each.checksums_failed],
            }
            for each in taken
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _finding(finding: Finding) -> dict[str, object]:
    return {"id": finding.id, "fingerprint": finding.fingerprint, "rule": finding.rule}


def _pack(folder: Path, target: Path, *, replace: bool) -> None:
    """Everything in a fixed order, of nobody and of no time."""
    try:
        with whole_draft(target, replace=replace) as draft, _archive(draft, target.name.lower()) as packed:
            for path in sorted(folder.rglob("*")):
                packed.add(path, arcname=path.relative_to(folder).as_posix(), recursive=False, filter=_of_nobody)
    except OSError as error:
        raise ConfigError(f"--output: cannot write {target}: {error.strerror or error}") from error


@contextmanager
def _archive(draft: Path, name: str) -> Iterator[tarfile.TarFile]:
    """The empty archive, packed as its name promises."""
    if not name.endswith(PACKED_BY_ZSTD):
        with tarfile.open(draft, "x:gz", compresslevel=6) as packed:
            yield packed
        return
    with (
        draft.open("xb") as file,
        pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") as stream,
        tarfile.open(fileobj=cast("IO[bytes]", stream), mode="w|") as packed,
    ):
        yield packed


def _of_nobody(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    info.mode = 0o755 if info.isdir() else 0o644
    return info


def _outcome(
    request: BundleRequest, taken: Sequence[BundledFile], proof: Proof, held: Held, selection: Selection
) -> Iterator[str]:
    files, target = [each for each in taken if not each.how.startswith("left out")], request.target
    yield f"{target}: {counted(len(files), 'file')}, {size(target.stat().st_size)}, of {request.whose}."
    yield from Sheet(columns=COLUMNS, colour=False).wrapped(MEANING)
    yield from _partial(held)
    yield f"tidemark audit {target}{_options(selection)} finds again: {_named(proof.reproduced)}."
    if proof.lost:
        yield f"It does not find again: {_named(proof.lost)}. Masked evidence cannot show them."
    if proof.added:
        yield f"It finds what the dump does not show: {_named(proof.added)}. The masking has made them."
    yield f"Left out: {counted(len(taken) - len(files), 'file')}. {MANIFEST} in the bundle names them."


def _partial(held: Held) -> Iterator[str]:
    """Which partitions an audit of the bundle can judge, where it is told of more."""
    if 0 < len(held.partitions) < held.of:
        named = named_places([(None, *place) for place in held.partitions])
        yield f"It holds {len(held.partitions)} of {counted(held.of, 'partition')}: {named}."
        yield f"Logs and metadata in it name others too; with{held.options} an audit of it leaves those out."


def _named(findings: Sequence[Finding]) -> str:
    return ", ".join(f"{finding.rule} {finding.id}" for finding in findings) or "nothing"
