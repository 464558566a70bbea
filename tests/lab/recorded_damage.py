"""What a recording has that no sound cluster leaves, by the word of its truth: damaged files, and kinds left out."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

SAMPLES: Final = Path(__file__).resolve().parents[2] / "sample_logs"
CHECKSUM: Final = "checksum"
"""A batch whose bytes do not give its checksum: readers tell it of the batch, and refuse no bytes for it."""


@cache
def _truth(case: str) -> dict[str, Any]:
    path = SAMPLES / case / "truth.json"
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return told


def damaged_files(case: str) -> dict[str, list[str]]:
    """The files of a dump that were damaged on purpose, each with what readers must say of it, in order of kinds."""
    told: dict[str, list[str]] = _truth(case).get("damagedFiles", {})
    return {source: sorted(kinds) for source, kinds in told.items()}


def damage_of(path: Path) -> list[str]:
    """What readers must say of a recorded file: nothing, unless it was damaged on purpose."""
    case, _, *source = path.relative_to(SAMPLES).parts
    return damaged_files(case).get("/".join(source), [])


def left_out(case: str) -> frozenset[str]:
    """Kinds of files that were left out of a dump to keep it small."""
    return frozenset(_truth(case).get("leftOut", ()))
