"""The last audit, remembered outside the dump, so that `tidemark show F-…` needs no further words."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from auditor.config import ConfigError
from auditor.java import cache_dir

REPORT_LIMIT = 512 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A report as plain values, and the dump that it is about."""

    report: dict[str, object]
    dump: Path


def remember(report_text: str, dump: Path) -> None:
    """Keep the report as the last one; a cache that cannot be written is no reason to fail an audit."""
    with suppress(OSError):
        folder = cache_dir()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = json.dumps({"dump": str(dump.resolve()), "report": json.loads(report_text)})
        handle, name = tempfile.mkstemp(dir=folder, prefix="last-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(kept)
        Path(name).replace(folder / "last-report.json")


def recall(report: Path | None, dump: Path | None) -> Remembered:
    """The given report and dump, or those of the last audit."""
    if report is not None:
        content = _load(report)
        if dump is None:
            message = f"--report {report} does not say where its dump lies: give --dump as well"
            raise ConfigError(message)
        return Remembered(report=content, dump=dump)
    last = cache_dir() / "last-report.json"
    if not last.is_file():
        message = "no audit is remembered on this machine: give --report REPORT.json and --dump DUMP"
        raise ConfigError(message)
    kept = _load(last)
    inner = kept.get("report")
    if not isinstance(inner, dict):
        message = f"{last}: expected a remembered report; run the audit again"
        raise ConfigError(message)
    return Remembered(report=inner, dump=dump or Path(str(kept.get("dump"))))


def _load(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > REPORT_LIMIT:
            message = f"{path}: expected a report of at most {REPORT_LIMIT} bytes"
            raise ConfigError(message)
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path}: cannot read the report: {error}"
        raise ConfigError(message) from error
    if not isinstance(content, dict):
        message = f"{path}: expected a JSON report of an audit"
        raise ConfigError(message)
    return content
