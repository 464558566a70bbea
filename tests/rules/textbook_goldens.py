"""The golden timeline of every textbook script: what `simulate` prints of it, and of `--compare`.

`python -m tests.rules.textbook_goldens` writes them anew; what they must say is asserted by hand in test_textbook.
"""

from __future__ import annotations

from pathlib import Path

from auditor.simulation.run_simulate import simulate

TEXTBOOK = Path(__file__).parents[2] / "sample_logs" / "textbook"


def scripts() -> list[Path]:
    """Every script of the textbook."""
    return sorted(TEXTBOOK.glob("*.yaml"))


def golden_of(script: Path) -> Path:
    """Where a script's golden timeline stands."""
    return script.with_suffix(".golden.txt")


def text_of(script: Path) -> str:
    """What is printed of a script: its own run, then the generations side by side."""
    return simulate(script) + "\n" + simulate(script, side_by_side=True)


def main() -> None:
    """Write every golden timeline."""
    for script in scripts():
        golden_of(script).write_text(text_of(script), encoding="utf-8")


if __name__ == "__main__":
    main()
