"""What is kept of compiled code is found again, and not where anything that is compiled into it reads otherwise."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from numba import types

from parsers.machine_code import keep_compiled

TEXT = "def added(number):\n    return number + {}\n"


def entry(folder: Path, beside: str) -> tuple[Any, Any]:
    folder.mkdir()
    (folder / "machine.py").write_text(TEXT.format(1), encoding="utf-8")
    (folder / "tables.py").write_text(beside, encoding="utf-8")
    read = run_path(str(folder / "machine.py"))
    number: Any = types.int64
    return read["added"], keep_compiled(read["added"], number(number), ("machine*.py", "tables.py"))


@pytest.mark.slow
def test_an_entry_is_named_after_all_that_is_compiled_into_it(tmp_path: Path) -> None:
    beside = {"a": "X = 1", "b": "X = 1", "c": "X = 2"}
    named, found = zip(*(entry(tmp_path / name, text) for name, text in beside.items()), strict=True)
    assert [one(41) for one in found] == [42, 42, 42]
    first, again, other = (function.__qualname__ for function in named)
    assert first == again != other
