"""Dumps that tests make for themselves: copies of samples that may be damaged, and the audit of them as a document."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditor.audit import audit
from auditor.config import AuditConfig, merge
from auditor.report.json import document
from auditor.report.model import AuditReport

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"


def copied(name: str, to: Path, *, logs: bool = False) -> Path:
    """A sample's dump, writable; its brokers' own logs, which take longest to read, only where they are asked for."""
    left_out = None if logs else shutil.ignore_patterns("logs")
    return Path(shutil.copytree(SAMPLES / name / "dump", to, ignore=left_out))


def audited(dump: Path | Sequence[Path], **settings: object) -> AuditReport:
    """The local engine's report."""
    return audit(dump, merge(AuditConfig(engine="local"), settings))


def told(dump: Path | Sequence[Path], **settings: object) -> dict[str, Any]:
    """The same as the JSON document's values."""
    report: dict[str, Any] = document(audited(dump, **settings))
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
