"""Help costs nothing: in a fresh checkout it is told without making an environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("audit", "--help")])
def test_help_of_a_fresh_checkout_installs_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("run.py", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    # Without modules of the site no installer is found: whoever would make an environment ends with an error.
    command = [sys.executable, "-I", "-S", str(tmp_path / "run.py"), *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "audit DUMP" in ended.stdout
    assert "run.py setup" in ended.stdout
    assert not (tmp_path / ".venv").exists()
