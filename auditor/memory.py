"""The last audit, remembered outside the dump, so that `tidemark show F-…` needs no further words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from auditor.archives import at_hand, is_readable_archive
from auditor.config import ConfigError
from auditor.config.small_files import text_of
from auditor.dumps import DumpParts, gather
from auditor.java import cache_dir
from auditor.whole_files import whole_file
from parsers.files import locate

REPORT_LIMIT = 512 << 20
REMEMBERED = "last-report.json"
OTHER_AUDIT = "--report REPORT.json and --dump DUMP"
"""What leads to another audit's findings than the last one's."""
Stamp = tuple[int, int]
"""Size and time of change of a file."""


class Remembered(Struct, frozen=True, kw_only=True):
    """A report as plain values, and the dump that it is about."""

    report: dict[str, object]
    dump: Path
    archives: tuple[Path, ...] = ()
    """What the dump is to be unpacked from, where it is no folder."""
    stamps: Mapping[str, Stamp]
    """What the evidence's files were like when the audit ended; empty where that is not known."""
    last: bool = True
    """Whether it is of the last audit, which nobody named."""

    @property
    def audit(self) -> str:
        """Of which dump the report is, in words."""
        return f"the audit of {', '.join(map(str, self.archives or (self.dump,)))}"

    @property
    def instead(self) -> str:
        """How to ask about another audit, where the last one was taken for want of a word."""
        return f"; of another audit with {OTHER_AUDIT}" if self.last else ""

    @property
    def moved(self) -> str:
        """How to say where the dump is, where it is no more at its place."""
        gone = next((place for place in self.archives or (self.dump,) if not place.exists()), None)
        return "" if gone is None else f"{gone} is not there: say with --dump DUMP where the dump is now"


def remember(report: Mapping[str, object], dump: DumpParts) -> None:
    """Keep the report as the last one; a cache that cannot be written is no reason to fail an audit."""
    folder = cache_dir()
    if dump.holds(folder):
        return
    with suppress(OSError):  # a full disk, a cache of somebody else
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stamps = {path: stamp_of(dump.root, path) for path in sorted(set(_evidence(report)))}
        archives = [str(archive.resolve()) for archive in dump.archives]
        place = {"dump": str(dump.root.resolve()), "archives": archives}
        kept = json.dumps({**place, "stamps": stamps, "report": report})
        with whole_file(folder / REMEMBERED, replace=True, mode=0o600) as file:
            file.write(kept)


def stamp_of(root: Path, path: str) -> Stamp | None:
    """Size and time of change of a file of the dump; null where it cannot be had."""
    place = locate(root, path)
    try:
        status = place.stat() if isinstance(place, Path) else None
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if status else None


def _evidence(report: Mapping[str, object]) -> Iterator[str]:
    findings = report.get("findings")
    for finding in findings if isinstance(findings, list) else ():
        for exhibit in finding.get("evidence", ()):
            yield str(exhibit["path"])


def recall(report: Path | None, dump: Path | None) -> Remembered:
    """The given report and dump, or those of the last audit."""
    if report is not None:
        content = _load(report)
        if dump is None:
            raise ConfigError(f"--report {report} does not say where its dump lies: give --dump as well")
        return Remembered(report=content, dump=dump, archives=_archives_of(dump), stamps={}, last=False)
    last = cache_dir() / REMEMBERED
    if not last.is_file():
        raise ConfigError(f"no audit is remembered on this machine: run tidemark audit first, or give {OTHER_AUDIT}")
    kept = _load(last)
    inner, stamps = kept.get("report"), kept.get("stamps")
    if not isinstance(inner, dict) or not isinstance(stamps, dict):
        raise ConfigError(f"{last}: expected a remembered report; run the audit again, or give {OTHER_AUDIT}")
    # A copy of the dump has other times than the dump that was audited.
    known = {path: (int(stamp[0]), int(stamp[1])) for path, stamp in stamps.items() if stamp} if dump is None else {}
    place, packed = dump or Path(str(kept.get("dump"))), kept.get("archives")
    archives = tuple(map(Path, packed)) if dump is None and isinstance(packed, list) else _archives_of(place)
    return Remembered(report=inner, dump=place, archives=archives, stamps=known)


def _archives_of(dump: Path) -> tuple[Path, ...]:
    return (dump,) if is_readable_archive(dump.name) else ()


@contextmanager
def reopened(remembered: Remembered) -> Iterator[Remembered]:
    """The same with its dump as a folder: archives are unpacked again for as long as they are needed."""
    if not remembered.archives:
        yield remembered
        return
    if remembered.moved:
        raise ConfigError(remembered.moved)
    with at_hand(remembered.archives) as here:
        yield replace(remembered, dump=gather(here.folders).root)


def _load(path: Path) -> dict[str, object]:
    try:
        content = json.loads(text_of(path, "the report", REPORT_LIMIT))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot read the report: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a JSON report of an audit")
    return content
