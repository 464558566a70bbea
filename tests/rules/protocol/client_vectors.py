"""What the Java client answered: cases and answers as `tests/referee/java/ClientPlacement.java` prints them."""

from __future__ import annotations

from pathlib import Path

VECTORS = Path(__file__).with_suffix(".txt")
RELEASE = "3.9.1"


def vectors(kind: str = "") -> list[tuple[str, str]]:
    """Cases of a kind (all without one), each with the client's answer."""
    lines = VECTORS.read_text(encoding="utf-8").splitlines()
    pairs = [(case, answer) for case, _, answer in (line.partition("\t") for line in lines)]
    return [(case, answer) for case, answer in pairs if case.startswith(kind)]
