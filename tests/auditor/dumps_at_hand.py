"""Dumps that tests make for themselves: copies of samples that may be damaged, and the audit of them as a document."""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.audit import audit
from auditor.config import AuditConfig, merge
from auditor.report.json import document
from auditor.report.model import AuditReport
from tests.lab.sample_reports import report_on

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"


def copied(name: str, to: Path, *, logs: bool = False) -> Path:
    """A sample's dump, writable; its brokers' own logs, which take longest to read, only where they are asked for."""
    left_out = None if logs else shutil.ignore_patterns("logs")
    return Path(shutil.copytree(SAMPLES / name / "dump", to, ignore=left_out))


def widened(name: str, to: Path, partitions: int) -> Path:
    """A sample whose one partition befell several: its folder, its checkpoints' lines and its words in logs, again."""
    dump = copied(name, to, logs=True)
    (folder, *_) = sorted(dump.glob("broker-1/data/*-0"))
    topic = folder.name.removesuffix("-0")
    for data in dump.glob("broker-*/data"):
        for number in range(1, partitions):
            shutil.copytree(data / folder.name, data / f"{topic}-{number}")
        for checkpoint in data.glob("*-offset-checkpoint"):
            version, _, *lines = checkpoint.read_text(encoding="utf-8").splitlines() or ["0", "0"]
            own = [_of_partition(line, topic, number) for line in lines for number in range(partitions)]
            kept = list(dict.fromkeys(own))
            checkpoint.write_text("\n".join([version, str(len(kept)), *kept]) + "\n", encoding="utf-8")
    for log in dump.glob("broker-*/logs/*"):
        lines = log.read_text(encoding="utf-8").splitlines()
        told = [list(dict.fromkeys(_of_partition(line, topic, n) for n in range(partitions))) for line in lines]
        log.write_text("".join(f"{line}\n" for own in told for line in own), encoding="utf-8")
    return dump


def _of_partition(line: str, topic: str, number: int) -> str:
    """A line that speaks of partition 0, as it would of another."""
    if line.startswith(f"{topic} 0 "):
        return line.replace(f"{topic} 0 ", f"{topic} {number} ", 1)
    if f"topic={topic}," in line or f"{topic}-0" in line:
        return line.replace(f"{topic}-0", f"{topic}-{number}").replace("partition=0", f"partition={number}")
    return line


def rolled(folder: Path, bases: Sequence[int]) -> Path:
    """A partition's folder with its log in segments that begin at more offsets, where batches do."""
    segments: dict[int, bytes] = {}
    for log in sorted(folder.glob("*.log")):
        base, content, place = int(log.stem), log.read_bytes(), 0
        while place < len(content):
            offset, size = struct.unpack_from(">qi", content, place)
            base = max([base, *(each for each in bases if each <= offset)])
            segments[base] = segments.get(base, b"") + content[place : (place := place + 12 + size)]
        for index in folder.glob(f"{log.stem}.*index"):
            index.unlink()
    for base, content in segments.items():
        (folder / f"{base:020d}.log").write_bytes(content)
    return folder


def audited(dump: Path | Sequence[Path], **settings: object) -> AuditReport:
    """The local engine's report."""
    return audit(dump, merge(AuditConfig(engine="local"), settings))


def told(dump: Path | Sequence[Path], **settings: object) -> dict[str, Any]:
    """The same as the JSON document's values."""
    report: dict[str, Any] = document(audited(dump, **settings))
    return report


def told_of(sample: str) -> dict[str, Any]:
    """The same of a sample as it was recorded, which a run audits once; no test may change what reads it meanwhile."""
    report: dict[str, Any] = document(report_on(SAMPLES / sample))
    return report


def violations(report: dict[str, Any]) -> list[tuple[str, str, int, list[int], int, int]]:
    """What each violated finding says, without where its evidence lies."""
    keys = ("rule", "topic", "partition", "brokers", "startOffset", "endOffset")
    return [tuple(f[key] for key in keys) for f in report["findings"] if f["verdict"] == "violated"]


def digest(folder: Path) -> str:
    """Names, contents, sizes and times of change of everything in a folder."""
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        state.update(f"{path.relative_to(folder)} {status.st_mode} {status.st_size} {status.st_mtime_ns}\n".encode())
        state.update(path.read_bytes() if path.is_file() else b"")
    return state.hexdigest()
