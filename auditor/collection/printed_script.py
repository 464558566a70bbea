"""The script as it is printed: plain POSIX shell, short enough to be read before it runs beside a broker."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).with_name("collect.sh")


def script_text() -> str:
    """The script."""
    return SCRIPT.read_text(encoding="utf-8")
