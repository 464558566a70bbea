"""The version that reports and `--version` state."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def tool_version() -> str:
    """The version of the distribution: as it is installed, else as its source states it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tidemark")
    except PackageNotFoundError:
        return _stated(Path(__file__).resolve().parents[1] / "pyproject.toml")


def _stated(project: Path) -> str:
    import tomllib

    try:
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"
